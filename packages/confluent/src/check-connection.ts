import { didYouMean } from "@cdckit/driver";
import { ConfluentDriverError } from "./errors.ts";
import { namesMechanism, ownProperties } from "./properties.ts";

const connectionOptions = ["brokers", "ssl", "sasl", "clientId", "properties"] as const;
const tlsOptions = ["ca", "cert", "key", "passphrase", "rejectUnauthorized"] as const;
const mechanisms = ["plain", "scram-sha-256", "scram-sha-512"] as const;
const loginProperties = ["sasl.mechanism", "sasl.mechanisms", "sasl.username", "sasl.password"] as const;
const protocols = ["plaintext", "ssl", "sasl_plaintext", "sasl_ssl"] as const;

/** Throws for values with which the client would fail later without a reason. Never shows a value, because it may be a secret. */
export function checkConnection(connection: Readonly<Record<string, unknown>>, tuningOptions: readonly string[]): void {
  checkNames("", connection, connectionOptions, tuningOptions);
  const { brokers, ssl, sasl, clientId, properties } = connection;
  checkBrokers(brokers);
  if (isObject(ssl)) {
    checkNames("ssl.", ssl, tlsOptions);
    for (const name of ["ca", "cert", "key", "passphrase"]) {
      if (ssl[name] !== undefined && typeof ssl[name] !== "string") {
        refuse(`expected ssl.${name} to be a text (certificates and keys in PEM), found ${typeof ssl[name]}`);
      }
    }
  } else if (ssl !== undefined && typeof ssl !== "boolean") {
    refuse(`expected ssl to be true or an object, found ${typeof ssl}`);
  }
  if (sasl !== undefined) {
    checkLogin(sasl);
  }
  if (clientId !== undefined && typeof clientId !== "string") {
    refuse(`expected clientId to be a text, found ${typeof clientId}`);
  }
  if (properties !== undefined) {
    checkProperties(properties);
    checkProtocol(ssl, sasl, properties as Readonly<Record<string, unknown>>); // checked in the line before
  }
}

function checkBrokers(brokers: unknown): void {
  if (!Array.isArray(brokers) || brokers.length === 0) {
    refuse('confluent({ brokers }) expects a list of addresses, such as ["localhost:9092"]');
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
  checkNames("sasl.", sasl, ["mechanism", "username", "password"]);
  const { mechanism } = sasl;
  if (typeof mechanism !== "string" || !(mechanisms as readonly string[]).includes(mechanism)) {
    const near = typeof mechanism === "string" ? didYouMean(mechanism, mechanisms) : "";
    refuse(
      `expected sasl.mechanism to be one of ${mechanisms.join(", ")}, found ${JSON.stringify(mechanism) ?? "undefined"}${near}; others are set by librdkafka's own names in properties`,
    );
  }
  for (const name of ["username", "password"]) {
    if (typeof sasl[name] !== "string" || sasl[name] === "") {
      const found = sasl[name] === "" ? "an empty text" : typeof sasl[name];
      refuse(
        `expected sasl.${name} to be a text that is not empty, found ${found}; is it read from an environment variable that is not set?`,
      );
    }
  }
}

function checkProperties(properties: unknown): void {
  if (!isObject(properties)) {
    refuse(`expected properties to be an object of librdkafka's properties, found ${typeof properties}`);
  }
  for (const [name, value] of Object.entries(properties)) {
    if (ownProperties.has(name)) {
      refuse(`properties["${name}"] is not taken: the driver sets it, or an option of the driver does`);
    }
    if (!["string", "number", "boolean"].includes(typeof value)) {
      refuse(`expected properties["${name}"] to be a text, a number or a boolean, found ${typeof value}`);
    }
  }
}

/** TLS and the login may come from options or from properties. If they say different things, a password could go out in clear text. */
function checkProtocol(ssl: unknown, sasl: unknown, properties: Readonly<Record<string, unknown>>): void {
  const twice = loginProperties.find((name) => sasl !== undefined && name in properties);
  if (twice !== undefined) {
    refuse(`properties["${twice}"] is not taken beside the option sasl: leave one of the two out`);
  }
  const given = properties["security.protocol"];
  const needsLogin = sasl !== undefined || namesMechanism(properties);
  const fitting = protocols.filter(
    (protocol) => (ssl === undefined || protocol.endsWith("ssl") === (ssl !== false)) && (!needsLogin || protocol.startsWith("sasl_")),
  );
  if (given !== undefined && !(fitting as readonly string[]).includes(String(given).toLowerCase())) {
    refuse(`expected properties["security.protocol"] to be ${fitting.join(" or ")}, because ssl and the login say so; or leave it out`);
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
  throw new ConfluentDriverError("invalid-option", detail);
}
