import { formatCount } from "../../report/quantities.ts";
import { kneeTolerance } from "./knee.ts";
import type { SweepOutcome, SweepPlan } from "./run-sweep.ts";

export function sweepRules({ rounds, pointMs, usesProxy }: Pick<SweepPlan, "rounds" | "pointMs" | "usesProxy">): readonly string[] {
  return [
    "One setting is varied at a time around the base; where a knee is better than the base, the values halfway to its neighbours are measured, too. Then all knees together are measured in turns with the base.",
    `The knee is the smallest value whose median rate is within ${kneeTolerance * 100}% of the best.`,
    `Each value is measured ${rounds} times, in turns with the others and with the base; figures are medians. A first measurement warms up and does not count.`,
    `A difference counts if it is larger than ${kneeTolerance * 100}% and than the noise: half of the range of all measurements of the base.`,
    `Every measurement is a new group that reads from the first record, for ${formatCount(pointMs)} ms at most. Events a second are from its first to its last event, or to where its time was up.`,
    ...(usesProxy ? ["The proxy runs in this process: its work costs processor time that a proxy elsewhere would not."] : []),
  ];
}

export function sweepNotes(
  { workMs, dimensions, timeLimitMs, interrupt }: Pick<SweepPlan, "workMs" | "dimensions" | "timeLimitMs" | "interrupt">,
  { isComplete, noise, curves, combined }: Pick<SweepOutcome, "isComplete" | "noise" | "curves" | "combined">,
): readonly string[] {
  const notes: string[] = [];
  if (!isComplete) {
    notes.push(`Time was up after ${formatCount(timeLimitMs / 1e3)} s: --time-limit gives more, --dimensions and --rounds ask for less.`);
  }
  if (noise !== null && noise > 2 * kneeTolerance) {
    notes.push(
      `The machine is noisy (±${(noise * 100).toFixed(1)}%): knees may be chance. Use a quiet one, more --rounds and more events (-n).`,
    );
  }
  if (workMs === 0 && dimensions.some(({ name }) => name === "concurrency")) {
    notes.push("The handler waits for nothing, so concurrency gains nothing: --work 1ms gives it something to wait for.");
  }
  if (!curves.some(({ isBetter }) => isBetter)) {
    notes.push("No setting is better than the base by more than noise: the configuration is the base.");
  } else if (combined === null) {
    notes.push("All knees together were not measured, so the configuration is the base, although a knee is better.");
  } else if (!combined.isBetter) {
    notes.push("All knees together are not better than the base by more than noise: the configuration is the base.");
  }
  if (interrupt.aborted) {
    notes.push("Interrupted: what was not measured yet is missing.");
  }
  return notes;
}
