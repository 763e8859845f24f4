import { type CdcEvent, DecodeError, isDecodeError, type RecordCoordinates } from "@cdckit/decode";
import { ConsumerError, isConsumerError } from "../errors.ts";
import { readMember, toError } from "../user-code/user-value.ts";
import { whatChangeLacks } from "./missing-image.ts";

const causeSaysWhy = "the cause says why";

/** What becomes of work that failed, as the end of the sentence that says so. */
export type Fate = "halt" | "dead-letter";

/** The error that `run()` rejects with, or that a dead letter names, when a record could not be decoded. */
export function decodeFailure(error: unknown, at: RecordCoordinates, fate: Fate): Error {
  if (isConsumerError(error) && ["unhandled-event", "table-unknown"].includes(String(readMember(error, "code")))) {
    return toError(error);
  }
  if (isDecodeError(error) && typeof readMember(error, "locatedAt") === "function") {
    const { code, detail, cause, path } = error;
    return new DecodeError(code, `${place(at)}: ${detail}`, { cause, at, path });
  }
  const end = fate === "halt" ? `; ${causeSaysWhy}` : fateOfRecord[fate];
  return new ConsumerError("decoder-failed", `the decoder failed at ${place(at)}${end}`, { cause: error, at });
}

/**
 * The error that `run()` rejects with, or that a dead letter names, when a handler threw or rejected. If a row was refused before its handler
 * saw it, its own error says so.
 */
export function handlerFailure(error: unknown, work: HandedOn, event: CdcEvent | null): Error {
  const { at, through } = work;
  if (isConsumerError(error) && ["invalid-row", "unhandled-event"].includes(String(readMember(error, "code")))) {
    return toError(error);
  }
  const lacks = through === null || through === at.offset ? whatChangeLacks(error, event) : ""; // otherwise it may be about another event
  return new ConsumerError("handler-failed", `a handler failed at ${saidWhy(places(work), error)}${lacks}`, { cause: error, at });
}

/** `throw undefined`, and a rejection without a reason, of a handler or of a sink: there is no cause to look at. */
function saidWhy(text: string, error: unknown): string {
  const isNothing = error === undefined || error === null;
  return isNothing ? text.replace(causeSaysWhy, `it threw ${String(error)}, which does not say why`) : text;
}

/** The error that `run()` rejects with, or that a dead letter names, when a sink could not apply what it was given. */
export function sinkFailure(error: unknown, work: HandedOn, sink: string): Error {
  return new ConsumerError("sink-failed", `the sink ${JSON.stringify(sink)} failed at ${saidWhy(places(work), error)}`, {
    cause: error,
    at: work.at,
  });
}

/** What was handed on, and what becomes of it. */
export interface HandedOn {
  readonly at: RecordCoordinates;
  /** If it was several records, of which any may be to blame: the offset of the last. */
  readonly through: bigint | null;
  readonly fate: Fate;
}

/** A dead letter is committed as a handled record is, and its text comes without the cause: that one's message may quote the row. */
const fateOfRecord: Readonly<Record<Fate, string>> = {
  halt: `; ${causeSaysWhy}, and the record was not committed`,
  "dead-letter": "; the record became a dead letter",
};

const fateOfRecords: Readonly<Record<Fate, string>> = {
  halt: `; ${causeSaysWhy}, and none of them was committed`,
  "dead-letter": "; they became dead letters",
};

function places({ at, through, fate }: HandedOn): string {
  return through === null || through === at.offset
    ? `${place(at)}${fateOfRecord[fate]}`
    : `${place(at)} to ${through}, which were handed on together${fateOfRecords[fate]}`;
}

/** The place of a record, in the form of every message, reason and log line of the consumer. */
export function place({ topic, partition, offset }: RecordCoordinates): string {
  return `${topic}[${partition}]@${offset}`;
}
