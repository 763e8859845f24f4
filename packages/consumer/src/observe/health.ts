import type { HeldPartition } from "../delivery/partition-ledgers.ts";
import { withJson } from "../json-form.ts";
import type { LifecycleState, Phase } from "../lifecycle.ts";
import { haltText } from "./cause-text.ts";
import type { Counts } from "./counters.ts";
import { type WaitReport, waitTexts } from "./waits.ts";
import { type Suspicion, suspicionTexts } from "./watchdog.ts";

/** A partition that this member has. */
export interface PartitionHealth {
  /** The name of the topic. */
  readonly topic: string;
  /** The number of the partition, from 0. */
  readonly partition: number;
  /**
   * Records between what is handled and the end of the log, as the brokers last said it. Before anything is handled, it counts from the
   * offset at which the partition started, and is 0 if the log is empty. Null until both are known.
   */
  readonly lag: bigint | null;
  /** The offset below which everything is handled. Of a record that is still being handled, it may be the offset. Null before the first record. */
  readonly handledTo: bigint | null;
}

/** What `consumer.health()` answers at once, without asking anybody. */
export interface Health {
  /** Where the consumer is in its life, from `idle` to `stopped`. */
  readonly phase: Phase;
  /** The consumer should be kept. False after it has stopped or failed, and if its client does not fetch: a new consumer may help. */
  readonly live: boolean;
  /**
   * Connected, a member of the group, without a failure, and not held up. With `from: "latest"`, a record that is written from now on is
   * read: where the partitions start is known.
   */
  readonly ready: boolean;
  /** The partitions that this member holds, with their lag. Empty before the group has assigned any. */
  readonly assigned: readonly PartitionHealth[];
  /** When a record was last read, handled or set aside, or a fetched batch taken: milliseconds since the epoch. Null before the first. */
  readonly lastProgressAt: number | null;
  /** What became of records and events since the start. */
  readonly counts: Counts;
  /** What is waited for or retried, the oldest first. At most a hundred. */
  readonly waits: readonly WaitReport[];
  /** Why it is not ready, or what is wrong although it is. Empty if all is well. */
  readonly reasons: readonly string[];
}

export interface HealthFacts {
  readonly state: LifecycleState;
  readonly held: Iterable<HeldPartition>;
  readonly lastProgressAt: number | null;
  readonly counts: Counts;
  readonly blockedBy: string | null;
  /** The last range that was skipped, in words. Null if none was. */
  readonly lastLoss: string | null;
  /** The oldest first. */
  readonly waits: readonly WaitReport[];
  /** What the watch over the logs has found. */
  readonly suspicions: readonly Suspicion[];
  /** What else is wrong, in words: observing functions that failed, handlers that match nothing. */
  readonly notes: readonly string[];
  readonly stuckAfterMs: number;
  /**
   * Partitions without a commit start at the latest record, and the driver says which one that is. Before it has, a record that is written
   * is not read.
   */
  readonly startsAtLatest: boolean;
}

/** Most waits in a report. */
export const maxWaits = 100;

/** What a phase says of itself. Null if there is nothing to say. */
export const phaseReasons: Readonly<Record<Phase, string | null>> = {
  idle: "not started",
  connecting: "connecting to the brokers",
  running: null,
  draining: "stopping: handling what is in flight",
  closing: "stopping: leaving the group",
  stopped: "stopped",
};

/** The health report: facts, and sentences that say what is wrong. */
export function reportHealth(facts: HealthFacts): Health {
  const { state } = facts;
  const held = [...facts.held];
  const assigned = held.map(partitionHealth);
  const unlocated = facts.startsAtLatest ? held.filter(({ isLocated }) => !isLocated).length : 0;
  const isSuspect = facts.suspicions.length > 0;
  // A new consumer can read a partition whose client does not fetch. It cannot help if something is waited for, or if brokers do not
  // answer.
  const isClientStuck = facts.waits.length === 0 && facts.suspicions.some(({ kind }) => kind !== "unreachable");
  const isWaiting = facts.waits.some(({ forMs }) => forMs >= facts.stuckAfterMs);
  const reasons = [
    phaseReasons[state.phase],
    state.error === null ? null : haltText(state.error),
    state.phase === "running" && assigned.length === 0 ? "no partition is assigned" : null,
    unlocated > 0 ? `where the latest record is, is not known yet for ${unlocated} of ${held.length} partitions` : null,
    facts.blockedBy,
    facts.lastLoss,
    ...waitTexts(facts.waits),
    ...suspicionTexts(facts.suspicions, facts.waits.length > 0),
    ...facts.notes,
  ];
  return withJson({
    phase: state.phase,
    live: state.phase !== "stopped" && state.error === null && !isClientStuck,
    ready: state.phase === "running" && state.error === null && !isSuspect && !isWaiting && unlocated === 0,
    assigned,
    lastProgressAt: facts.lastProgressAt,
    counts: facts.counts,
    waits: facts.waits.slice(0, maxWaits),
    reasons: reasons.filter((reason) => reason !== null),
  });
}

function partitionHealth({ assignment, ledger, highWatermark, startedAt }: HeldPartition): PartitionHealth {
  const { topic, partition } = assignment;
  const handledTo = ledger.watermark;
  const standsAt = handledTo ?? startedAt;
  const lag = highWatermark === null || standsAt === null ? null : highWatermark > standsAt ? highWatermark - standsAt : 0n;
  return withJson({ topic, partition, lag, handledTo });
}
