import type { Clock } from "../clock.ts";
import type { Logger } from "../observe/logger.ts";
import type { MatchReason, MatchWatch } from "./match-watch.ts";

export interface MatchReportParts {
  readonly watch: MatchWatch;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Topics of which partitions were assigned. */
  readonly topics: () => readonly string[];
  /** Records that were read. */
  readonly records: () => number;
}

/**
 * Nothing is reported before this time has passed, or this many records were read: the next record may be for that handler.
 */
const graceMs = 5_000;
const graceRecords = 1_000;

/** Reports handlers that have taken nothing: as reasons of the health report, and once each as a warning. */
export class MatchReport {
  readonly #parts: MatchReportParts;
  readonly #reported = new Set<string>();
  #startedMs: number | null = null;
  /** What was found when the consumer stopped: after that, nothing more comes. Null before. */
  #last: readonly MatchReason[] | null = null;
  #cancel: () => void = () => {};

  constructor(parts: MatchReportParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#startedMs = this.#parts.clock.nowMs();
    this.#lookLater();
  }

  /** The last look, so that a run shorter than the grace period is reported, too. */
  stop(): void {
    this.#cancel();
    this.#last = this.#found();
    this.#report(this.#last);
  }

  get reasons(): readonly string[] {
    if (this.#last !== null) {
      return this.#last.map(({ text }) => text);
    }
    const { clock, records } = this.#parts;
    const isDue = this.#startedMs !== null && (records() >= graceRecords || clock.nowMs() - this.#startedMs >= graceMs);
    return isDue ? this.#found().map(({ text }) => text) : [];
  }

  #found(): readonly MatchReason[] {
    return this.#parts.watch.reasons(this.#parts.topics());
  }

  #lookLater(): void {
    this.#cancel = this.#parts.clock.after(graceMs, () => {
      this.#report(this.#found());
      this.#lookLater();
    });
  }

  #report(reasons: readonly MatchReason[]): void {
    for (const { label, text } of reasons) {
      if (!this.#reported.has(label)) {
        this.#reported.add(label);
        this.#parts.logger.warn({ reason: text }, "a handler does not match what is read");
      }
    }
  }
}
