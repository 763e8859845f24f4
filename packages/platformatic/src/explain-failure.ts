import { isError, neededToRead, type GroupAndTopics, refusedJoin, refusedResource } from "@cdckit/driver";
import { isRecordBatchError } from "@cdckit/record-batch";
import { strategyName } from "./cooperative-sticky.ts";
import { isPlatformaticDriverError, PlatformaticDriverError } from "./errors.ts";
import { type ClientError, codesOf } from "./low-level-client.ts";

/** The client's failure as an error that says what to check. It never holds a password. */
export function explainFailure(error: unknown, brokers: string, reading: GroupAndTopics): PlatformaticDriverError {
  const own = chainOf(error).find(isPlatformaticDriverError);
  if (own !== undefined) {
    return own;
  }
  const cause = { cause: error };
  const reason = reasonOf(error);
  if (isRecordBatchError(error)) {
    return new PlatformaticDriverError(
      "batch-unreadable",
      `a record batch cannot be read: ${error.message.replace(/^\[[a-z-]+\] /, "")}`,
      cause,
    );
  }
  const refused = refusedResource(codesOf(error));
  if (refused !== null) {
    return new PlatformaticDriverError("not-authorized", `${reason}. ${neededToRead(refused, reading)}`, cause);
  }
  const joinRefused = refusedJoin(codesOf(error), reading, strategyName);
  if (joinRefused !== null) {
    return new PlatformaticDriverError("client-crashed", joinRefused, cause);
  }
  const known = refusalOf(error, brokers);
  if (known !== null) {
    return new PlatformaticDriverError(known.code, known.detail, cause);
  }
  if (isOfConnection(error)) {
    return new PlatformaticDriverError(
      "brokers-unreachable",
      `cannot reach brokers ${brokers}: ${reason}. Is Kafka running, and is this address one of its advertised listeners? A listener that wants TLS or a login may also end connections without a word`,
      cause,
    );
  }
  return new PlatformaticDriverError("client-crashed", `@platformatic/kafka gave up: ${reason}`, cause);
}

/** Whether trying again cannot help: a login or a certificate was refused, or the listener speaks another protocol. */
export function isRefusal(error: unknown): boolean {
  const own = chainOf(error).find(isPlatformaticDriverError);
  return own === undefined ? refusalOf(error, "") !== null : own.code === "client-missing";
}

/**
 * Whether nobody has answered, so that another broker may, or the same one later: the client says so of a connection, or this driver of a broker.
 * Any other error without a code of Kafka's is a mistake in a request, or an answer that cannot be read, and comes again whoever is asked.
 */
export function isUnanswered(error: unknown): boolean {
  return codesOf(error).length === 0 && !isRefusal(error) && (isOfConnection(error) || chainOf(error).some(isPlatformaticDriverError));
}

/** Whether the same may be asked again later: nobody has answered, or only with codes of these. */
export function mayPass(error: unknown, passing: ReadonlySet<number>): boolean {
  const found = codesOf(error);
  return found.length === 0 ? isUnanswered(error) : found.every((code) => passing.has(code));
}

/** Whether the client could not write the request, or not read the answer: brokers that can be reached do not change that. */
export function isMisread(error: unknown): boolean {
  return chainOf(error).some(({ name }) => name === "TypeError" || name === "RangeError");
}

type Refusal = { readonly code: "authentication-failed" | "protocol-mismatch"; readonly detail: string };

function refusalOf(error: unknown, brokers: string): Refusal | null {
  const reason = reasonOf(error);
  const chain = chainOf(error);
  if (chain.some(isRefusedLogin) || /SASL/.test(reason)) {
    return {
      code: "authentication-failed",
      detail: `${brokers} refused the login: ${reason}. Check sasl.mechanism, sasl.username and sasl.password`,
    };
  }
  if (chain.some(({ code = "" }) => /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|ALERT_(BAD|UNKNOWN_CA|CERT)/.test(code))) {
    return {
      code: "authentication-failed",
      detail: `the certificates do not fit: ${reason}. Check ssl.ca, which names the authority that signs the brokers' certificates, whether these have expired or lack the names in brokers, and ssl.cert with ssl.key`,
    };
  }
  if (/key values mismatch/.test(reason)) {
    return { code: "authentication-failed", detail: "the certificates do not fit: ssl.key is not the key of ssl.cert" };
  }
  // Not for a connection that was only ended: a broker that stops, and a proxy whose broker is away, do that, too. A start asks the listener.
  if (/wrong version number|packet length too long/i.test(reason)) {
    return {
      code: "protocol-mismatch",
      detail: `${brokers} does not speak TLS as it was tried: ${reason}. Leave ssl out, or give the port of the TLS listener`,
    };
  }
  if (/Broker requires TLS/.test(reason)) {
    return {
      code: "protocol-mismatch",
      detail: `${brokers} speaks TLS, and it was tried without: set ssl: true, and ssl.ca if an authority of your own signs, or give the port of a plain listener`,
    };
  }
  return null;
}

/** The client calls it a failed login, too, if a connection ends while it logs in. Its cause says that no broker has refused anything. */
function isRefusedLogin({ code, cause }: ClientError): boolean {
  return code === "PLT_KFK_AUTHENTICATION" && !isOfConnection(cause);
}

const ofConnection = /^(PLT_KFK_NETWORK|PLT_KFK_TIMEOUT$|ECONN|ENOTFOUND|EAI_|ETIMEDOUT|EHOST|ENET|EPIPE|UND_)/;

function isOfConnection(error: unknown): boolean {
  return chainOf(error).some(({ code }) => ofConnection.test(String(code))); // the code of an application's error may be a number
}

/** The error, its causes, and the errors in it. */
function chainOf(error: unknown, depth = 0): readonly ClientError[] {
  if (!isError(error) || depth > 8) {
    return [];
  }
  const { cause, errors = [] } = error as ClientError;
  return [error as ClientError, ...chainOf(cause, depth + 1), ...errors.flatMap((inner) => chainOf(inner, depth + 1))];
}

/** What the innermost errors say. The outer ones say only that something has failed. */
export function reasonOf(error: unknown): string {
  const chain = chainOf(error);
  const inner = chain.filter(({ cause, errors = [] }) => !isError(cause) && errors.length === 0);
  const texts = [
    ...new Set(
      inner.map(({ message, code, syscall }: ClientError & { syscall?: string }) => message || `${syscall ?? ""} ${code ?? ""}`.trim()),
    ),
  ];
  return texts.join("; ").replace(/\.?\s*$/, "") || String(error);
}
