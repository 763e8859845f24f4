import type { DriverSink, OpenWait } from "@cdckit/consumer";
import type { Place } from "@cdckit/driver";

const deleted = "topics were deleted";
const otherProducer = "another producer writes for a partition";
const firstPauseMs = 1_000;
const maxPauseMs = 10_000;
/** As long without a fence after a join, the partitions are this member's alone. It is longer than the other program's pause, if that has one like ours. */
const quietMs = 3 * maxPauseMs;

export interface DueJoinParts {
  readonly sink: Pick<DriverSink, "waiting">;
  /** The brokers' addresses. */
  readonly host: string;
}

/** Why kafkajs has to join again before its next fetch: partitions that are held must be given up. */
export class DueJoin {
  readonly #parts: DueJoinParts;
  #why: string | null = null;
  /** By partition: those that were fenced, until a transaction of theirs succeeds. */
  readonly #waits = new Map<string, OpenWait>();
  #pauseMs = 0;
  #dueMs = 0;
  /** When a partition was fenced last, or the group was joined after that. */
  #fencedMs = 0;

  constructor(parts: DueJoinParts) {
    this.#parts = parts;
  }

  /** kafkajs joins without them. */
  topicsDeleted(): void {
    this.#why = deleted;
  }

  /**
   * The transactional id of a partition is another producer's, of a former owner: the group knows whose it is. A program that is no member and has
   * the same id is fenced off by each join, and fences off this member with its next transaction. So each join comes after a longer pause.
   */
  fenced(place: Place, cause: unknown): void {
    const { sink, host } = this.#parts;
    const text = textOf(place);
    const wait = this.#waits.get(text) ?? sink.waiting?.({ what: "a transaction", host, place: text });
    if (wait !== undefined) {
      wait.failed(cause);
      this.#waits.set(text, wait);
    }
    this.#fencedMs = performance.now();
    if (this.#why === null) {
      this.#why = otherProducer;
      this.#dueMs = this.#fencedMs + this.#pauseMs;
      this.#pauseMs = Math.min(maxPauseMs, Math.max(firstPauseMs, 2 * this.#pauseMs));
    }
  }

  /** A transaction of this partition was carried out. */
  written(place: Place): void {
    this.#waits.get(textOf(place))?.end();
    this.#waits.delete(textOf(place));
  }

  /** The group was joined, and has assigned these partitions. One that was fenced while it was given up is over. */
  joined(assigned: readonly Place[]): void {
    this.#why = this.#why === otherProducer ? null : this.#why;
    this.#fencedMs = performance.now();
    const own = new Set(assigned.map(textOf));
    this.#endWaits((place) => !own.has(place));
  }

  /** The reason, once; null if kafkajs need not join. Asked before each fetch. */
  take(): string | null {
    const nowMs = performance.now();
    if (this.#why === null && this.#pauseMs > 0 && nowMs - this.#fencedMs >= quietMs) {
      this.#pauseMs = 0;
      this.#endWaits(() => true); // what the last owner has handled comes no more, so that no transaction may follow
    }
    if (this.#why === otherProducer && nowMs < this.#dueMs) {
      return null;
    }
    const why = this.#why;
    this.#why = null;
    return why;
  }

  #endWaits(isOver: (place: string) => boolean): void {
    for (const [place, wait] of this.#waits) {
      if (isOver(place)) {
        wait.end();
        this.#waits.delete(place);
      }
    }
  }
}

function textOf({ topic, partition }: Place): string {
  return `${topic}[${partition}]`;
}
