import { type CdcEvent, DecodeError, isDecodeError, type RecordCoordinates } from "@cdckit/decode";
import { ConsumerError, isConsumerError } from "../errors.ts";
import { readMember, toError } from "../user-code/user-value.ts";
import { whatChangeLacks } from "./missing-image.ts";
import { coordinatesOf, placeText, type RecordPlace } from "./record-place.ts";

/** What failed, before anything is decided about it. */
export interface Failure {
  /** `read` is the step to the next record: no record is to blame. */
  readonly stage: "read" | "decode" | "handle";
  /** What was thrown. */
  readonly error: unknown;
  readonly place: RecordPlace;
  /** An event of the record, if it was decoded. */
  readonly event: CdcEvent | null;
  /** The name of the sink that failed. Null if a handler or the decoder did. */
  readonly sink: string | null;
  /** If several records were handed on together: the offset of the last. Which of them is to blame is not known. */
  readonly through: bigint | null;
}

/** The error that the consumer halts with, if it does. */
export function haltErrorOf(failure: Failure): Error {
  return errorOf(failure, "halt");
}

/** What failed, as a dead letter and its log line say it. Without its cause, it has no text that a handler or a client wrote. */
export function deadLetterErrorOf(failure: Failure): Error {
  return errorOf(failure, "dead-letter");
}

const causeSaysWhy = "the cause says why";

/** What becomes of work that failed, as the end of the sentence that says so. */
type Fate = "halt" | "dead-letter";

/** A dead letter is committed as a handled record is, and its text comes without the cause: that one's message may quote the row. */
const fateOfRecord: Readonly<Record<Fate, string>> = {
  halt: `; ${causeSaysWhy}, and the record was not committed`,
  "dead-letter": "; the record became a dead letter",
};

const fateOfRecords: Readonly<Record<Fate, string>> = {
  halt: `; ${causeSaysWhy}, and none of them was committed`,
  "dead-letter": "; they became dead letters",
};

function errorOf(failure: Failure, fate: Fate): Error {
  const { stage, error, sink } = failure;
  if (stage === "read") {
    return toError(error); // there may be no record to ask for its place
  }
  const at = coordinatesOf(failure.place);
  if (stage === "decode") {
    return decodeFailure(error, at, fate);
  }
  return sink === null
    ? handlerFailure(failure, at, fate)
    : new ConsumerError("sink-failed", `the sink ${JSON.stringify(sink)} failed at ${whereAndWhy(failure, at, fate)}`, {
        cause: error,
        at,
      });
}

function decodeFailure(error: unknown, at: RecordCoordinates, fate: Fate): Error {
  if (isConsumerError(error) && ["unhandled-event", "table-unknown"].includes(String(readMember(error, "code")))) {
    return toError(error);
  }
  if (isDecodeError(error) && typeof readMember(error, "locatedAt") === "function") {
    const { code, detail, cause, path } = error;
    return new DecodeError(code, `${placeText(at)}: ${detail}`, { cause, at, path });
  }
  const end = fate === "halt" ? `; ${causeSaysWhy}` : fateOfRecord[fate];
  return new ConsumerError("decoder-failed", `the decoder failed at ${placeText(at)}${end}`, { cause: error, at });
}

/** If a row was refused before its handler saw it, its own error says so. */
function handlerFailure(failure: Failure, at: RecordCoordinates, fate: Fate): Error {
  const { error, event } = failure;
  if (isConsumerError(error) && ["invalid-row", "unhandled-event"].includes(String(readMember(error, "code")))) {
    return toError(error);
  }
  const lacks = areSeveral(failure, at) ? "" : whatChangeLacks(error, event); // of several, it may be about another event
  return new ConsumerError("handler-failed", `a handler failed at ${whereAndWhy(failure, at, fate)}${lacks}`, { cause: error, at });
}

/** After `throw undefined`, and a rejection without a reason, there is no cause to look at. */
function whereAndWhy(failure: Failure, at: RecordCoordinates, fate: Fate): string {
  const { error, through } = failure;
  const text = areSeveral(failure, at)
    ? `${placeText(at)} to ${through}, which were handed on together${fateOfRecords[fate]}`
    : `${placeText(at)}${fateOfRecord[fate]}`;
  const isNothing = error === undefined || error === null;
  return isNothing ? text.replace(causeSaysWhy, `it threw ${String(error)}, which does not say why`) : text;
}

function areSeveral({ through }: Failure, { offset }: RecordCoordinates): boolean {
  return through !== null && through !== offset;
}
