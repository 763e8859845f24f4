import { isDecodeError } from "../../errors.ts";
import type { CdcEvent } from "../../event.ts";
import { isPending, type Outcome } from "../pending.ts";
import type { RecordReading } from "../record-reading.ts";
import type { ColumnSemantics } from "./column-semantics.ts";

/** Reads the value of the record with the current semantics. */
type Read = (reading: RecordReading) => Outcome;

/** Returned for a value that contradicts what was learned. */
const contradicted: unique symbol = Symbol("contradicted");

/**
 * Reads a record with what was learned about the table of the last record.
 * 1. A topic with the tables A and B: after a record of A, the semantics of A are current. A record of B is read with them first, its event
 * then names B, and the record is read again with the semantics of B.
 * 2. A column was altered, and its schema change has not arrived yet: the value contradicts what was learned. The record is then read with
 * the hints alone. It is not read again with the semantics that it has just contradicted.
 */
export function readWithLearned(semantics: ColumnSemantics, reading: RecordReading, read: Read): Outcome {
  const guess = semantics.columns;
  const guessed = attempt(semantics, reading, read);
  const outcome = guessed === contradicted ? readWithHinted(semantics, reading, read) : guessed;
  if (isPending(outcome)) {
    return outcome;
  }
  const isRefuted = guessed === contradicted && wantedFor(semantics, reading, outcome) === guess;
  return isRefuted ? outcome : rereadIfWanted(semantics, { reading, events: outcome }, read);
}

/** The events of a record that was read. If its table needs other semantics than it was read with, the record is read again. */
export function rereadIfWanted(
  semantics: ColumnSemantics,
  { reading, events }: { readonly reading: RecordReading; readonly events: readonly CdcEvent[] },
  read: Read,
): Outcome {
  const wanted = wantedFor(semantics, reading, events);
  if (wanted === semantics.columns) {
    return events;
  }
  semantics.columns = wanted;
  const outcome = attempt(semantics, reading, read);
  return outcome === contradicted ? readWithHinted(semantics, reading, read) : outcome;
}

function wantedFor(
  semantics: ColumnSemantics,
  { keyRoute, rowRoute }: RecordReading,
  events: readonly CdcEvent[],
): ColumnSemantics["columns"] {
  return semantics.wantedFor(events, keyRoute.type, rowRoute);
}

function attempt(semantics: ColumnSemantics, reading: RecordReading, read: Read): Outcome | typeof contradicted {
  try {
    return read(reading);
  } catch (error) {
    if (!semantics.areLearned || reading.isGuess || !isDecodeError(error)) {
      throw error;
    }
    return contradicted;
  }
}

function readWithHinted(semantics: ColumnSemantics, reading: RecordReading, read: Read): Outcome {
  semantics.columns = semantics.hinted;
  return read(reading);
}
