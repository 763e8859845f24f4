import {
  askListeners,
  type ConnectionAttempt,
  type ConnectionDiagnosis,
  isNobodyThere,
  refusedCredential,
  type SettingNames,
  settingNames,
} from "@cdckit/driver";
import { causesOf, type KafkaJsFailure } from "./explain-failure.ts";

/** What is wrong with a broker's certificate, by OpenSSL's code. */
const certificateFaults: Readonly<Record<string, (names: SettingNames) => string>> = Object.freeze({
  DEPTH_ZERO_SELF_SIGNED_CERT: byUnknown,
  SELF_SIGNED_CERT_IN_CHAIN: byUnknown,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: byUnknown,
  UNABLE_TO_GET_ISSUER_CERT: byUnknown,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: byUnknown,
  CERT_SIGNATURE_FAILURE: () => "is not signed by the authority that it names: another one is given here",
  CERT_HAS_EXPIRED: () => "has expired: it must be renewed on the broker, or the clock here is wrong",
  CERT_NOT_YET_VALID: () => "is not valid yet: the clock here, or the broker's, is wrong",
  ERR_TLS_CERT_ALTNAME_INVALID: ({ brokers }) =>
    `is for another name: give ${brokers}, and the broker's advertised listeners, a name that it holds`,
});

function byUnknown({ nameAuthority }: SettingNames): string {
  return `is signed by an authority that is not known here: ${nameAuthority}`;
}

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

function certificateFault(chain: readonly KafkaJsFailure[], names: SettingNames): ConnectionDiagnosis | null {
  if (chain.some(({ message }) => /key values mismatch/.test(message))) {
    return refusedCredential(`the key that is given is not that of the certificate: ${names.showCertificate}, which belong together.`);
  }
  const fault = chain.map(({ code }) => certificateFaults[String(code)]).find((found) => found !== undefined);
  return fault === undefined ? null : refusedCredential(`the certificate that the broker shows ${fault(names)}.`);
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
