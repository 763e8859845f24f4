import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import type { Command } from "commander";
import { BenchError } from "../bench-error.ts";
import type { TlsSettings } from "../load/connection.ts";
import type { Terminal } from "../terminal.ts";
import { envValue, parseSwitch } from "./env-value.ts";

export interface TlsFlags {
  readonly ssl?: boolean;
  readonly sslCa?: string;
  readonly sslCert?: string;
  readonly sslKey?: string;
}

export function addTlsFlags(command: Command): Command {
  return command
    .option("--ssl", "connect to the brokers by TLS (env KAFKA_SSL=true)")
    .option("--no-ssl", "connect without TLS, whatever the environment says")
    .option("--ssl-ca <file>", "PEM: the authorities that sign the brokers' certificates (env KAFKA_SSL_CA, a path or PEM)")
    .option("--ssl-cert <file>", "PEM: the certificate to show to the brokers (env KAFKA_SSL_CERT, a path or PEM)")
    .option("--ssl-key <file>", "PEM: the key of that certificate (env KAFKA_SSL_KEY, a path or PEM)");
}

/** One PEM, and the flag or variable that gave it. Errors print that name, never the content. */
interface GivenPem {
  readonly label: string;
  readonly isFlag: boolean;
  readonly text: string;
}

const pemParts = [
  { part: "ca", flag: "sslCa", label: "--ssl-ca", env: "KAFKA_SSL_CA", begins: /-----BEGIN [A-Z0-9 ]*CERTIFICATE-----/ },
  { part: "cert", flag: "sslCert", label: "--ssl-cert", env: "KAFKA_SSL_CERT", begins: /-----BEGIN [A-Z0-9 ]*CERTIFICATE-----/ },
  { part: "key", flag: "sslKey", label: "--ssl-key", env: "KAFKA_SSL_KEY", begins: /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/ },
] as const;

/** How to speak TLS, or undefined for a plain connection. A file alone says that TLS is meant. */
export function resolveTls(flags: TlsFlags, env: Terminal["env"]): TlsSettings | undefined {
  const wanted = switchOf(flags, env);
  const given = new Map<"ca" | "cert" | "key", GivenPem>();
  for (const pem of pemParts) {
    const found = givenPem(flags[pem.flag], pem.label, env[pem.env], pem.env);
    if (found !== undefined && !(wanted?.on === false && wanted.isFlag && !found.isFlag)) {
      given.set(pem.part, found);
    }
  }
  const [first] = given.values();
  if (wanted?.on === false && first !== undefined) {
    throw new BenchError("usage", `${wanted.label} and ${first.label} contradict each other: a plain connection uses no certificate.`);
  }
  if (wanted?.on !== true && first === undefined) {
    return undefined;
  }
  return checked(given);
}

/** Certificate and key belong together, and OpenSSL must be able to use all of it: found out before anything is connected. */
function checked(given: ReadonlyMap<"ca" | "cert" | "key", GivenPem>): TlsSettings {
  const cert = given.get("cert");
  const key = given.get("key");
  const alone = cert === undefined ? key : key === undefined ? cert : undefined;
  if (alone !== undefined) {
    const other = alone === key ? "--ssl-cert (KAFKA_SSL_CERT)" : "--ssl-key (KAFKA_SSL_KEY)";
    throw new BenchError("usage", `${alone.label} goes with ${other}: a certificate and its key are shown together.`);
  }
  const settings: Record<string, string> = {};
  for (const { part, begins } of pemParts) {
    const pem = given.get(part);
    if (pem !== undefined) {
      settings[part] = readPem(pem, begins);
    }
  }
  checkUsable(settings, [...given.values()].map(({ label }) => label).join(", "));
  return settings;
}

function checkUsable(settings: TlsSettings, labels: string): void {
  if (settings.key !== undefined && /ENCRYPTED/.test(settings.key)) {
    throw new BenchError("usage", `the key of ${labels} is encrypted, and there is no way to give its passphrase: decrypt it first.`);
  }
  try {
    createSecureContext(settings);
  } catch (error) {
    const { reason } = error as { readonly reason?: string };
    throw new BenchError("usage", `${labels} cannot be used: ${reason ?? "OpenSSL cannot read them"}.`);
  }
}

function givenPem(flag: string | undefined, label: string, inEnv: string | undefined, env: string): GivenPem | undefined {
  if (flag !== undefined) {
    return { label, isFlag: true, text: flag };
  }
  return inEnv === undefined || inEnv === "" ? undefined : { label: env, isFlag: false, text: inEnv };
}

function switchOf(
  flags: TlsFlags,
  env: Terminal["env"],
): { readonly on: boolean; readonly isFlag: boolean; readonly label: string } | undefined {
  if (flags.ssl !== undefined) {
    return { on: flags.ssl, isFlag: true, label: flags.ssl ? "--ssl" : "--no-ssl" };
  }
  const on = envValue("KAFKA_SSL", env, parseSwitch);
  return on === undefined ? undefined : { on, isFlag: false, label: `KAFKA_SSL=${on}` };
}

function readPem({ label, isFlag, text }: GivenPem, begins: RegExp): string {
  const isText = text.includes("-----BEGIN");
  if (isText && isFlag) {
    throw new BenchError("usage", `${label} takes the name of a file: a flag stands in the process list, where others can read it.`);
  }
  // Where a variable cannot hold line breaks, people write them as \n.
  const pem = isText ? text.replaceAll("\\n", "\n") : readPemFile(label, text);
  if (!begins.test(pem)) {
    const what = label.endsWith("key") || label.endsWith("KEY") ? "a private key" : "a certificate";
    throw new BenchError("usage", `${label} does not hold ${what} as PEM (-----BEGIN ...-----).`);
  }
  return pem;
}

/** What was meant as PEM and is not would be taken for a path: so no path is printed, nor the error that repeats it. */
function readPemFile(label: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new BenchError("usage", `${label} names a file that cannot be read (${(error as NodeJS.ErrnoException).code ?? "no path"}).`);
  }
}
