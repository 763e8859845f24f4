import { didYouMean, type GivenOptions, isObject, OptionChecks } from "@cdckit/driver";
import { makeError } from "./errors.ts";
import { namesMechanism, ownProperties } from "./properties.ts";

export const checks: OptionChecks = new OptionChecks("confluent", makeError);
const connectionOptions = ["brokers", "ssl", "sasl", "clientId", "properties"] as const;
const tlsOptions = ["ca", "cert", "key", "passphrase", "rejectUnauthorized"] as const;
const mechanisms = ["plain", "scram-sha-256", "scram-sha-512"] as const;
const loginProperties = ["sasl.mechanism", "sasl.mechanisms", "sasl.username", "sasl.password"] as const;
const protocols = ["plaintext", "ssl", "sasl_plaintext", "sasl_ssl"] as const;

/** Throws for values with which the client would fail later without a reason. Never shows a value, because it may be a secret. */
export function checkConnection(connection: GivenOptions, tuningOptions: readonly string[]): void {
  checks.names("", connection, connectionOptions, tuningOptions);
  const { brokers, ssl, sasl, clientId, properties } = connection;
  checks.brokers(brokers);
  if (isObject(ssl)) {
    checks.names("ssl.", ssl, tlsOptions);
    for (const name of ["ca", "cert", "key", "passphrase"]) {
      if (ssl[name] !== undefined && typeof ssl[name] !== "string") {
        checks.refuse(`expected ssl.${name} to be a text (certificates and keys in PEM), found ${typeof ssl[name]}`);
      }
    }
  } else if (ssl !== undefined && typeof ssl !== "boolean") {
    checks.refuse(`expected ssl to be true or an object, found ${typeof ssl}`);
  }
  if (sasl !== undefined) {
    checkLogin(sasl);
  }
  if (clientId !== undefined && typeof clientId !== "string") {
    checks.refuse(`expected clientId to be a text, found ${typeof clientId}`);
  }
  if (properties !== undefined) {
    checkProperties(properties);
    checkProtocol(ssl, sasl, properties as GivenOptions); // checked in the line before
  }
}

function checkLogin(sasl: unknown): void {
  checks.login(sasl);
  checks.names("sasl.", sasl, ["mechanism", "username", "password"]);
  const { mechanism } = sasl;
  if (typeof mechanism !== "string" || !(mechanisms as readonly string[]).includes(mechanism)) {
    const near = typeof mechanism === "string" ? didYouMean(mechanism, mechanisms) : "";
    checks.refuse(
      `expected sasl.mechanism to be one of ${mechanisms.join(", ")}, found ${JSON.stringify(mechanism) ?? "undefined"}${near}; others are set by librdkafka's own names in properties`,
    );
  }
  for (const name of ["username", "password"]) {
    checks.credential(name, sasl[name]);
  }
}

function checkProperties(properties: unknown): void {
  if (!isObject(properties)) {
    checks.refuse(`expected properties to be an object of librdkafka's properties, found ${typeof properties}`);
  }
  for (const [name, value] of Object.entries(properties)) {
    if (ownProperties.has(name)) {
      checks.refuse(`properties["${name}"] is not taken: the driver sets it, or an option of the driver does`);
    }
    if (!["string", "number", "boolean"].includes(typeof value)) {
      checks.refuse(`expected properties["${name}"] to be a text, a number or a boolean, found ${typeof value}`);
    }
  }
}

/** TLS and the login may come from options or from properties. If they say different things, a password could go out in clear text. */
function checkProtocol(ssl: unknown, sasl: unknown, properties: GivenOptions): void {
  const twice = loginProperties.find((name) => sasl !== undefined && name in properties);
  if (twice !== undefined) {
    checks.refuse(`properties["${twice}"] is not taken beside the option sasl: leave one of the two out`);
  }
  const given = properties["security.protocol"];
  const needsLogin = sasl !== undefined || namesMechanism(properties);
  const fitting = protocols.filter(
    (protocol) => (ssl === undefined || protocol.endsWith("ssl") === (ssl !== false)) && (!needsLogin || protocol.startsWith("sasl_")),
  );
  if (given !== undefined && !(fitting as readonly string[]).includes(String(given).toLowerCase())) {
    checks.refuse(
      `expected properties["security.protocol"] to be ${fitting.join(" or ")}, because ssl and the login say so; or leave it out`,
    );
  }
}
