import {
  askListeners,
  type ConnectionAttempt,
  type ConnectionDiagnosis,
  isNobodyThere,
  refusedCredential,
  type SettingNames,
  settingNames,
} from "@cdckit/driver";
import { certificateFault } from "./certificate-fault.ts";
import { causesOf, type KafkaJsFailure } from "./explain-failure.ts";

/**
 * Why the brokers refused the client. If the client's failure does not say it, the brokers are asked what they want. That sends no credential,
 * and takes five seconds at most. Null if there is nothing to add to the failure. Without a failure, only the brokers are asked.
 */
export async function diagnoseConnection(
  attempt: ConnectionAttempt,
  failure: unknown,
  names: SettingNames = settingNames,
  closed?: AbortSignal,
): Promise<ConnectionDiagnosis | null> {
  const chain = causesOf(failure);
  const said = certificateFault(chain, names) ?? missingRight(chain, names) ?? refusedLogin(attempt, chain, names);
  if (said !== null) {
    return said;
  }
  if (chain.some(({ message }) => isNobodyThere(message))) {
    return null;
  }
  const found = await askListeners(attempt, names, closed);
  // If nothing has failed, one broker that accepts the client is enough.
  return failure === null && found.includes(null) ? null : (found.find((diagnosis) => diagnosis !== null) ?? null);
}

function missingRight(chain: readonly KafkaJsFailure[], { rights }: SettingNames): ConnectionDiagnosis | null {
  const type = chain.map((failure) => String(failure.type)).find((name) => name.endsWith("_AUTHORIZATION_FAILED"));
  const what = type?.replace("_AUTHORIZATION_FAILED", "").toLowerCase().replaceAll("_", " ");
  return what === undefined
    ? null
    : { code: "not-authorized", isCertain: true, sentence: `the user may not do this (${what}): ${rights}.` };
}

/** A refused user or password. A mechanism that the broker does not offer is reported by the comparison, which names the offered ones. */
function refusedLogin(
  { mechanism }: ConnectionAttempt,
  chain: readonly KafkaJsFailure[],
  { checkLogin }: SettingNames,
): ConnectionDiagnosis | null {
  const failure = chain.find(({ name }) => name === "KafkaJSSASLAuthenticationError");
  if (failure === undefined || mechanism === undefined || /mechanism is not supported/.test(failure.message)) {
    return null;
  }
  return refusedCredential(
    `the broker refused the login (${mechanism.toUpperCase()}): ${checkLogin}, and whether that user has a password for this mechanism.`,
  );
}
