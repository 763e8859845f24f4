import type { ColumnHints } from "../encoding/json/learn.ts";
import { isDecodeError } from "../errors.ts";
import type { CdcEvent } from "../event.ts";
import type { ColumnSemantics } from "./column-semantics.ts";

/** Reads the record with the meanings there are; null where something must be loaded first. */
type Read = () => readonly CdcEvent[] | null;

/** Returned where a value contradicts what was learned. */
const contradicted: unique symbol = Symbol("contradicted");

/**
 * Reads a record with what was learned of the last record's table; where it turns out to be of another one, it is read again. What
 * contradicts what was learned (the column was altered, and its schema change has not come yet) is read as if nothing had been.
 */
export function readLearned(
  semantics: ColumnSemantics,
  read: Read,
  wantedFor: (events: readonly CdcEvent[]) => ColumnHints,
): readonly CdcEvent[] | null {
  const guess = semantics.columns;
  const guessed = attempt(semantics, read);
  const events = guessed === contradicted ? readPlainly(semantics, read) : guessed;
  if (events === null) {
    return null;
  }
  const wanted = wantedFor(events);
  return guessed === contradicted && wanted === guess ? events : readAsWanted(semantics, events, wanted, read);
}

/** The events of a record that was read, read again where its table wants other meanings than it was read with. */
export function readAsWanted(
  semantics: ColumnSemantics,
  events: readonly CdcEvent[],
  wanted: ColumnHints,
  read: Read,
): readonly CdcEvent[] | null {
  if (wanted === semantics.columns) {
    return events;
  }
  semantics.columns = wanted;
  const reread = attempt(semantics, read);
  return reread === contradicted ? readPlainly(semantics, read) : reread;
}

function attempt(semantics: ColumnSemantics, read: Read): readonly CdcEvent[] | null | typeof contradicted {
  try {
    return read();
  } catch (error) {
    if (!semantics.areLearned || !isDecodeError(error)) {
      throw error;
    }
    return contradicted;
  }
}

function readPlainly(semantics: ColumnSemantics, read: Read): readonly CdcEvent[] | null {
  semantics.columns = semantics.hinted;
  return read();
}
