import {
  isError,
  neededToRead,
  type GroupAndTopics,
  refusedJoin,
  type RefusedResource,
  refusedResource,
  settingNames,
} from "@cdckit/driver";
import { certificateFault, isCertificateRefused } from "./certificate-fault.ts";
import { isKafkaJsDriverError, KafkaJsDriverError } from "./errors.ts";
import { readableBroker } from "./ipv6-names.ts";

/** The part of kafkajs' errors that is used here. */
export interface KafkaJsFailure extends Error {
  readonly type?: string;
  readonly code?: string | number;
  readonly originalError?: unknown;
  /** The address that it was about. */
  readonly broker?: string;
}

const connectionNames: ReadonlySet<string> = new Set([
  "KafkaJSConnectionError",
  "KafkaJSConnectionClosedError",
  "KafkaJSRequestTimeoutError",
  "KafkaJSNoBrokerAvailableError",
  "KafkaJSBrokerNotFound",
]);

/**
 * The name of kafkajs' error if no broker has told who coordinates the group. kafkajs calls it final, but that is what a connection that
 * breaks in the middle of the question ends in, too: kafkajs keeps neither the answer nor the reason.
 */
export const coordinatorNotFound = "KafkaJSGroupCoordinatorNotFound";

/**
 * The type of kafkajs' error if a broker is asked something else in the middle of a login. If no credential could be had for a login that has begun,
 * kafkajs keeps the connection, and begins again on it.
 */
export const loginUnfinished = "ILLEGAL_SASL_STATE";

const refusedCertificate =
  "the broker refused the certificate of the client, or wants one: set `ssl.cert` and `ssl.key`, signed by an authority that it trusts and not expired";

/** Whether no broker was there to answer. */
export function isConnectionFailure(error: unknown): boolean {
  return causesOf(error).some(({ name }) => connectionNames.has(name));
}

/** kafkajs' failure as an error that says what to check. */
export function explainFailure(error: unknown, brokers: string, reading: GroupAndTopics): KafkaJsDriverError {
  const chain = causesOf(error);
  const own = chain.find(isKafkaJsDriverError);
  if (own !== undefined) {
    return own;
  }
  const root = chain.find((cause) => cause.type !== undefined) ?? chain.at(-1);
  const text = root?.message ?? String(error);
  if (chain.some(({ name }) => name === "KafkaJSSASLAuthenticationError")) {
    return new KafkaJsDriverError(
      "authentication-failed",
      `${brokers} refused the credentials: ${text}. Check sasl.mechanism, user and password`,
      {
        cause: error,
      },
    );
  }
  const refused = refusedIn(error);
  if (refused !== null) {
    return new KafkaJsDriverError("not-authorized", `${text}. ${neededToRead(refused, reading)}`, { cause: error });
  }
  const joinRefused = refusedJoin(
    chain.map(({ code }) => code),
    reading,
    "kafkajs' RoundRobinAssigner",
  );
  if (joinRefused !== null) {
    return new KafkaJsDriverError("client-crashed", joinRefused, { cause: error });
  }
  const ofCertificate = certificateFault(chain, settingNames)?.sentence ?? (isCertificateRefused(chain) ? refusedCertificate : null);
  if (ofCertificate !== null) {
    return new KafkaJsDriverError("authentication-failed", `${brokers}: ${ofCertificate.replace(/\.$/, "")}`, { cause: error });
  }
  const named = chain.map(({ broker }) => broker).find((broker) => typeof broker === "string");
  const advertised = named === undefined ? undefined : readableBroker(named);
  const isAdvertised = advertised !== undefined && /:\d+$/.test(brokers) && !brokers.split(/,\s*/).includes(advertised);
  if (isAdvertised && chain.some(({ name }) => name === "KafkaJSConnectionError")) {
    return new KafkaJsDriverError(
      "brokers-unreachable",
      `brokers ${brokers} tell clients to connect to ${advertised}, which fails here: ${reasonOf(text)}. Is that broker running, and can this machine reach what it advertises? Set its advertised.listeners, or connectTo`,
      { cause: error },
    );
  }
  if (isConnectionFailure(error)) {
    return new KafkaJsDriverError(
      "brokers-unreachable",
      `cannot reach brokers ${brokers}: ${reasonOf(text)}. Is Kafka running, and is this address one of its advertised listeners?`,
      { cause: error },
    );
  }
  if (chain.some(({ name }) => name === coordinatorNotFound)) {
    return new KafkaJsDriverError(
      "brokers-unreachable",
      `brokers ${brokers} do not say which of them coordinates the group ${reading.groupId}. Do they answer, and may the user read the group?`,
      { cause: error },
    );
  }
  return new KafkaJsDriverError("client-crashed", `kafkajs gave up: ${text}`, { cause: error });
}

/** What the brokers refuse the user, if that is the failure; null if it is another one. */
export function refusedIn(error: unknown): RefusedResource | null {
  return refusedResource(causesOf(error).map(({ code }) => code));
}

/** The error and its causes, outermost first. */
export function causesOf(error: unknown): KafkaJsFailure[] {
  const chain: KafkaJsFailure[] = [];
  let next: unknown = error;
  while (isError(next) && !chain.includes(next)) {
    chain.push(next);
    next = next.cause ?? (next as KafkaJsFailure).originalError;
  }
  return chain;
}

function reasonOf(text: string): string {
  return text.replace(/^(Connection error: |Failed to connect: )+/, "").replace(/\.?\s*$/, "") || "no answer";
}
