import { didYouMean, type GivenOptions, isObject, OptionChecks } from "@cdckit/driver";
import { makeError } from "./errors.ts";

export const checks: OptionChecks = new OptionChecks("platformatic", makeError);

const connectionOptions = ["brokers", "ssl", "sasl", "clientId", "client"] as const;
const credentialsOf = {
  plain: ["username", "password"],
  "scram-sha-256": ["username", "password"],
  "scram-sha-512": ["username", "password"],
  oauthbearer: ["token"],
} as const;

/** Throws for values with which the client would fail later without a reason. Never shows a value, because it may be a secret. */
export function checkConnection(connection: GivenOptions, tuningOptions: readonly string[]): void {
  checks.names("", connection, connectionOptions, tuningOptions);
  const { brokers, ssl, sasl, clientId, client } = connection;
  checks.brokers(brokers);
  if (ssl !== undefined && typeof ssl !== "boolean" && !isObject(ssl)) {
    checks.refuse(`expected ssl to be true or an object, found ${typeof ssl}`);
  }
  if (sasl !== undefined) {
    checkLogin(sasl);
  }
  if (clientId !== undefined && typeof clientId !== "string") {
    checks.refuse(`expected clientId to be a text, found ${typeof clientId}`);
  }
  if (client !== undefined && !isObject(client) && typeof client !== "function") {
    checks.refuse(`expected client to be the module @platformatic/kafka or a function that loads it, found ${typeof client}`);
  }
}

function checkLogin(sasl: unknown): void {
  checks.login(sasl);
  const { mechanism } = sasl;
  const mechanisms = Object.keys(credentialsOf);
  if (typeof mechanism !== "string" || !Object.hasOwn(credentialsOf, mechanism)) {
    const near = typeof mechanism === "string" ? didYouMean(mechanism, mechanisms) : "";
    checks.refuse(
      `expected sasl.mechanism to be one of ${mechanisms.join(", ")}, found ${JSON.stringify(mechanism) ?? "undefined"}${near}`,
    );
  }
  const names = credentialsOf[mechanism as keyof typeof credentialsOf];
  checks.names("sasl.", sasl, ["mechanism", ...names]);
  for (const name of names) {
    checks.credential(name, sasl[name], true);
  }
}
