import { formatCount } from "../../report/quantities.ts";
import type { ContenderMeasure, SlowSinkMeasure } from "./drain-result.ts";
import type { DrainPlan } from "./run-drain.ts";

/** A drain of less is a burst out of what was fetched at once. */
const shortMs = 1_000;
/** The slow sink decides if it takes so much longer than a fast one alone, and the fast one ends when it does. */
const isSlowerBy = 1.2;
const isTogether = 0.9;

export function drainRules({
  rounds,
  checkpointRecords,
  usesProxy,
}: Pick<DrainPlan, "rounds" | "checkpointRecords" | "usesProxy">): readonly string[] {
  return [
    `Each consumer handles ${formatCount(checkpointRecords)} events, commits and stops; then the backlog is written; then it resumes. That first part is its warm-up.`,
    "Events a second are from the first to the last event: joining the group and the first fetch are apart.",
    "p50 and peak are of windows of 1 s, or of 100 ms if a drain is shorter than 10 s; the last window, which is not whole, does not count.",
    `Every kind is drained ${rounds} times, in turns, another one first each time; figures are the medians, and ± is the distance to the farthest round.`,
    "A handler reads every column of every event.",
    ...(usesProxy ? ["The proxy runs in this process: its work costs processor time that a proxy elsewhere would not."] : []),
  ];
}

/** What is to be known of these figures. */
export function drainNotes(
  { tuning, interrupt, workMs }: Pick<DrainPlan, "tuning" | "interrupt" | "workMs">,
  drains: readonly ContenderMeasure[],
  slowSink: SlowSinkMeasure | null,
): readonly string[] {
  const notes: string[] = [];
  const rounds = drains.flatMap((drain) => drain.rounds.map((round) => ({ label: drain.label, ...round })));
  const short = rounds.filter(({ rate, outcome }) => outcome === "caught-up" && rate.elapsedMs < shortMs);
  if (short.length > 0) {
    notes.push(`${short.length} of ${rounds.length} drains took less than a second: write more events (-n) for figures to rely on.`);
  }
  for (const { label, resumedAtCheckpoint, check, waitedMs, reconnects } of rounds) {
    if (resumedAtCheckpoint === false) {
      notes.push(`${label}: did not resume where its checkpoint was.`);
    }
    if (check !== null && check.found !== check.expected) {
      notes.push(`${label}: ${formatCount(check.found)} ${check.what}, expected ${formatCount(check.expected)}.`);
    }
    if (waitedMs >= 1) {
      notes.push(`${label}: waited ${formatCount(waitedMs)} ms for brokers or a store (${reconnects} connections replaced).`);
    }
  }
  if (tuning.concurrency > 1 && workMs === 0) {
    notes.push("A handler that waits for nothing gains nothing from concurrency: --work 1ms gives it something to wait for.");
  }
  if (slowSink !== null) {
    notes.push(isHeldBack(slowSink) ? heldBack : notHeldBack(slowSink));
  }
  if (interrupt.aborted) {
    notes.push("Interrupted: rounds that were under way count with what they had, and later ones are missing.");
  }
  return notes;
}

const heldBack =
  "The slow sink held the fast one back: records stay in memory until both have them, and delivery.maxInFlight, maxInFlightBytes and maxOutOfOrder bound how far one may run ahead. A consumer of its own for the slow sink frees the other.";

/** Whether the fast sink ended with the slow one, although it could have ended earlier. */
export function isHeldBack({ alone, fast, slow }: SlowSinkMeasure): boolean {
  return slow.elapsedMs > alone.elapsedMs * isSlowerBy && fast.elapsedMs > slow.elapsedMs * isTogether;
}

function notHeldBack({ fast, slow }: SlowSinkMeasure): string {
  const behindMs = Math.max(0, slow.elapsedMs - fast.elapsedMs);
  return `The slow sink did not hold the fast one back: it ended ${formatCount(behindMs)} ms after it. Both work in one process and share its processor.`;
}
