import type { ColumnHints } from "../encoding/json/learn.ts";
import { isDecodeError } from "../errors.ts";
import type { CdcEvent } from "../event.ts";
import type { ColumnMeanings } from "./column-meanings.ts";

/** Reads the record with the meanings there are; null where something must be loaded first. */
type Read = () => readonly CdcEvent[] | null;

/** Returned where a value contradicts what was learned. */
const contradicted: unique symbol = Symbol("contradicted");

/**
 * Reads a record with what was learned of the last record's table; where it turns out to be of another one, it is read again. What
 * contradicts what was learned (the column was altered, and its schema change has not come yet) is read as if nothing had been.
 */
export function readLearned(
  meanings: ColumnMeanings,
  read: Read,
  wantedFor: (events: readonly CdcEvent[]) => ColumnHints,
): readonly CdcEvent[] | null {
  const guess = meanings.columns;
  const guessed = attempt(meanings, read);
  const events = guessed === contradicted ? readPlainly(meanings, read) : guessed;
  if (events === null) {
    return null;
  }
  const wanted = wantedFor(events);
  return guessed === contradicted && wanted === guess ? events : readAsWanted(meanings, events, wanted, read);
}

/** The events of a record that was read, read again where its table wants other meanings than it was read with. */
export function readAsWanted(
  meanings: ColumnMeanings,
  events: readonly CdcEvent[],
  wanted: ColumnHints,
  read: Read,
): readonly CdcEvent[] | null {
  if (wanted === meanings.columns) {
    return events;
  }
  meanings.columns = wanted;
  const again = attempt(meanings, read);
  return again === contradicted ? readPlainly(meanings, read) : again;
}

function attempt(meanings: ColumnMeanings, read: Read): readonly CdcEvent[] | null | typeof contradicted {
  try {
    return read();
  } catch (error) {
    if (!meanings.areLearned || !isDecodeError(error)) {
      throw error;
    }
    return contradicted;
  }
}

function readPlainly(meanings: ColumnMeanings, read: Read): readonly CdcEvent[] | null {
  meanings.columns = meanings.stated;
  return read();
}
