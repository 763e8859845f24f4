import { didYouMean, type GivenOptions, isObject, OptionChecks } from "@cdckit/driver";
import { makeError } from "./errors.ts";

export const checks: OptionChecks = new OptionChecks("kafkajs", makeError);

/** kafkajs' options that the driver takes. kafkajs itself ignores unknown ones. */
const connectionOptions = [
  "brokers",
  "ssl",
  "sasl",
  "clientId",
  "connectionTimeout",
  "authenticationTimeout",
  "reauthenticationThreshold",
  "requestTimeout",
  "enforceRequestTimeout",
  "retry",
  "connectTo",
] as const;
const retryOptions = ["maxRetryTime", "initialRetryTime", "factor", "multiplier", "retries", "restartOnFailure"] as const;
/** What other drivers take, and kafkajs' options that the driver sets itself, each with the reason. */
const ownOptions: Readonly<Record<string, string>> = Object.freeze({
  logLevel: "kafkajs' log goes to the consumer's logger, which has a level",
  logCreator: "kafkajs' log goes to the consumer's logger",
  groupInstanceId: "kafkajs joins groups without a group.instance.id; the drivers platformatic and confluent have it",
  groupProtocol: "kafkajs speaks the classic protocol of groups alone; the drivers platformatic and confluent have both",
  socketFactory: "the driver makes the sockets, so that it can end them; pass kafkajs({ kafka }) with a client of your own",
});

/** What each mechanism needs, by kafkajs' names. */
const mechanisms: Readonly<Record<string, readonly string[]>> = Object.freeze({
  plain: ["username", "password"],
  "scram-sha-256": ["username", "password"],
  "scram-sha-512": ["username", "password"],
  aws: ["authorizationIdentity", "accessKeyId", "secretAccessKey"],
  oauthbearer: [],
});

/** Throws for values with which kafkajs would fail later without a reason. Never shows a value, because it may be a secret. */
export function checkConnection(connection: GivenOptions, tuningOptions: readonly string[]): void {
  checks.names("", connection, connectionOptions, tuningOptions, ownOptions);
  const { brokers, ssl, sasl, retry, connectTo } = connection;
  if (typeof brokers !== "function") {
    checkBrokers(brokers);
  }
  if (ssl !== undefined && typeof ssl !== "boolean" && !isObject(ssl)) {
    checks.refuse(`expected ssl to be true or an object of Node's TLS options, found ${typeof ssl}`);
  }
  if (connectTo !== undefined && typeof connectTo !== "function") {
    checks.refuse(`expected connectTo to be a function from a broker's { host, port } to the one to connect to, found ${typeof connectTo}`);
  }
  if (isObject(retry)) {
    checks.names("retry.", retry, retryOptions);
  }
  if (sasl !== undefined) {
    checkLogin(sasl);
  }
}

/** Checks that each address has a port. Without a port, kafkajs would connect to NaN. */
export function checkBrokers(brokers: unknown): asserts brokers is readonly string[] {
  checks.brokers(brokers);
}

function checkLogin(sasl: unknown): void {
  checks.login(sasl);
  const { mechanism, authenticationProvider } = sasl;
  if (typeof authenticationProvider === "function") {
    return; // the user's own mechanism
  }
  const known = Object.keys(mechanisms);
  const needed = typeof mechanism === "string" ? mechanisms[mechanism.toLowerCase()] : undefined;
  if (needed === undefined) {
    const near = typeof mechanism === "string" ? didYouMean(mechanism, known) : "";
    checks.refuse(`expected sasl.mechanism to be one of ${known.join(", ")}, found ${JSON.stringify(mechanism) ?? "undefined"}${near}`);
  }
  for (const name of needed) {
    checks.credential(name, sasl[name]);
  }
  if (String(mechanism).toLowerCase() === "oauthbearer" && typeof sasl["oauthBearerProvider"] !== "function") {
    checks.refuse("expected sasl.oauthBearerProvider to be a function that resolves with { value }, the token");
  }
}
