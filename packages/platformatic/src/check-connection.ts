import { didYouMean } from "@cdckit/driver";
import { PlatformaticDriverError } from "./errors.ts";

const connectionOptions = ["brokers", "ssl", "sasl", "clientId", "client"] as const;
const credentialsOf = {
  plain: ["username", "password"],
  "scram-sha-256": ["username", "password"],
  "scram-sha-512": ["username", "password"],
  oauthbearer: ["token"],
} as const;

/** Throws for values with which the client would fail later without a reason. Never shows a value, because it may be a secret. */
export function checkConnection(connection: Readonly<Record<string, unknown>>, tuningOptions: readonly string[]): void {
  checkNames("", connection, connectionOptions, tuningOptions);
  const { brokers, ssl, sasl, clientId, client } = connection;
  checkBrokers(brokers);
  if (ssl !== undefined && typeof ssl !== "boolean" && !isObject(ssl)) {
    refuse(`expected ssl to be true or an object, found ${typeof ssl}`);
  }
  if (sasl !== undefined) {
    checkLogin(sasl);
  }
  if (clientId !== undefined && typeof clientId !== "string") {
    refuse(`expected clientId to be a text, found ${typeof clientId}`);
  }
  if (client !== undefined && !isObject(client) && typeof client !== "function") {
    refuse(`expected client to be the module @platformatic/kafka or a function that loads it, found ${typeof client}`);
  }
}

function checkBrokers(brokers: unknown): void {
  if (!Array.isArray(brokers) || brokers.length === 0) {
    refuse('platformatic({ brokers }) expects a list of addresses, such as ["localhost:9092"]');
  }
  for (const [i, broker] of (brokers as readonly unknown[]).entries()) {
    const fits = typeof broker === "string" && /^[^\s:/@,]+:\d{1,5}$/.test(broker) && Number(broker.split(":")[1]) <= 65_535;
    if (!fits) {
      refuse(`brokers[${i}] must be "host:port", such as "localhost:9092", without a scheme or a user`);
    }
  }
}

function checkLogin(sasl: unknown): void {
  if (!isObject(sasl)) {
    refuse(`expected sasl to be an object with a mechanism, found ${typeof sasl}`);
  }
  const { mechanism } = sasl;
  const mechanisms = Object.keys(credentialsOf);
  if (typeof mechanism !== "string" || !Object.hasOwn(credentialsOf, mechanism)) {
    const near = typeof mechanism === "string" ? didYouMean(mechanism, mechanisms) : "";
    refuse(`expected sasl.mechanism to be one of ${mechanisms.join(", ")}, found ${JSON.stringify(mechanism) ?? "undefined"}${near}`);
  }
  const names = credentialsOf[mechanism as keyof typeof credentialsOf];
  checkNames("sasl.", sasl, ["mechanism", ...names]);
  for (const name of names) {
    if (typeof sasl[name] !== "function" && (typeof sasl[name] !== "string" || sasl[name] === "")) {
      const found = sasl[name] === "" ? "an empty text" : typeof sasl[name];
      refuse(
        `expected sasl.${name} to be a function, or a text that is not empty, found ${found}; is it read from an environment variable that is not set?`,
      );
    }
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
      const all = [...known, ...besides];
      refuse(`${path}${name} is no option${didYouMean(name, all) || `; there are ${all.join(", ")}`}`);
    }
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function refuse(detail: string): never {
  throw new PlatformaticDriverError("invalid-option", detail);
}
