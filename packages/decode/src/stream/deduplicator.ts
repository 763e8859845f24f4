import type { CdcEvent, ChangeEvent } from "../event.ts";
import { resolveBounds } from "./bounds.ts";
import { canonicalText } from "./canonical-text.ts";
import { RecentMap } from "./recent-map.ts";
import { bindMethods } from "../bind-methods.ts";

/** Where changes stand in their source, and which of two came first. */
export interface Positions<Position> {
  /** Null where an event has no position: a snapshot's rows, or a source that states none. */
  positionOf(event: ChangeEvent): Position | null;
  /** Below zero where `one` is before `other`, above where it is after; null where they cannot be compared (another log, another server). */
  compare(one: Position, other: Position): number | null;
  /**
   * Whether two changes of one row may stand at this position, as where a source states transactions alone. They cannot be told from one
   * that was sent again, so that at the last position nothing is a duplicate then: rather twice than lost.
   * @default false
   */
  isShared?(position: Position): boolean;
}

/** What a {@link Deduplicator} may remember. */
export interface DeduplicatorOptions {
  /**
   * Tables of partitions whose last position is remembered. What is forgotten comes twice where it is delivered twice.
   * @default 10_000
   */
  readonly maxPositions?: number;
  /**
   * Changes at one and the same position that are told apart (the two halves of a key change, the rows of one statement).
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
 * Knows changes that a connector sent again after it was restarted: those at or before the last position of their table in their
 * partition. Kafka's own redeliveries (an offset that was not committed) are older than the last position too.
 *
 * A snapshot's rows have no place in the log and are never duplicates; nor is what cannot be compared, which is remembered instead.
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

  /** Whether the event was seen before. Remembers its position where it was not: ask once an event. */
  isDuplicate(event: CdcEvent): boolean {
    if (event.kind !== "change" || event.source.snapshot !== false) {
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

/** A row's key and what happened to it; without a key, the row. */
function changeOf({ op, key, before, after }: ChangeEvent): string {
  return `${op} ${canonicalText(key ?? [before, after])}`;
}
