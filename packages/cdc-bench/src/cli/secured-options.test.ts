import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, describe, expect, test } from "vitest";
import { exitCodes } from "../exit-codes.ts";
import { runProgram } from "./program.ts";
import { resolveCluster } from "./resolve-source.ts";
import type { SourceFlags } from "./source-options.ts";

const folder = mkdtempSync(join(tmpdir(), "cdc-bench-options-"));
const key = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" }) as string;
const cert = "-----BEGIN CERTIFICATE-----\ncanary\n-----END CERTIFICATE-----\n";
const keyFile = join(folder, "key.pem");
const certFile = join(folder, "cert.pem");
writeFileSync(keyFile, key);
writeFileSync(certFile, cert);

afterAll(() => {
  rmSync(folder, { recursive: true });
});

const brokers = ["a:1"];
const login = { saslMechanism: "plain", saslUsername: "u" } as const;
const password = { KAFKA_SASL_PASSWORD: "canary" };

describe("the connection to a secured cluster", () => {
  test("is plain if neither a flag nor the environment says otherwise", () => {
    expect(resolveCluster({ brokers }, {}).connection).toEqual({ brokers });
    expect(resolveCluster({ brokers }, { KAFKA_SSL: "false", KAFKA_SSL_CA: "" }).connection).toEqual({ brokers });
  });

  test("is TLS by flag and by environment, and a flag wins over the environment", () => {
    expect(resolveCluster({ brokers, ssl: true }, {}).connection).toEqual({ brokers, tls: {} });
    expect(resolveCluster({ brokers }, { KAFKA_SSL: "TRUE" }).connection).toEqual({ brokers, tls: {} });
    expect(resolveCluster({ brokers, ssl: true }, { KAFKA_SSL: "0" }).connection).toEqual({ brokers, tls: {} });
    expect(resolveCluster({ brokers, ssl: false }, { KAFKA_SSL: "true", KAFKA_SSL_CA: "/nowhere" }).connection).toEqual({ brokers });
  });

  test("logs in as flags and environment say together; only the environment holds the password", () => {
    const expected = { brokers, login: { mechanism: "plain", username: "u", password: "canary" } };
    expect(resolveCluster({ brokers, ...login }, password).connection).toEqual(expected);
    const env = { KAFKA_BROKERS: "a:1", KAFKA_SASL_MECHANISM: "PLAIN", KAFKA_SASL_USERNAME: "u", ...password };
    expect(resolveCluster({}, env).connection).toEqual(expected);
    const other = { ...env, KAFKA_SASL_MECHANISM: "SCRAM-SHA-512", KAFKA_SASL_USERNAME: "v" };
    expect(resolveCluster({ ...login }, other).connection).toEqual(expected);
  });

  test.each<[string, SourceFlags, Readonly<Record<string, string>>, object]>([
    ["the brokers", {}, { KAFKA_BOOTSTRAP_SERVERS: "a:1,b:2" }, { brokers: ["a:1", "b:2"] }],
    ["a protocol with TLS", { brokers }, { KAFKA_SECURITY_PROTOCOL: "SSL" }, { brokers, tls: {} }],
    [
      "a protocol with TLS and a login",
      {},
      { KAFKA_BROKERS: "a:1", KAFKA_SECURITY_PROTOCOL: "SASL_SSL", KAFKA_SASL_MECHANISM: "PLAIN", KAFKA_SASL_USERNAME: "u", ...password },
      { brokers, tls: {}, login: { mechanism: "plain", username: "u", password: "canary" } },
    ],
    [
      "a login in Java's form, and a file of authorities",
      { brokers },
      {
        KAFKA_SECURITY_PROTOCOL: "SASL_SSL",
        KAFKA_SASL_MECHANISM: "SCRAM-SHA-512",
        KAFKA_SASL_JAAS_CONFIG: 'org.apache.kafka.common.security.scram.ScramLoginModule required username="u" password="canary";',
      },
      { brokers, tls: {}, login: { mechanism: "scram-sha-512", username: "u", password: "canary" } },
    ],
    ["a flag that counts more", { brokers, ssl: false }, { KAFKA_SECURITY_PROTOCOL: "SSL", KAFKA_BOOTSTRAP_SERVERS: "b:2" }, { brokers }],
    [
      "a login of flags",
      { brokers, ...login },
      { KAFKA_SECURITY_PROTOCOL: "SASL_SSL", ...password },
      { brokers, tls: {}, login: { mechanism: "plain", username: "u", password: "canary" } },
    ],
    ["none without brokers", {}, { KAFKA_SECURITY_PROTOCOL: "SASL_SSL" }, {}],
  ])("reads the variables of services, in the names of Java's clients: %s", (_case, flags, env, expected) => {
    const { connection } = resolveCluster(flags, env);
    expect(connection ?? {}).toEqual(expected);
  });

  test("takes the registry's credentials from the environment", () => {
    const registry = { brokers, registry: "http://r" };
    const basic = { SCHEMA_REGISTRY_USERNAME: "u", SCHEMA_REGISTRY_PASSWORD: "p" };
    expect(resolveCluster(registry, basic).registry).toEqual({ url: "http://r", auth: { basic: { username: "u", password: "p" } } });
    const token = { SCHEMA_REGISTRY_URL: "http://e", SCHEMA_REGISTRY_TOKEN: "t" };
    expect(resolveCluster({ brokers }, token).registry).toEqual({ url: "http://e", auth: { bearer: "t" } });
    expect(resolveCluster({ brokers }, { SCHEMA_REGISTRY_TOKEN: "t" }).registry).toBeUndefined();
    const info = { SCHEMA_REGISTRY_BASIC_AUTH_USER_INFO: "u:p:w" };
    expect(resolveCluster(registry, info).registry).toEqual({ url: "http://r", auth: { basic: { username: "u", password: "p:w" } } });
    const javas = { SCHEMA_REGISTRY_BEARER_AUTH_TOKEN: "t" };
    expect(resolveCluster(registry, javas).registry).toEqual({ url: "http://r", auth: { bearer: "t" } });
  });
});

describe("what contradicts itself is a usage error that names both, and holds no secret", () => {
  test.each<[string, SourceFlags, Readonly<Record<string, string>>, readonly string[]]>([
    ["--no-ssl and an authority", { ssl: false, sslCa: certFile }, {}, ["--no-ssl", "--ssl-ca"]],
    ["TLS switched off and a certificate", {}, { KAFKA_SSL: "false", KAFKA_SSL_CERT: cert }, ["KAFKA_SSL=false", "KAFKA_SSL_CERT"]],
    ["TLS switched off and --ssl-ca", { sslCa: certFile }, { KAFKA_SSL: "no" }, ["KAFKA_SSL=false", "--ssl-ca"]],
    ["a switch that is none", {}, { KAFKA_SSL: "canary" }, ["KAFKA_SSL", "true or false"]],
    ["a certificate without its key", { sslCert: certFile }, {}, ["--ssl-cert", "--ssl-key"]],
    ["a key without its certificate", {}, { KAFKA_SSL_KEY: key }, ["KAFKA_SSL_KEY", "--ssl-cert"]],
    ["a key in a flag", { sslCert: certFile, sslKey: key }, {}, ["--ssl-key takes the name of a file"]],
    ["a key that is no PEM", { sslCert: certFile }, { KAFKA_SSL_KEY: "Y2FuYXJ5Y2FuYXJ5" }, ["KAFKA_SSL_KEY", "ENOENT"]],
    ["a certificate in place of a key", { sslCert: certFile, sslKey: certFile }, {}, ["--ssl-key", "a private key"]],
    ["a missing file", { sslCa: "/nowhere/ca.pem" }, {}, ["--ssl-ca", "ENOENT"]],
    ["certificates that OpenSSL cannot read", { sslCert: certFile, sslKey: keyFile }, {}, ["--ssl-cert, --ssl-key", "cannot be used"]],
    ["an encrypted key", { sslCert: certFile }, { KAFKA_SSL_KEY: key.replaceAll("PRIVATE", "ENCRYPTED PRIVATE") }, ["encrypted"]],
    ["a mechanism without a user", { saslMechanism: "plain" }, password, ["--sasl-mechanism", "--sasl-username"]],
    ["a mechanism without a password", login, {}, ["--sasl-mechanism", "KAFKA_SASL_PASSWORD"]],
    ["an empty password", login, { KAFKA_SASL_PASSWORD: "" }, ["--sasl-mechanism", "KAFKA_SASL_PASSWORD"]],
    ["a user without a mechanism", { saslUsername: "u" }, password, ["--sasl-username", "--sasl-mechanism"]],
    ["a password alone", {}, password, ["KAFKA_SASL_PASSWORD", "--sasl-mechanism"]],
    ["a mechanism that is none", {}, { ...password, KAFKA_SASL_MECHANISM: "oauthbearer" }, ["KAFKA_SASL_MECHANISM", "scram-sha-512"]],
    ["a protocol that is none", {}, { KAFKA_SECURITY_PROTOCOL: "TLS" }, ["KAFKA_SECURITY_PROTOCOL", "SASL_SSL"]],
    ["a setting of TLS that cannot be done", {}, { KAFKA_SECURITY_PROTOCOL: "SSL", KAFKA_SSL_PROVIDER: "x" }, ["KAFKA_SSL_PROVIDER"]],
    [
      "a key that is encrypted",
      {},
      { KAFKA_SECURITY_PROTOCOL: "SSL", KAFKA_SSL_KEY_PASSWORD: "canary" },
      ["KAFKA_SSL_KEY_PASSWORD", "not encrypted"],
    ],
    [
      "a mechanism that is not known, with a protocol",
      {},
      { KAFKA_SECURITY_PROTOCOL: "SASL_SSL", KAFKA_SASL_MECHANISM: "OAUTHBEARER" },
      ["KAFKA_SASL_MECHANISM"],
    ],
    ["half a login to the registry", {}, { SCHEMA_REGISTRY_PASSWORD: "canary" }, ["SCHEMA_REGISTRY_PASSWORD", "SCHEMA_REGISTRY_USERNAME"]],
    [
      "two logins to the registry",
      { registry: "http://u:canary@r" },
      { SCHEMA_REGISTRY_TOKEN: "canary" },
      ["the registry's address", "SCHEMA_REGISTRY_TOKEN"],
    ],
  ])("%s", (_case, flags, env, said) => {
    const resolve = (): unknown => resolveCluster({ brokers, registry: "http://r", ...flags }, env);
    expect(resolve).toThrow(expect.objectContaining({ code: "usage" }));
    for (const part of said) {
      expect(resolve).toThrow(part);
    }
    expect(resolve).not.toThrow(/canary|Y2FuYXJ5/);
  });

  test("--file and each flag of the connection", async () => {
    const flags = [
      ["--ssl"],
      ["--ssl-ca", certFile],
      ["--sasl-mechanism", "plain"],
      ["--sasl-username", "u"],
      ["--fetch-bytes", "1m"],
      ["--max-decompressed-bytes", "1m"],
    ];
    for (const [flag = "", ...value] of flags) {
      const { code, stderr } = await run(["inspect", "--file", "f", flag, ...value]);
      expect([code, stderr]).toEqual([exitCodes.usage, expect.stringMatching(`--file and ${flag}.* do not go together`)]);
    }
  });

  test("a password has no flag, and what a flag holds by mistake is not repeated", async () => {
    const { code, stderr } = await run(["run", "-b", "a:1", "-t", "t", "--sasl-password", "canary"]);
    expect([code, stderr]).toEqual([exitCodes.usage, expect.stringContaining("unknown option '--sasl-password'")]);
    expect(stderr).not.toContain("canary");
  });

  test("the stack that --debug shows holds no secret either", async () => {
    const env = { KAFKA_SSL_CERT: cert, KAFKA_SSL_KEY: "canary-key", ...password };
    const { code, stderr } = await run(["run", "-b", "a:1", "-t", "t", "--debug"], env);
    expect([code, stderr]).toEqual([exitCodes.usage, expect.stringContaining("KAFKA_SSL_KEY")]);
    expect(stderr).not.toContain("canary");
  });
});

async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<{ code: number; stderr: string }> {
  const stderr = new PassThrough();
  const stdout = new PassThrough().resume();
  const code = await runProgram(args, { stdout, stderr, liveLine: false, env, interrupt: new AbortController().signal });
  return { code, stderr: String(stderr.read() ?? "") };
}
