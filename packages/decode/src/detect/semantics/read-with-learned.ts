import { isDecodeError } from "../../errors.ts";
import type { CdcEvent } from "../../event.ts";
import { isPending, type Outcome } from "../pending.ts";
import type { RecordReading } from "../record-reading.ts";
import type { ColumnSemantics } from "./column-semantics.ts";

/** Reads the record's value with the semantics that there are. */
type Read = (reading: RecordReading) => Outcome;

/** Returned for a value that contradicts what was learned. */
const contradicted: unique symbol = Symbol("contradicted");

/**
 * Reads a record with what was learned of the last record's table; if it turns out to be of another one, it is read again. What
 * contradicts what was learned (the column was altered, and its schema change has not come yet) is read as if nothing had been.
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

/** The events of a record that was read, read again if its table wants other semantics than it was read with. */
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
    if (!semantics.areLearned || !isDecodeError(error)) {
      throw error;
    }
    return contradicted;
  }
}

function readWithHinted(semantics: ColumnSemantics, reading: RecordReading, read: Read): Outcome {
  semantics.columns = semantics.hinted;
  return read(reading);
}
