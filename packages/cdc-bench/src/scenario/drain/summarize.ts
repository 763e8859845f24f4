import { medianOf, summarizeRates } from "../../measure/rounds.ts";
import { formatCount } from "../../report/quantities.ts";
import type { Metric } from "../../verdict/metric.ts";
import { percentileMetrics } from "../../verdict/metrics-of.ts";
import type { Places } from "../catch-up/tap-driver.ts";
import type { ContenderMeasure, DeliveryCost, DrainRound } from "./drain-result.ts";
import type { Contender } from "./contenders.ts";

export function contenderMeasure({ label, target, delivery }: Contender, rounds: readonly DrainRound[]): ContenderMeasure {
  const whole = (of: "p50" | "peak"): number | null => {
    const figures = rounds.map(({ rate }) => rate.perSecond[of]).filter((figure) => figure !== null);
    return figures.length < rounds.length || figures.length === 0 ? null : medianOf(figures);
  };
  return {
    label,
    target,
    delivery,
    avg: summarizeRates(rounds.map(({ rate }) => rate.perSecond.avg)),
    p50: whole("p50"),
    peak: whole("peak"),
    bytesPerSecond: summarizeRates(rounds.map(({ bytesPerSecond }) => bytesPerSecond)),
    rounds,
  };
}

/** Effectively-once against at-least-once, of targets that have both. Rounds are compared with each other: they lie close in time. */
export function deliveryCostsOf(drains: readonly ContenderMeasure[]): readonly DeliveryCost[] {
  return drains.flatMap((once) => {
    const atLeast = drains.find(({ target, delivery }) => target === once.target && delivery === "at-least-once");
    const pairs = Math.min(once.rounds.length, atLeast?.rounds.length ?? 0);
    if (once.delivery !== "effectively-once" || atLeast === undefined || pairs === 0) {
      return [];
    }
    const byRound = Array.from({ length: pairs }, (_, i) => [once.rounds[i] as DrainRound, atLeast.rounds[i] as DrainRound] as const);
    return [
      {
        target: once.target,
        percent: summarizeRates(byRound.map(([a, b]) => (1 - a.rate.perSecond.avg / b.rate.perSecond.avg) * 100)),
        msPerCommit: summarizeRates(byRound.map(([a, b]) => (a.rate.elapsedMs - b.rate.elapsedMs) / Math.max(1, a.batches))),
      },
    ];
  });
}

/** Whether each partition went on after its checkpoint. Null if nothing is known of the first fetches. */
export function resumedAtCheckpoint(topic: string, committed: ReadonlyMap<number, bigint>, firstOffsets: Places): boolean | null {
  const first = firstOffsets.get(topic);
  if (first === undefined || first.size === 0) {
    return null;
  }
  // A partition that had nothing before the checkpoint has no commit, and starts at its first record.
  return [...first].every(([partition, offset]) => offset === (committed.get(partition) ?? 0n));
}

/**
 * What a store holds that it must not, in a sentence: fewer than were written, or with effectively-once another number. With at-least-once there may be
 * more, as after a fault. Null if all that was counted is right.
 */
export function brokenPromiseOf(drains: readonly Pick<ContenderMeasure, "label" | "delivery" | "rounds">[]): string | null {
  for (const { label, delivery, rounds } of drains) {
    const broken = rounds
      .map(({ check }) => check)
      .find((check) => check !== null && (delivery === "effectively-once" ? check.found !== check.expected : check.found < check.expected));
    if (broken !== undefined && broken !== null) {
      return `${label}: ${formatCount(broken.found)} ${broken.what}, expected ${formatCount(broken.expected)}: records were lost or written twice.`;
    }
  }
  return null;
}

export function drainMetrics(drains: readonly ContenderMeasure[], costs: readonly DeliveryCost[]): readonly Metric[] {
  const ofDrains = drains.flatMap(({ label, target, avg, p50, peak, bytesPerSecond, rounds }): readonly Metric[] => [
    { name: "rate", scope: label, value: avg.median },
    ...(p50 === null ? [] : [{ name: "rate.p50", scope: label, value: p50 } as const]),
    ...(peak === null ? [] : [{ name: "rate.peak", scope: label, value: peak } as const]),
    { name: "throughput", scope: label, value: bytesPerSecond.median },
    ...(target === "handler" ? [] : rounds.slice(-1).flatMap(({ calls }) => percentileMetrics("commit", label, calls))),
    { name: "errors", scope: label, value: rounds.reduce((sum, { errors }) => sum + errors.reduce((n, { records }) => n + records, 0), 0) },
  ]);
  const ofCosts = costs.map(({ target, percent }) => ({ name: "delivery.cost", scope: target, value: percent.median }) as const);
  return [...ofDrains, ...ofCosts];
}
