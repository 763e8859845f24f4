import type { ConnectionOptions } from "node:tls";
import type { DriverError, DriverErrorCode, MakeDriverError } from "./errors.ts";
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
  readonly code: DriverErrorCode;
  /** One sentence or two: which broker, what it wants, and the setting to change. */
  readonly sentence: string;
  /** False if nothing answered, because that may be transient. */
  readonly isCertain: boolean;
}

/** The names of the drivers' own options, which are the same in all of them. */
export const settingNames: SettingNames = Object.freeze({
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

/** In the words of Node, and of librdkafka. */
const nobodyThere = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|Connection refused|Failed to resolve/;

/** Whether a client's message says that nothing listens there: asking the listener would only take time. */
export function isNobodyThere(message: string): boolean {
  return nobodyThere.test(message);
}

/**
 * The error of a start that has reached no broker, or what a listener wants in place of what was tried: clients say only that the connection was
 * ended. `attempt`: null if it is not known. Never rejects.
 */
export async function explainedByListeners<E extends DriverError<string>>(
  error: E,
  attempt: ConnectionAttempt | null,
  makeError: MakeDriverError,
  closed?: AbortSignal,
): Promise<E | DriverError<string>> {
  if (attempt === null || error.code !== "brokers-unreachable" || isNobodyThere(error.message) || closed?.aborted === true) {
    return error;
  }
  const asked = askListeners(attempt, settingNames, closed).catch(() => []); // a certificate that cannot be read
  const found = (await asked).find((diagnosis) => diagnosis !== null);
  return found === undefined || found === null ? error : makeError(found.code, found.sentence.replace(/\.$/, ""), { cause: error });
}

/**
 * What the brokers' listeners want that was not tried; null for one that accepts it, or that says nothing. It sends no credential, and takes five
 * seconds at most.
 */
export async function askListeners(
  attempt: ConnectionAttempt,
  names: SettingNames = settingNames,
  closed?: AbortSignal,
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
  return refusedCredential(
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
    return mechanisms.length === 0
      ? null
      : refusedCredential(`${broker} wants a login by SASL (${mechanisms.join(", ")}): ${names.logIn}.`);
  }
  if (mechanisms.length === 0) {
    return refusedCredential(`${broker} takes no login: ${names.leaveLogin}, or give the port of its SASL listener.`);
  }
  return mechanisms.includes(mechanism)
    ? null
    : refusedCredential(`${broker} does not offer ${mechanism}, but ${mechanisms.join(", ")}: ${names.changeMechanism}.`);
}

function mismatch(sentence: string): ConnectionDiagnosis {
  return { code: "protocol-mismatch", sentence, isCertain: true };
}

/** The diagnosis of a login or a certificate that is refused. */
export function refusedCredential(sentence: string): ConnectionDiagnosis {
  return { code: "authentication-failed", sentence, isCertain: true };
}
