import { withJson } from "../json-form.ts";
import type { LifecycleState } from "../lifecycle.ts";
import { haltText } from "../observe/cause-text.ts";
import { type Counts, Counters } from "../observe/counters.ts";
import { type Health, maxWaits, phaseReasons } from "../observe/health.ts";

/** The health of a consumer with `workers`: of all threads together, as each said it at most a second ago. */
export interface WorkersHealth extends Health {
  /** By number. Null until a thread has made its consumer. */
  readonly workers: readonly (Health | null)[];
}

/** What is known of one thread. */
export interface ThreadReport {
  /** Null: it has given none yet. */
  readonly health: Health | null;
  /** Why its health is old, or not there yet, or why the thread outlives its consumer; null if none of this is so. */
  readonly notice: string | null;
}

/**
 * What several members report as one: live while each is, ready when all are. Reasons and waits say whose they are. The lags of all
 * partitions stand beside each other, because a partition has one reader.
 */
export function joinedHealth(state: LifecycleState, threads: readonly ThreadReport[], notes: readonly string[]): WorkersHealth {
  const workers = threads.map(({ health }) => health);
  const known = workers.filter((health) => health !== null);
  const isOn = state.phase !== "stopped" && state.error === null;
  const progress = known.map(({ lastProgressAt }) => lastProgressAt).filter((at) => at !== null);
  const ofWorkers = threads.flatMap((thread, index) => reasonsOf(thread, state).map((reason) => `worker ${index + 1}: ${reason}`));
  return withJson({
    phase: state.phase,
    live: isOn && known.every(({ live }) => live),
    ready: isOn && state.phase === "running" && known.length === workers.length && known.every(({ ready }) => ready),
    assigned: known.flatMap(({ assigned }) => assigned).map((partition) => withJson({ ...partition })),
    lastProgressAt: progress.length === 0 ? null : Math.max(...progress),
    counts: sumOf(known.map(({ counts }) => counts)),
    waits: workers
      .flatMap((health, index) => (health?.waits ?? []).map((wait) => ({ ...wait, what: `worker ${index + 1}: ${wait.what}` })))
      .sort((a, b) => a.since - b.since)
      .slice(0, maxWaits),
    reasons: [phaseReasons[state.phase], state.error === null ? null : haltText(state.error), ...ofWorkers, ...notes].filter(
      (reason) => reason !== null,
    ),
    workers: workers.map((health) => (health === null ? null : withJson({ ...health }))),
  });
}

/** Before the start and after the end, all threads are what the whole is. */
function reasonsOf({ health, notice }: ThreadReport, { phase }: LifecycleState): readonly string[] {
  if (phase === "idle" || phase === "stopped") {
    return [];
  }
  if (health === null) {
    return [notice ?? "it is loading its module"];
  }
  return notice === null ? health.reasons : [notice, ...health.reasons];
}

function sumOf(all: readonly Counts[]): Counts {
  const sum = new Counters().snapshot() as { -readonly [Name in keyof Counts]: Counts[Name] };
  for (const counts of all) {
    for (const name of Object.keys(sum) as (keyof Counts)[]) {
      if (name !== "filtered") {
        sum[name] += counts[name];
      }
    }
    sum.filtered = addedTo(sum.filtered, counts.filtered);
  }
  return sum;
}

function addedTo(sum: Counts["filtered"], more: Counts["filtered"]): Counts["filtered"] {
  const entries = Object.entries(sum).map(([reason, count]) => [reason, count + more[reason as keyof typeof more]]);
  return Object.fromEntries(entries) as Counts["filtered"]; // the same names
}
