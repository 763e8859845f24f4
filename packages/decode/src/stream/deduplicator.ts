import type { CdcEvent, ChangeEvent } from "../event.ts";
import { isOfSnapshot } from "../position/position.ts";
import { resolveBounds } from "./bounds.ts";
import { canonicalText } from "./canonical-text.ts";
import { RecentMap } from "../recent-map.ts";
import { bindMethods } from "../bind-methods.ts";

/** The positions of changes in their source, and their order. */
export interface Positions<Position> {
  /** Null if an event has no position: it is a snapshot's row, or its source states no position. */
  positionOf(event: ChangeEvent): Position | null;
  /** Negative if `one` is before `other`, positive if it is after; null if they cannot be compared (another log, another server). */
  compare(one: Position, other: Position): number | null;
  /**
   * Whether two changes of one row may have the same position, as in a source that states only transactions. At such a position a second
   * change looks like one that was sent again, so at the last position no change counts as a duplicate: a change may come twice, but none
   * is lost.
   * @default false
   */
  isShared?(position: Position): boolean;
}

/** What a {@link Deduplicator} may remember. */
export interface DeduplicatorOptions {
  /**
   * The most tables of partitions whose last position is remembered. Duplicates of a forgotten table are not found.
   * @default 10_000
   */
  readonly maxPositions?: number;
  /**
   * The most changes at one position that are told apart (the two halves of a key change, the rows of one statement).
   * @default 10_000
   */
  readonly maxAtPosition?: number;
}

interface Last<Position> {
  position: Position;
  /** The changes seen at this position. */
  readonly changes: Set<string>;
}

/**
 * Finds changes that a connector sent again after it was restarted: those at or before the last position of their table in their partition.
 * Kafka's own redeliveries (an offset that was not committed) are at or before the last position too.
 *
 * A snapshot's rows have no position in the log and are never duplicates. A change that cannot be compared is not a duplicate either, and
 * its position is remembered.
 */
export class Deduplicator<Position> {
  readonly #positions: Positions<Position>;
  readonly #maxAtPosition: number;
  readonly #last: RecentMap<string, Last<Position>>;

  constructor(positions: Positions<Position>, options: DeduplicatorOptions = {}) {
    const { maxPositions, maxAtPosition } = resolveBounds({ maxPositions: 10_000, maxAtPosition: 10_000, ...options }, "Deduplicator");
    this.#positions = positions;
    this.#maxAtPosition = maxAtPosition;
    this.#last = new RecentMap(maxPositions);
    bindMethods(this);
  }

  /** Whether the event was seen before. If not, its position is remembered, so call this once per event. */
  isDuplicate(event: CdcEvent): boolean {
    if (event.kind !== "change" || isOfSnapshot(event)) {
      return false;
    }
    const position = this.#positions.positionOf(event);
    if (position === null) {
      return false;
    }
    const place = placeOf(event);
    const last = this.#last.get(place);
    const order = last === undefined ? null : this.#positions.compare(position, last.position);
    if (last === undefined || order === null || order > 0) {
      this.#last.set(place, { position, changes: new Set([changeOf(event)]) });
      return false;
    }
    const isShared = this.#positions.isShared?.(position) === true;
    return order < 0 || (!isShared && this.#isKnownAt(last, event));
  }

  #isKnownAt(last: Last<Position>, event: ChangeEvent): boolean {
    const change = changeOf(event);
    if (last.changes.has(change)) {
      return true;
    }
    if (last.changes.size < this.#maxAtPosition) {
      last.changes.add(change);
    }
    return false;
  }
}

function placeOf({ record, source, table }: ChangeEvent): string {
  return JSON.stringify([record.topic, record.partition, source.name, table.database, table.schema, table.name]);
}

/** The operation and the key of a change, or the row if it has no key. */
function changeOf({ op, key, before, after }: ChangeEvent): string {
  return `${op} ${canonicalText(key ?? [before, after])}`;
}
