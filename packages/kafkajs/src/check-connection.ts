import { didYouMean } from "@cdckit/driver";
import { KafkaJsDriverError } from "./errors.ts";

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
  "fetch",
] as const;
const retryOptions = ["maxRetryTime", "initialRetryTime", "factor", "multiplier", "retries", "restartOnFailure"] as const;
/** kafkajs' options that the driver sets itself, each with the reason. */
const ownOptions: Readonly<Record<string, string>> = Object.freeze({
  logLevel: "kafkajs' log goes to the consumer's logger, which has a level",
  logCreator: "kafkajs' log goes to the consumer's logger",
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
export function checkConnection(connection: Readonly<Record<string, unknown>>, tuningOptions: readonly string[]): void {
  checkNames("", connection, connectionOptions, tuningOptions);
  const { brokers, ssl, sasl, retry, connectTo, fetch = "records" } = connection;
  if (typeof brokers !== "function") {
    checkBrokers(brokers);
  }
  if (ssl !== undefined && typeof ssl !== "boolean" && !isObject(ssl)) {
    refuse(`expected ssl to be true or an object of Node's TLS options, found ${typeof ssl}`);
  }
  if (connectTo !== undefined && typeof connectTo !== "function") {
    refuse(`expected connectTo to be a function from a broker's { host, port } to the one to connect to, found ${typeof connectTo}`);
  }
  if (fetch !== "wire" && fetch !== "records") {
    refuse(`expected fetch to be "wire" or "records", found ${typeof fetch === "string" ? JSON.stringify(fetch) : typeof fetch}`);
  }
  if (isObject(retry)) {
    checkNames("retry.", retry, retryOptions);
  }
  if (sasl !== undefined) {
    checkLogin(sasl);
  }
}

/** Checks that each address has a port. Without a port, kafkajs would connect to NaN. */
export function checkBrokers(brokers: unknown): asserts brokers is readonly string[] {
  if (!Array.isArray(brokers) || brokers.length === 0) {
    refuse('kafkajs({ brokers }) expects a list of addresses, such as ["localhost:9092"]');
  }
  for (const [i, broker] of (brokers as readonly unknown[]).entries()) {
    const fits = typeof broker === "string" && /^[^\s:/@]+:\d{1,5}$/.test(broker) && Number(broker.split(":")[1]) <= 65_535;
    if (!fits) {
      refuse(`brokers[${i}] must be "host:port", such as "localhost:9092", without a scheme or a user: ${whatIsWrong(broker)}`);
    }
  }
}

function whatIsWrong(broker: unknown): string {
  if (typeof broker !== "string" || broker === "") {
    return broker === "" ? "it is empty" : `it is ${broker === null ? "null" : typeof broker}`;
  }
  if (broker.includes("/") || broker.includes("@")) {
    return "it looks like a URL";
  }
  if (broker.includes(",")) {
    return "it holds several addresses: make each an item of the list";
  }
  return broker.includes(":") ? `the port of ${JSON.stringify(broker)} cannot be read` : `${JSON.stringify(broker)} has no port`;
}

function checkLogin(sasl: unknown): void {
  if (!isObject(sasl)) {
    refuse(`expected sasl to be an object with a mechanism, found ${typeof sasl}`);
  }
  const { mechanism, authenticationProvider } = sasl;
  if (typeof authenticationProvider === "function") {
    return; // the user's own mechanism
  }
  const known = Object.keys(mechanisms);
  const needed = typeof mechanism === "string" ? mechanisms[mechanism.toLowerCase()] : undefined;
  if (needed === undefined) {
    const near = typeof mechanism === "string" ? didYouMean(mechanism, known) : "";
    refuse(`expected sasl.mechanism to be one of ${known.join(", ")}, found ${JSON.stringify(mechanism) ?? "undefined"}${near}`);
  }
  for (const name of needed) {
    if (typeof sasl[name] !== "string" || sasl[name] === "") {
      const found = sasl[name] === "" ? "an empty text" : typeof sasl[name];
      refuse(
        `expected sasl.${name} to be a text that is not empty, found ${found}; is it read from an environment variable that is not set?`,
      );
    }
  }
  if (String(mechanism).toLowerCase() === "oauthbearer" && typeof sasl["oauthBearerProvider"] !== "function") {
    refuse("expected sasl.oauthBearerProvider to be a function that resolves with { value }, the token");
  }
}

function checkNames(
  path: string,
  given: Readonly<Record<string, unknown>>,
  known: readonly string[],
  besides: readonly string[] = [],
): void {
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined && !known.includes(name)) {
      const why = path === "" ? ownOptions[name] : undefined;
      refuse(
        why === undefined
          ? `${path}${name} is no option${didYouMean(name, [...known, ...besides]) || `; there are ${[...known, ...besides].join(", ")}`}`
          : `${path}${name} is not taken: ${why}`,
      );
    }
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function refuse(detail: string): never {
  throw new KafkaJsDriverError("invalid-option", detail);
}
