import type { ConnectionOptions } from "node:tls";
import type { KafkaJsDriverErrorCode } from "./errors.ts";
import { causesOf, type KafkaJsFailure } from "./explain-failure.ts";
import { type KafkaListener, type Listener, probeListener } from "./probe-listener.ts";

/** How a connection was tried, without the secrets of the login. */
export interface ConnectionAttempt {
  /** The addresses that were tried, `host:port`. */
  readonly brokers: readonly string[];
  /** Absent if the connection was plain. */
  readonly tls?: ConnectionOptions;
  /** The SASL mechanism; absent if there was no login. */
  readonly mechanism?: string;
}

/** The names of the settings, as parts of sentences that say what to change. They differ between the driver and command line tools. */
export interface SettingNames {
  /** The setting of the brokers' addresses. */
  readonly brokers: string;
  /** How to turn TLS on. */
  readonly useTls: string;
  /** How to turn TLS off. */
  readonly leaveTls: string;
  /** How to name the authority that signs the brokers' certificates. */
  readonly nameAuthority: string;
  /** How to give the client a certificate of its own. */
  readonly showCertificate: string;
  /** The setting of the client's own certificate. */
  readonly certificate: string;
  /** How to give a login. */
  readonly logIn: string;
  /** How to take the login out. */
  readonly leaveLogin: string;
  /** How to choose another SASL mechanism. */
  readonly changeMechanism: string;
  /** Where user name and password are set. */
  readonly checkLogin: string;
  /** Which rights on topics and groups the user needs. */
  readonly rights: string;
}

/** Why brokers refused a client, and what to do about it. */
export interface ConnectionDiagnosis {
  /** The code that an error about this has. */
  readonly code: KafkaJsDriverErrorCode;
  /** One sentence or two: which broker, what it wants, and the setting to change. */
  readonly sentence: string;
  /** False if nothing answered, because that may be transient. */
  readonly isCertain: boolean;
}

/** The names of the driver's own options. */
export const optionNames: SettingNames = Object.freeze({
  brokers: "`brokers`",
  useTls: "set `ssl: true`, and `ssl.ca` if an authority of your own signs",
  leaveTls: "leave `ssl` out",
  nameAuthority: "name it with `ssl.ca`",
  showCertificate: "set `ssl.cert` and `ssl.key`",
  certificate: "`ssl.cert`",
  logIn: "set `sasl` (mechanism, username and password)",
  leaveLogin: "leave `sasl` out",
  changeMechanism: "set another `sasl.mechanism`",
  checkLogin: "check `sasl.username` and `sasl.password`",
  rights: "it needs Describe and Read on the topics, and Read on the group",
});

/** Nothing listens there, so that asking the listener would only take time. */
const nobodyThere = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH/;

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
  names: SettingNames = optionNames,
  closed?: AbortSignal,
): Promise<ConnectionDiagnosis | null> {
  const chain = causesOf(failure);
  const said = certificateFault(chain, names) ?? missingRight(chain, names) ?? refusedLogin(attempt, chain, names);
  if (said !== null) {
    return said;
  }
  if (chain.some(({ message }) => nobodyThere.test(message))) {
    return null;
  }
  const found = await askBrokers(attempt, names, closed);
  // If nothing has failed, one broker that accepts the client is enough.
  return failure === null && found.includes(null) ? null : (found.find((diagnosis) => diagnosis !== null) ?? null);
}

async function askBrokers(
  attempt: ConnectionAttempt,
  names: SettingNames,
  closed: AbortSignal | undefined,
): Promise<readonly (ConnectionDiagnosis | null)[]> {
  const listeners = await Promise.all(attempt.brokers.map((broker) => probeListener(broker, attempt.tls, closed)));
  return listeners.map((listener, i) => contrast(attempt.brokers[i] ?? "", attempt, listener, names));
}

/** How the listener differs from what was tried; null if it does not. */
function contrast(broker: string, attempt: ConnectionAttempt, listener: Listener, names: SettingNames): ConnectionDiagnosis | null {
  switch (listener.speaks) {
    case "kafka":
      return tlsContrast(broker, attempt, listener, names) ?? loginContrast(broker, attempt, listener, names);
    case "http":
      return mismatch(`${broker} speaks HTTP, not Kafka's protocol: give ${names.brokers} the port of a Kafka listener.`);
    case "nothing":
      return { code: "brokers-unreachable", sentence: silenceOf(broker), isCertain: false };
    case "unknown":
      return null;
  }
}

function silenceOf(broker: string): string {
  return `${broker} accepts connections and answers nothing: is it a Kafka broker, and does a firewall or a proxy in front of it let Kafka's protocol pass?`;
}

function tlsContrast(broker: string, { tls }: ConnectionAttempt, listener: KafkaListener, names: SettingNames): ConnectionDiagnosis | null {
  if (listener.tls && tls === undefined) {
    const { mechanisms } = listener;
    const more =
      mechanisms !== null && mechanisms.length > 0 ? ` It also wants a login by SASL (${mechanisms.join(", ")}): ${names.logIn}.` : "";
    return mismatch(`${broker} wants TLS, and the connection was plain: ${names.useTls}.${more}`);
  }
  if (!listener.tls && tls !== undefined) {
    return mismatch(`${broker} does not speak TLS: ${names.leaveTls}, or give the port of its TLS listener.`);
  }
  if (!listener.refusesCertificate) {
    return null;
  }
  return authentication(
    tls?.cert === undefined
      ? `${broker} wants a certificate of the client: ${names.showCertificate}.`
      : `${broker} refused the certificate of ${names.certificate}: is it signed by an authority that the broker trusts, and not expired?`,
  );
}

function loginContrast(
  broker: string,
  attempt: ConnectionAttempt,
  { mechanisms }: KafkaListener,
  names: SettingNames,
): ConnectionDiagnosis | null {
  const mechanism = attempt.mechanism?.toUpperCase();
  if (mechanisms === null) {
    return null;
  }
  if (mechanism === undefined) {
    return mechanisms.length === 0 ? null : authentication(`${broker} wants a login by SASL (${mechanisms.join(", ")}): ${names.logIn}.`);
  }
  if (mechanisms.length === 0) {
    return authentication(`${broker} takes no login: ${names.leaveLogin}, or give the port of its SASL listener.`);
  }
  return mechanisms.includes(mechanism)
    ? null
    : authentication(`${broker} does not offer ${mechanism}, but ${mechanisms.join(", ")}: ${names.changeMechanism}.`);
}

function certificateFault(chain: readonly KafkaJsFailure[], names: SettingNames): ConnectionDiagnosis | null {
  if (chain.some(({ message }) => /key values mismatch/.test(message))) {
    return authentication(`the key that is given is not that of the certificate: ${names.showCertificate}, which belong together.`);
  }
  const fault = chain.map(({ code }) => certificateFaults[String(code)]).find((found) => found !== undefined);
  return fault === undefined ? null : authentication(`the certificate that the broker shows ${fault(names)}.`);
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
  return authentication(
    `the broker refused the login (${mechanism.toUpperCase()}): ${checkLogin}, and whether that user has a password for this mechanism.`,
  );
}

function mismatch(sentence: string): ConnectionDiagnosis {
  return { code: "protocol-mismatch", sentence, isCertain: true };
}

function authentication(sentence: string): ConnectionDiagnosis {
  return { code: "authentication-failed", sentence, isCertain: true };
}
