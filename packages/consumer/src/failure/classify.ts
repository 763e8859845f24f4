import { type DecodeErrorCode, isDecodeError, type RecordCoordinates } from "@cdckit/decode";
import { isConsumerError } from "../errors.ts";
import { callbackFailed, callUser } from "../user-code/user-functions.ts";
import { causesOf, nameOf, pendingOf, readMember } from "../user-code/user-value.ts";

/** What kind of failure an error is: whether a retry can help, and whether the record is to blame. */
export type FailureKind =
  /** The registry or a sink's database cannot be asked. No record is to blame: the partition waits for as long as this lasts. */
  | "outage"
  /** The registry does not have the schema yet: it may be registered late. */
  | "unknown-schema"
  /** Something outside of the record is wrong and stays wrong: credentials, a partition that another member has. */
  | "permanent"
  /** It will pass: network, time-out, deadlock, 5xx, 429. No record is to blame. */
  | "transient"
  /** It may pass, or the record may be to blame. */
  | "unclear"
  /** The record itself is to blame: a retry gives the same error. */
  | "poison";

/**
 * Decides before the table does, of what handlers, validators and sinks throw. True: it is retried, also if the table says that the record or a setting is to blame. False: it is poison at
 * once, also if the table says that nobody could be reached. Undefined leaves the decision to the table.
 */
export type IsRetriable = (error: unknown) => boolean | undefined;

const kindByDecodeCode: Readonly<Record<DecodeErrorCode, FailureKind>> = {
  truncated: "poison",
  "trailing-bytes": "poison",
  malformed: "poison",
  "invalid-utf8": "poison",
  "limit-exceeded": "poison",
  "value-invalid": "poison",
  "unknown-format": "poison",
  "unsupported-format": "poison",
  "schema-not-found": "unknown-schema",
  // No time helps if no registry was named.
  "schema-source-missing": "poison",
  "schema-unavailable": "outage",
  "schema-refused": "permanent",
  "schema-invalid": "poison",
  "schema-mismatch": "poison",
};

/** What a code says. `unreachable`: nobody answered, or the one who answered is not ready. It is transient, and of a sink's store an outage. */
type CodeKind = FailureKind | "unreachable";

/** `code` of errors of Node, undici and database clients. Whole SQLSTATEs come before their class. */
const kindByCode: Readonly<Record<string, CodeKind>> = {
  ECONNREFUSED: "unreachable",
  ECONNRESET: "unreachable",
  ECONNABORTED: "unreachable",
  ENOTCONN: "unreachable",
  EPIPE: "unreachable",
  ETIMEDOUT: "unreachable",
  ESOCKETTIMEDOUT: "unreachable",
  EHOSTUNREACH: "unreachable",
  EHOSTDOWN: "unreachable",
  ENETUNREACH: "unreachable",
  ENETDOWN: "unreachable",
  ENOTFOUND: "unreachable",
  EAI_AGAIN: "unreachable",
  EADDRNOTAVAIL: "unreachable", // no local port is free
  EBUSY: "transient",
  EMFILE: "transient",
  ENFILE: "transient",
  ENOSPC: "transient",
  UND_ERR_CONNECT_TIMEOUT: "unreachable",
  UND_ERR_HEADERS_TIMEOUT: "unreachable",
  UND_ERR_BODY_TIMEOUT: "unreachable",
  UND_ERR_SOCKET: "unreachable",
  UND_ERR_CLOSED: "unreachable",
  UND_ERR_DESTROYED: "unreachable",
  ER_LOCK_DEADLOCK: "transient",
  ER_LOCK_WAIT_TIMEOUT: "transient",
  PROTOCOL_CONNECTION_LOST: "unreachable",
  PROTOCOL_SEQUENCE_TIMEOUT: "unreachable",
  "brokers-unreachable": "unreachable", // how our drivers say it
  fenced: "permanent",
  "table-for-failed": "permanent", // how our PostgreSQL sink says that the user's function did
  "login-failed": "permanent",
  "25P03": "transient", // PostgreSQL: the transaction was ended because its process stood still
  "25P04": "transient", // or because it took too long
  "42501": "permanent", // PostgreSQL: a missing right, which every record of the table meets
  "42P10": "poison", // PostgreSQL: a table without a unique constraint over the key; other statements of class 42 may be of a table as it was
  "53300": "unreachable", // PostgreSQL: it has no connection left
  "57P01": "unreachable", // PostgreSQL shuts down,
  "57P02": "unreachable", // has crashed,
  "57P03": "unreachable", // or does not take connections yet
};

/**
 * What our PostgreSQL sink says with `retriable: false`: a setting, a table or the record has to be another one first. Its other errors say nothing of
 * that: of `rejected`, the cause does, and whose a tombstone is (`table-unknown`), rows of another partition may show a moment later.
 */
const kindBySinkCode: Readonly<Record<string, FailureKind>> = {
  "invalid-option": "permanent",
  "pg-missing": "permanent",
  "not-claimed": "permanent",
  "checkpoint-lost": "permanent",
  "key-missing": "poison",
  "row-incomplete": "poison",
  "schema-mismatch": "poison",
  "truncate-refused": "poison",
};

/** SQLSTATE classes, as PostgreSQL's clients give them in `code`. Classes that are not listed are unclear. */
const kindBySqlClass: Readonly<Record<string, CodeKind>> = {
  "08": "unreachable", // connection
  "22": "poison", // data
  "23": "poison", // integrity constraints
  "28": "permanent", // authorization
  "40": "transient", // serialization, deadlock
  "53": "transient", // resources
  "55": "transient", // a lock is not available
  "57": "transient", // an operator intervened, or the server shuts down
  "58": "transient", // a failure of the server's own system
};

/** What a programming mistake throws: the next attempt throws it again. */
const programmersErrors: readonly string[] = ["TypeError", "ReferenceError", "SyntaxError", "RangeError", "EvalError", "URIError"];

/**
 * The kind of what was thrown. Causes count, too: `fetch` hides a refused connection in a `TypeError`, and a sink's error hides what its
 * database said. Throws a `ConsumerError` if `isRetriable` fails. `isRetriable` is asked about the record at `at`.
 */
export function classify(error: unknown, isRetriable?: IsRetriable, at?: RecordCoordinates): FailureKind {
  const kind = kindByTable(error);
  if (isRetriable === undefined || isOurWord(error, kind)) {
    return kind;
  }
  const verdict = stateOf(isRetriable, error, at);
  if (verdict === false) {
    return "poison";
  }
  // What is retried already stays what it is: as "unclear", an outage would become a dead letter after a few attempts.
  return verdict === true && (kind === "poison" || kind === "permanent") ? "unclear" : kind;
}

/**
 * Whether it was said in our own words what happened: a registry, or a sink that says so, is waited for in any case, and an event that nobody
 * takes halts with `strict`. A function that is written for what handlers throw would make dead letters of these.
 */
function isOurWord(error: unknown, kind: FailureKind): boolean {
  return kind === "outage" || kind === "unknown-schema" || (kind === "permanent" && (isDecodeError(error) || isConsumerError(error)));
}

function kindByTable(error: unknown): FailureKind {
  for (const cause of causesOf(error)) {
    const kind = kindOf(cause);
    if (kind !== null && kind !== "unclear") {
      return kind;
    }
  }
  return programmersErrors.includes(nameOf(error)) ? "poison" : "unclear";
}

function stateOf(isRetriable: IsRetriable, error: unknown, at: RecordCoordinates | undefined): boolean | undefined {
  const verdict: unknown = callUser("failure.isRetriable", () => isRetriable(error), at);
  const pending = pendingOf(verdict);
  pending?.catch(ignore); // nobody waits for it
  if (verdict !== undefined && typeof verdict !== "boolean") {
    // Read as true or false, a null would make dead letters of an outage.
    const given = pending !== null ? "a promise" : verdict === null ? "null" : `a value of type ${typeof verdict}`;
    throw callbackFailed("failure.isRetriable", `it gave ${given}, expected true, false or undefined`, undefined, at);
  }
  return verdict;
}

/**
 * The same for what a sink threw, or the driver that writes a dead letter. If the store, or the brokers, cannot be reached, that is an outage, as
 * with a registry: every record would fail in the same way, and no number of attempts can show that a record is to blame.
 */
export function classifyAtSink(error: unknown, isRetriable?: IsRetriable, at?: RecordCoordinates): FailureKind {
  const kind = classify(error, isRetriable, at);
  return kind === "transient" && causesOf(error).some(isUnreachable) ? "outage" : kind;
}

function isUnreachable(error: unknown): boolean {
  const code = readMember(error, "code");
  const answer = readMember(error, "status") ?? readMember(error, "statusCode");
  return (
    (typeof code === "string" && codeKind(code) === "unreachable") ||
    isTimeout(error) ||
    answer === 429 ||
    (typeof answer === "number" && answer >= 500 && answer <= 599)
  );
}

/** `AbortSignal.timeout` ends a request with a `DOMException` of this name, whose code is a number. Many clients name their own error so. */
function isTimeout(error: unknown): boolean {
  return nameOf(error) === "TimeoutError";
}

function kindOf(error: unknown): FailureKind | null {
  const code = readMember(error, "code");
  if (isDecodeError(error)) {
    return typeof code === "string" && Object.hasOwn(kindByDecodeCode, code) ? kindByDecodeCode[code as DecodeErrorCode] : null;
  }
  if (isConsumerError(error)) {
    return code === "callback-failed" || code === "unhandled-event"
      ? "permanent"
      : code === "invalid-row" || code === "decoder-failed"
        ? "poison"
        : null;
  }
  const retriable = readMember(error, "retriable");
  if (code === "unavailable" && retriable === true) {
    return "outage"; // the form in which sinks say it
  }
  if (typeof code === "string" && retriable === false && Object.hasOwn(kindBySinkCode, code)) {
    return kindBySinkCode[code] as FailureKind;
  }
  if (typeof code === "string") {
    const kind = codeKind(code);
    if (kind !== undefined) {
      return kind === "unreachable" ? "transient" : kind;
    }
  }
  // kafkajs and similar clients say it themselves.
  if (typeof retriable === "boolean") {
    return retriable ? "transient" : "unclear";
  }
  if (isTimeout(error)) {
    return "transient";
  }
  return statusKind(readMember(error, "status") ?? readMember(error, "statusCode"));
}

function codeKind(code: string): CodeKind | undefined {
  return Object.hasOwn(kindByCode, code) ? kindByCode[code] : sqlKind(code);
}

function sqlKind(code: string): CodeKind | undefined {
  const sqlClass = code.slice(0, 2);
  return /^[0-9A-Z]{5}$/.test(code) && Object.hasOwn(kindBySqlClass, sqlClass) ? kindBySqlClass[sqlClass] : undefined;
}

function statusKind(status: unknown): FailureKind | null {
  if (typeof status !== "number" || status < 400 || status > 599) {
    return null;
  }
  if (status === 401 || status === 403) {
    return "permanent";
  }
  return status >= 500 || status === 408 || status === 425 || status === 429 ? "transient" : "poison";
}

function ignore(): void {}
