import type { HeldPartition } from "../delivery/partition-ledgers.ts";
import { withJson } from "../json-form.ts";
import type { LifecycleState, Phase } from "../lifecycle.ts";
import type { Counts } from "./counters.ts";
import { type WaitReport, waitTexts } from "./waits.ts";
import { type Suspicion, suspicionTexts } from "./watchdog.ts";

export interface PartitionHealth {
  readonly topic: string;
  readonly partition: number;
  /** Records between what is handled and the end of the log at the last fetch; null until both are known. */
  readonly lag: bigint | null;
  /** The offset below which everything is handled; null until something is. */
  readonly handledTo: bigint | null;
}

export interface Health {
  readonly phase: Phase;
  /** Worth keeping: false once it has stopped or failed, or its client does not fetch: a new one may. */
  readonly live: boolean;
  /** Connected, member of the group, nothing failed, and what it took comes to an end. */
  readonly ready: boolean;
  readonly assigned: readonly PartitionHealth[];
  /** When a record was last handled or a batch taken: a point in time, in milliseconds since the epoch; null before the first. */
  readonly lastProgressAt: number | null;
  readonly counts: Counts;
  /** What is waited for or tried again, the oldest first; the first hundred of them. */
  readonly waits: readonly WaitReport[];
  /** Why it is not ready, or what is wrong although it is; empty where all is well. */
  readonly reasons: readonly string[];
}

export interface HealthFacts {
  readonly state: LifecycleState;
  readonly held: Iterable<HeldPartition>;
  readonly lastProgressAt: number | null;
  readonly counts: Counts;
  readonly blockedBy: string | null;
  /** The last range that was skipped, in words; null where none was. */
  readonly lastLoss: string | null;
  /** The oldest first. */
  readonly waits: readonly WaitReport[];
  /** What the watch over the logs has found. */
  readonly suspicions: readonly Suspicion[];
  /** What else is wrong, in words: functions that only look on and failed, handlers that match nothing. */
  readonly notes: readonly string[];
  readonly stuckAfterMs: number;
}

const maxWaits = 100;

const phaseReasons: Readonly<Record<Phase, string | null>> = {
  idle: "not started",
  connecting: "connecting to the brokers",
  running: null,
  draining: "stopping: handling what is in flight",
  closing: "stopping: leaving the group",
  stopped: "stopped",
};

/** The health report: facts, and in words what is wrong with them. */
export function reportHealth(facts: HealthFacts): Health {
  const { state } = facts;
  const assigned = [...facts.held].map(partitionHealth);
  const isSuspect = facts.suspicions.length > 0;
  // A new consumer reads a partition whose client does not fetch. What is waited for, and brokers that do not answer, are no better for it.
  const isClientStuck = facts.waits.length === 0 && facts.suspicions.some(({ kind }) => kind !== "unreachable");
  const isWaiting = facts.waits.some(({ forMs }) => forMs >= facts.stuckAfterMs);
  const reasons = [
    phaseReasons[state.phase],
    state.error?.message ?? null,
    state.phase === "running" && assigned.length === 0 ? "no partition is assigned" : null,
    facts.blockedBy,
    facts.lastLoss,
    ...waitTexts(facts.waits),
    ...suspicionTexts(facts.suspicions, facts.waits.length > 0),
    ...facts.notes,
  ];
  return withJson({
    phase: state.phase,
    live: state.phase !== "stopped" && state.error === null && !isClientStuck,
    ready: state.phase === "running" && state.error === null && !isSuspect && !isWaiting,
    assigned,
    lastProgressAt: facts.lastProgressAt,
    counts: facts.counts,
    waits: facts.waits.slice(0, maxWaits),
    reasons: reasons.filter((reason) => reason !== null),
  });
}

function partitionHealth({ assignment, ledger, highWatermark }: HeldPartition): PartitionHealth {
  const { topic, partition } = assignment;
  const handledTo = ledger.watermark;
  const lag = highWatermark === null || handledTo === null ? null : highWatermark > handledTo ? highWatermark - handledTo : 0n;
  return withJson({ topic, partition, lag, handledTo });
}
