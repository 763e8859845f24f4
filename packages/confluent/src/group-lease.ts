import type { Report } from "./statistics.ts";

export interface GroupLeaseParts {
  readonly sessionTimeoutMs: number;
  /** The group keeps this member for so long from now on. */
  readonly acknowledged: (validForMs: number) => void;
  readonly nowMs?: () => number;
  readonly wallMs?: () => number;
}

/** A report, and when it was read by the wall clock. */
interface TakenReport extends Report {
  readonly takenWallMs: number;
}

/** How many reports are remembered to compare librdkafka's clock with ours, if they are not the same. */
const remembered = 20;

/** No report is read as late as this: a larger difference is one of the clocks. */
const latestMs = 3_600_000;

/**
 * Knows when the group has last acknowledged this member. librdkafka sends the heartbeats and reports no answer, but from time to time how many
 * it has sent and whether one is unanswered. A heartbeat that a report counts, and the last one did not, was sent after the last one. If the next
 * report still finds a member, the answer was no refusal. So the session goes on at least from the report before the heartbeat. The time at which
 * librdkafka wrote that report counts, not the time at which it is read: a process that was frozen for minutes reads an old one. Its clock
 * stands still while the machine is suspended, so that the wall clock counts, too, if it says that the report is older.
 */
export class GroupLease {
  readonly #parts: GroupLeaseParts;
  readonly #nowMs: () => number;
  readonly #wallMs: () => number;
  /** How late reports were read, plus what the clocks differ by. */
  readonly #lags: number[] = [];
  #last: TakenReport | undefined;
  /** The report before the heartbeat that the last report has counted as answered. */
  #beforeAnswered: TakenReport | undefined;

  constructor(parts: GroupLeaseParts) {
    this.#parts = parts;
    this.#nowMs = parts.nowMs ?? (() => Number(process.hrtime.bigint()) / 1e6);
    this.#wallMs = parts.wallMs ?? Date.now;
  }

  take(report: Report): void {
    this.#lags.push(this.#nowMs() - report.atMs);
    this.#lags.splice(0, this.#lags.length - remembered);
    const last = this.#last;
    const confirmed = report.isMember ? this.#beforeAnswered : undefined;
    this.#last = { ...report, takenWallMs: this.#wallMs() };
    const isNew = last !== undefined && last.isMember && report.isMember && report.areAnswered && report.heartbeats > last.heartbeats;
    this.#beforeAnswered = isNew ? last : undefined;
    if (confirmed !== undefined) {
      const ageMs = Math.max(this.#nowMs() - confirmed.atMs - this.#differenceMs(), this.#wallMs() - confirmed.takenWallMs);
      this.#parts.acknowledged(this.#parts.sessionTimeoutMs - ageMs);
    }
  }

  /**
   * By how much our clock is ahead of librdkafka's. On Linux and Windows they are the same clock. Elsewhere it is taken for the smallest lag, which
   * is too much if a busy process reads all reports late.
   */
  #differenceMs(): number {
    const smallest = Math.min(...this.#lags);
    return smallest > -1 && smallest < latestMs ? 0 : smallest;
  }
}
