import type { LogRange, PartitionAssignment } from "../driver.ts";

/** What is known of a partition at one look. */
export interface WatchedPartition {
  readonly assignment: PartitionAssignment;
  /** Everything below is handled. Null while nothing is. */
  readonly handledTo: bigint | null;
  /** Where it started, as the driver has said. Null until it has. */
  readonly startedAt: bigint | null;
  /** A handler, a retry or a registry is waited for: a slow partition is not stuck. */
  readonly isAtWork: boolean;
}

/** What one look found. */
export type Suspicion =
  /** There is something to read, nobody is at work on it, and nothing has moved for too long. */
  | { readonly kind: "stuck"; readonly assignment: PartitionAssignment; readonly forMs: number; readonly lag: bigint }
  /** The log ends below what was handled: it was truncated, or the topic was deleted and created again. */
  | { readonly kind: "truncated"; readonly assignment: PartitionAssignment; readonly handledTo: bigint; readonly end: bigint }
  /** For too long, the brokers have not said where a log ends, or, if `assignment` is null, where any log does. */
  | { readonly kind: "unreachable"; readonly assignment: PartitionAssignment | null; readonly forMs: number };

interface Seen {
  readonly handledTo: bigint | null;
  /** There was something to read at that look. */
  readonly isBehind: boolean;
  readonly isStuck: boolean;
  readonly sinceMs: number;
  /** The last answer; null if there was none. */
  readonly log: LogRange | null;
  /** When it came. Without one, the first look. */
  readonly answeredMs: number;
}

/**
 * Detects a consumer that is alive and reads nothing, whatever its client says: clients have been seen to send heartbeats for hours with
 * partitions assigned and no fetch under way (https://github.com/confluentinc/confluent-kafka-javascript/issues/476). It compares what is
 * handled with the end of the log, which is not asked for through the client's fetches.
 */
export class Watchdog {
  readonly #stuckAfterMs: number;
  /** Longer than this without an answer, the brokers count as gone. */
  readonly #maxSilentMs: number;
  readonly #seen = new Map<PartitionAssignment, Seen>();
  #answeredMs: number | null = null;

  /** `intervalMs`: how often it looks. One answer for each look is no silence, however far apart looks are. */
  constructor(stuckAfterMs: number, intervalMs: number) {
    const half = stuckAfterMs / 2;
    this.#stuckAfterMs = stuckAfterMs;
    this.#maxSilentMs = Math.max(half, intervalMs + Math.min(half, intervalMs / 2));
  }

  /** `ranges` is null if the brokers did not answer. */
  look(nowMs: number, partitions: readonly WatchedPartition[], ranges: readonly LogRange[] | null): readonly Suspicion[] {
    this.#forgetOthers(partitions);
    const silentMs = nowMs - (this.#answeredMs ?? nowMs);
    if (silentMs > this.#maxSilentMs) {
      this.#seen.clear(); // the brokers are gone, or were: a client has all of its time again once they are back
    }
    this.#answeredMs = ranges === null ? nowMs - silentMs : nowMs;
    const logs = new Map(ranges?.map((range) => [range.assignment, range]));
    const suspicions = partitions.flatMap((partition) => [
      ...this.#lookAt(partition, nowMs, logs.get(partition.assignment) ?? null),
      ...this.#silenceOf(partition, nowMs),
    ]);
    const isUnreachable = ranges === null && silentMs >= this.#stuckAfterMs && partitions.length > 0;
    return isUnreachable ? [...suspicions, { kind: "unreachable", assignment: null, forMs: silentMs }] : suspicions;
  }

  /**
   * Without an answer, the log is taken to end where it last did: a question that fails now and then must not hide that nothing moves. But nothing is
   * suspected anew.
   */
  #lookAt({ assignment, handledTo, startedAt, isAtWork }: WatchedPartition, nowMs: number, answer: LogRange | null): readonly Suspicion[] {
    const seen = this.#seen.get(assignment);
    const log = answer ?? seen?.log ?? null;
    // Before a member has handled anything, it stands where it started. That may be above the group's commit: a sink whose process was killed
    // between its transaction and the commit goes on at its own checkpoint, and if that is the end of the log, there is nothing to read.
    // If the driver does not say where it started, it is taken to stand at the commit; without one, nobody knows whether it should move.
    const standsAt = handledTo ?? startedAt ?? log?.committed ?? null;
    const isBehind = log !== null && standsAt !== null && log.end > standsAt && !isAtWork;
    const sinceMs = seen?.isBehind === true && isBehind && seen.handledTo === handledTo ? seen.sinceMs : nowMs;
    const forMs = nowMs - sinceMs;
    const isStuck = isBehind && forMs >= this.#stuckAfterMs && (answer !== null || seen?.isStuck === true);
    const answeredMs = answer === null ? lastAnswerMs(seen, nowMs) : nowMs;
    this.#seen.set(assignment, { handledTo, isBehind, isStuck, sinceMs, log, answeredMs });
    if (answer !== null && handledTo !== null && answer.end < handledTo) {
      return [{ kind: "truncated", assignment, handledTo, end: answer.end }];
    }
    return isStuck ? [{ kind: "stuck", assignment, forMs, lag: log.end - standsAt }] : [];
  }

  /** The brokers may answer for others, and not for this partition, whose leader is away. */
  #silenceOf({ assignment }: WatchedPartition, nowMs: number): readonly Suspicion[] {
    const forMs = nowMs - lastAnswerMs(this.#seen.get(assignment), nowMs);
    return forMs >= this.#stuckAfterMs ? [{ kind: "unreachable", assignment, forMs }] : [];
  }

  #forgetOthers(partitions: readonly WatchedPartition[]): void {
    const held = new Set(partitions.map(({ assignment }) => assignment));
    for (const assignment of this.#seen.keys()) {
      if (!held.has(assignment)) {
        this.#seen.delete(assignment);
      }
    }
  }
}

function lastAnswerMs(seen: Seen | undefined, nowMs: number): number {
  return seen?.answeredMs ?? nowMs;
}

const maxShown = 10;

/** The sentences of a health report. Their number is limited, because a client that does not fetch fetches none of its partitions. */
export function suspicionTexts(suspicions: readonly Suspicion[], isWaiting: boolean): readonly string[] {
  const texts = suspicions.slice(0, maxShown).map((suspicion) => suspicionText(suspicion, isWaiting));
  return suspicions.length > maxShown
    ? [...texts, `${suspicions.length - maxShown} more partitions do not move, or nobody says where their logs end`]
    : texts;
}

/** The sentence of a health report. `isWaiting`: something is waited for, and may hold the partition up. */
export function suspicionText(suspicion: Suspicion, isWaiting: boolean = false): string {
  switch (suspicion.kind) {
    case "stuck": {
      const { topic, partition } = suspicion.assignment;
      return `${topic}[${partition}] has ${suspicion.lag} records to read, and nothing has moved for ${seconds(suspicion.forMs)}: ${isWaiting ? "it may be held up by what is waited for" : "the client does not fetch"}`;
    }
    case "truncated": {
      const { topic, partition } = suspicion.assignment;
      return (
        `${topic}[${partition}] ends at offset ${suspicion.end}, and everything below ${suspicion.handledTo} was handled: ` +
        "the log was truncated, or the topic was deleted and created again"
      );
    }
    case "unreachable": {
      const { assignment, forMs } = suspicion;
      const which = assignment === null ? "the logs end" : `the log of ${assignment.topic}[${assignment.partition}] ends`;
      return `the brokers have not said for ${seconds(forMs)} where ${which}`;
    }
  }
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1_000)} s`;
}
