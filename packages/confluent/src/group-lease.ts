import type { Report } from "./statistics.ts";

export interface GroupLeaseParts {
  readonly sessionTimeoutMs: number;
  /** The group keeps this member for so long from now on. */
  readonly acknowledged: (validForMs: number) => void;
  readonly nowMs?: () => number;
}

/** How many reports are remembered to compare librdkafka's clock with ours. */
const remembered = 20;

/**
 * Knows when the group has last acknowledged this member. librdkafka sends the heartbeats and reports no answer, but from time to time how many
 * it has sent and whether one is unanswered. A heartbeat that a report counts, and the last one did not, was sent after the last one. If the next
 * report still finds a member, the answer was no refusal. So the session goes on at least from the report before the heartbeat. The time at which
 * librdkafka wrote that report counts, not the time at which it is read: a process that was frozen for minutes reads an old one.
 */
export class GroupLease {
  readonly #parts: GroupLeaseParts;
  readonly #nowMs: () => number;
  /** How late reports were read, plus what the clocks differ by. The smallest is what they differ by. */
  readonly #lags: number[] = [];
  #last: Report | undefined;
  /** The report before the heartbeat that the last report has counted as answered. */
  #beforeAnswered: Report | undefined;

  constructor(parts: GroupLeaseParts) {
    this.#parts = parts;
    this.#nowMs = parts.nowMs ?? (() => performance.now());
  }

  take(report: Report): void {
    this.#lags.push(this.#nowMs() - report.atMs);
    this.#lags.splice(0, this.#lags.length - remembered);
    const last = this.#last;
    const confirmed = report.isMember ? this.#beforeAnswered : undefined;
    this.#last = report;
    const isNew = last !== undefined && last.isMember && report.isMember && report.areAnswered && report.heartbeats > last.heartbeats;
    this.#beforeAnswered = isNew ? last : undefined;
    if (confirmed !== undefined) {
      const ageMs = this.#nowMs() - confirmed.atMs - Math.min(...this.#lags);
      this.#parts.acknowledged(this.#parts.sessionTimeoutMs - ageMs);
    }
  }
}
