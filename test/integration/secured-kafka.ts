import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { kafkaClassPath, runKafkaTool, startKafka } from "../../scripts/stack/kafka.mjs";
import { freePorts } from "../../scripts/stack/ports.mjs";
import { requireJava } from "../../scripts/stack/requirements.mjs";
import { isMissingRequirement } from "../../scripts/stack/stack-error.mjs";
import { type SelfSigned, selfSigned } from "./self-signed.ts";

export const username = "reader";
export const password = "canary-broker-password";

/** One broker, reached in each way that a cluster may be secured. */
export interface SecuredKafka {
  readonly plain: string;
  /** PLAIN, SCRAM-SHA-256 and OAUTHBEARER with tokens that nobody has signed, without TLS. */
  readonly sasl: string;
  readonly tls: string;
  /** SCRAM-SHA-512 within TLS. */
  readonly saslTls: string;
  /** TLS with a certificate of the client. */
  readonly mutualTls: string;
  /** The files that a client is given. */
  readonly files: { readonly ca: string; readonly cert: string; readonly key: string };
  readonly client: SelfSigned;
  /** Gives the user another password for SCRAM. */
  setPassword(text: string): Promise<unknown>;
  stop(): Promise<void>;
}

/** Why this machine cannot have a broker, or an empty text. Afterwards its jars are here, however long that takes. */
export async function missingForKafka(): Promise<string> {
  try {
    requireJava();
    await kafkaClassPath({ log: (line) => console.error(line) });
    return "";
  } catch (error) {
    if (isMissingRequirement(error)) {
      return (error as Error).message;
    }
    throw error;
  }
}

/** `config`: settings of the broker beside those. */
export async function startSecuredKafka(config: Readonly<Record<string, string>> = {}): Promise<SecuredKafka> {
  const dir = mkdtempSync(join(tmpdir(), "cdckit-secured-"));
  const [broker, client] = [selfSigned("broker"), selfSigned(username)];
  const write = (name: string, text: string): string => {
    const path = join(dir, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const files = { ca: write("ca.pem", broker.cert), cert: write("client.pem", client.cert), key: write("client-key.pem", client.key) };
  const [login = 0, tls = 0, loginTls = 0, mutualTls = 0] = await freePorts(4);
  const kafka = await startKafka({
    dir,
    listeners: { LOGIN: login, TLS: tls, LOGINTLS: loginTls, MUTUAL: mutualTls },
    config: { ...security(write("broker.pem", broker.key + broker.cert), files.cert), ...config },
  });
  const stop = async (): Promise<void> => {
    await kafka.stop();
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    await setScramPassword(kafka, password);
  } catch (error) {
    await stop();
    throw error;
  }
  const at = (port: number): string => `127.0.0.1:${port}`;
  return {
    plain: kafka.brokers,
    sasl: at(login),
    tls: at(tls),
    saslTls: at(loginTls),
    mutualTls: at(mutualTls),
    files,
    client,
    setPassword: (text) => setScramPassword(kafka, text),
    stop,
  };
}

function security(keystore: string, truststore: string): Record<string, string> {
  const module = (name: string, options: string): string => `org.apache.kafka.common.security.${name} required ${options};`;
  const scram = module("scram.ScramLoginModule", "");
  return {
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,LOGIN:SASL_PLAINTEXT,TLS:SSL,LOGINTLS:SASL_SSL,MUTUAL:SSL",
    "ssl.keystore.type": "PEM",
    "ssl.keystore.location": keystore,
    "ssl.truststore.type": "PEM",
    "ssl.truststore.location": truststore,
    "listener.name.mutual.ssl.client.auth": "required",
    "listener.name.login.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,OAUTHBEARER",
    "listener.name.login.plain.sasl.jaas.config": module("plain.PlainLoginModule", `user_${username}="${password}"`),
    "listener.name.login.scram-sha-256.sasl.jaas.config": scram,
    "listener.name.login.oauthbearer.sasl.jaas.config": module(
      "oauthbearer.OAuthBearerLoginModule",
      'unsecuredLoginStringClaim_sub="broker"',
    ),
    "listener.name.logintls.sasl.enabled.mechanisms": "SCRAM-SHA-512",
    "listener.name.logintls.scram-sha-512.sasl.jaas.config": scram,
  };
}

/** A token of the user that lasts for an hour, or has lasted until a minute ago. */
export function tokenOf(user: string, isExpired = false): string {
  const seconds = Math.floor(Date.now() / 1_000);
  const parts = [{ alg: "none" }, { sub: user, iat: seconds - 3_600, exp: isExpired ? seconds - 60 : seconds + 3_600 }];
  return `${parts.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".")}.`;
}

/** A call for each mechanism: Kafka refuses to change a user twice in one. */
function setScramPassword(kafka: { readonly brokers: string; readonly classPath: string }, text: string): Promise<unknown> {
  const user = ["--bootstrap-server", kafka.brokers, "--alter", "--entity-type", "users", "--entity-name", username];
  const setting = (mechanism: string): string => `${mechanism}=[iterations=4096,password=${text}]`;
  return Promise.all(
    ["SCRAM-SHA-256", "SCRAM-SHA-512"].map((mechanism) =>
      runKafkaTool(kafka, "kafka.admin.ConfigCommand", [...user, "--add-config", setting(mechanism)]),
    ),
  );
}
