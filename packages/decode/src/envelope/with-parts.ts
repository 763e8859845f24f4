import type { CdcEvent, ChangeEvent, RowEvent } from "../event.ts";
import { EnvelopedChange } from "./change-event.ts";
import { PlainRow, Tombstone } from "./control-events.ts";

/** The parts of an event that a validator may replace. */
export interface EventParts {
  /** The key of the record. */
  readonly key?: unknown;
  /** The row before a change. */
  readonly before?: ChangeEvent["before"];
  /** The row after a change. */
  readonly after?: ChangeEvent["after"];
  /** The row of an event without an envelope. */
  readonly row?: RowEvent["row"];
}

/**
 * Another event that has these parts, and everything else from this one, which stays as it is: others may have it, too. Null if the event is
 * no change, row or tombstone of the classes here.
 */
export function withParts(event: CdcEvent, parts: EventParts): CdcEvent | null {
  if (event instanceof EnvelopedChange || event instanceof PlainRow || event instanceof Tombstone) {
    const copy = event.copy();
    // A class of the user's that extends one of these has a copy of another class, unless it makes its own.
    return copy.constructor === event.constructor ? (Object.assign(copy, event, parts) as CdcEvent) : null;
  }
  return null;
}
