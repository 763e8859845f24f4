import { performance } from "node:perf_hooks";
import type { SchemaSource } from "@cdckit/decode";
import { BenchError } from "../../bench-error.ts";
import type { Fault } from "../../load/fault.ts";
import { openFaultProxy } from "../../load/fault-proxy.ts";
import { summarizeRates } from "../../measure/rounds.ts";
import type { Observer } from "../../observe/observer.ts";
import { formatCount } from "../../report/quantities.ts";
import { catchUp } from "../catch-up/catch-up.ts";
import type { ClusterAccess } from "../catch-up/cluster-access.ts";
import type { Places } from "../catch-up/tap-driver.ts";
import { handlerTarget } from "../catch-up/targets/handler.ts";
import type { Tuning } from "../catch-up/tuning.ts";
import { type Dimension, dimensionOf, refinedValues, withValue } from "./dimensions.ts";
import { isBetter, kneeOf, noiseOf, pointsOf } from "./knee.ts";
import type { CombinedMeasure, SweepCurve, SweepResult } from "./sweep-result.ts";

export interface SweepPlan {
  readonly cluster: ClusterAccess;
  readonly topics: readonly string[];
  readonly ends: Places;
  readonly records: number;
  /** What open transactions hold back behind the ends, in sentences. */
  readonly heldBack: readonly string[];
  readonly schemas: SchemaSource | undefined;
  readonly base: Tuning;
  readonly dimensions: readonly Dimension[];
  readonly rounds: number;
  readonly workMs: number;
  /** No point is measured for longer. */
  readonly pointMs: number;
  readonly timeLimitMs: number;
  readonly faults: readonly Fault[];
  readonly usesProxy: boolean;
  readonly interrupt: AbortSignal;
  readonly observer: Observer;
  record<T>(work: () => Promise<T>): Promise<T>;
}

export interface SweepOutcome extends Pick<SweepResult, "base" | "noise" | "curves" | "combined"> {
  /** Whether everything was measured before time was up. */
  readonly isComplete: boolean;
  /** Records that could not be decoded, over all points. */
  readonly errorRecords: number;
}

/** One setting at a time around the base, then the values beside each knee, then all knees together against the base. */
export async function runSweep(plan: SweepPlan): Promise<SweepOutcome> {
  const sweep = new Sweep(plan);
  await sweep.warmUp();
  const curves: SweepCurve[] = [];
  for (const dimension of plan.dimensions) {
    const curve = await sweep.curveOf(dimension);
    if (curve !== null) {
      curves.push(curve);
    }
  }
  const combined = await sweep.combine(curves);
  return {
    ...sweep.base(),
    curves: curves.map((curve) => sweep.judged(curve)),
    combined,
    isComplete: sweep.isComplete,
    errorRecords: sweep.errorRecords,
  };
}

/**
 * The base with every knee that is better. Batches of a partition are handled one after the other, so they and concurrency exclude each
 * other: the better one stays. Returns the base itself if there is no such knee.
 */
export function combinedTuning(base: Tuning, curves: readonly Pick<SweepCurve, "name" | "knee" | "isBetter">[]): Tuning {
  const better = curves.flatMap(({ name, knee, isBetter: isTaken }) => (isTaken && knee !== null ? [{ name, knee }] : []));
  const rateOf = (isOf: (name: string) => boolean): number =>
    Math.max(0, ...better.filter(({ name }) => isOf(name)).map(({ knee }) => knee.rate.median));
  const isBatch = (name: string): boolean => name.startsWith("batch-");
  const isConcurrency = (name: string): boolean => name === "concurrency";
  const isWorse = rateOf(isBatch) >= rateOf(isConcurrency) ? isConcurrency : isBatch;
  const isBoth = rateOf(isBatch) > 0 && rateOf(isConcurrency) > 0;
  return better
    .filter(({ name }) => !(isBoth && isWorse(name)))
    .reduce((tuning, { name, knee }) => withValue(tuning, dimensionOf(name), knee.value), base);
}

/** A value, or null for the base. */
type Value = number | null;

class Sweep {
  readonly #plan: SweepPlan;
  readonly #startedAtMs = performance.now();
  readonly #baseRates: number[] = [];
  #points = 0;
  isComplete = true;
  errorRecords = 0;
  #firstError = "";

  constructor(plan: SweepPlan) {
    this.#plan = plan;
  }

  /** Compiles the code and fills the brokers' cache; it does not count. Rejects if nothing can be decoded: no setting changes that. */
  async warmUp(): Promise<void> {
    const rate = await this.#measure(this.#plan.base, "warm-up");
    if (rate === null && this.errorRecords > 0) {
      const records = `none of ${formatCount(this.errorRecords)} records of ${this.#plan.topics.join(", ")} could be decoded`;
      throw new BenchError("decode-errors", `${records}. The first: ${this.#firstError}`);
    }
  }

  async curveOf(dimension: Dimension): Promise<SweepCurve | null> {
    this.#plan.observer.note(`${dimension.name}: ${dimension.values.join(", ")}, and the base`);
    const rates = new Map<number, number[]>();
    await this.#rounds(dimension, dimension.values, rates);
    const knee = kneeOf(pointsOf(rates));
    if (knee !== null && isBetter(knee.rate.median, this.#baseRate(), this.#noise())) {
      await this.#rounds(dimension, refinedValues([...rates.keys()], knee.value), rates);
    }
    const points = pointsOf(rates);
    const { name, option, unit } = dimension;
    return points.length === 0 ? null : this.judged({ name, option, unit, points, knee: kneeOf(points), isBetter: false });
  }

  /** Judged again by all measurements of the base, once there are more. */
  judged(curve: SweepCurve): SweepCurve {
    return { ...curve, isBetter: curve.knee !== null && isBetter(curve.knee.rate.median, this.#baseRate(), this.#noise()) };
  }

  async combine(curves: readonly SweepCurve[]): Promise<CombinedMeasure | null> {
    const tuning = combinedTuning(
      this.#plan.base,
      curves.map((curve) => this.judged(curve)),
    );
    if (tuning === this.#plan.base) {
      return null;
    }
    this.#plan.observer.note("all knees together, in turns with the base");
    const rates: number[] = [];
    const baseRates: number[] = [];
    for (let round = 0; round < this.#plan.rounds; round++) {
      for (const isBase of round % 2 === 0 ? [true, false] : [false, true]) {
        const rate = await this.#measure(isBase ? this.#plan.base : tuning, isBase ? "base" : "combined");
        if (rate !== null) {
          (isBase ? baseRates : rates).push(rate);
        }
      }
    }
    this.#baseRates.push(...baseRates);
    if (rates.length === 0 || baseRates.length === 0) {
      return null;
    }
    const rate = summarizeRates(rates);
    const baseRate = summarizeRates(baseRates);
    return { tuning, rate, baseRate, isBetter: isBetter(rate.median, baseRate.median, this.#noise()) };
  }

  base(): Pick<SweepResult, "base" | "noise"> {
    return { base: { tuning: this.#plan.base, rate: summarizeRates(this.#baseRates) }, noise: this.#noise() };
  }

  /** Every value once in each round, another one first each time, and the base among them. */
  async #rounds(dimension: Dimension, values: readonly number[], rates: Map<number, number[]>): Promise<void> {
    const turns: readonly Value[] = [null, ...values];
    for (let round = 0; round < (values.length === 0 ? 0 : this.#plan.rounds); round++) {
      for (let turn = 0; turn < turns.length; turn++) {
        const value = turns[(round + turn) % turns.length] ?? null;
        const tuning = value === null ? this.#plan.base : withValue(this.#plan.base, dimension, value);
        const rate = await this.#measure(tuning, `${dimension.name} ${value ?? "base"}, round ${round + 1} of ${this.#plan.rounds}`);
        if (rate === null) {
          continue;
        }
        if (value === null) {
          this.#baseRates.push(rate);
        } else {
          rates.set(value, [...(rates.get(value) ?? []), rate]);
        }
      }
    }
  }

  /** Events a second; null if there is no time left, or nothing was handled. */
  async #measure(tuning: Tuning, phase: string): Promise<number | null> {
    const { cluster, interrupt, timeLimitMs, pointMs, usesProxy, faults } = this.#plan;
    if (interrupt.aborted) {
      return null;
    }
    if (performance.now() - this.#startedAtMs >= timeLimitMs) {
      this.isComplete = false;
      return null;
    }
    const groupId = await cluster.makeGroup(`point-${++this.#points}`);
    const proxy = usesProxy ? await openFaultProxy(faults) : null;
    try {
      const { connection } = cluster;
      const { topics, ends, schemas, observer, workMs, records } = this.#plan;
      const target = handlerTarget(tuning, workMs);
      const measured = await this.#plan.record(() =>
        catchUp({
          connection,
          groupId,
          topics,
          ends,
          expectedRecords: records,
          tuning,
          schemas,
          target,
          proxy,
          interrupt,
          observer,
          phase,
          maxDurationMs: pointMs,
        }),
      );
      this.#firstError ||= measured.errors[0]?.example ?? "";
      this.errorRecords += measured.errors.reduce((sum, { records: count }) => sum + count, 0);
      const isHalf = measured.outcome === "interrupted" || measured.events === 0;
      return isHalf ? null : measured.rate.perSecond.avg;
    } finally {
      await proxy?.close();
      await cluster.remove({ kind: "consumer-group", name: groupId }).catch(() => {}); // tried again, and said, at the end of the command
    }
  }

  #baseRate(): number {
    return summarizeRates(this.#baseRates).median;
  }

  #noise(): number | null {
    return noiseOf(this.#baseRates);
  }
}
