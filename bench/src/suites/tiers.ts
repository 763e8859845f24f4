import { fileURLToPath } from "node:url";
import { tierNames, type TierOff, type TierResult } from "../cases/tiers.ts";
import { environment } from "../environment.ts";
import { runProcess } from "../run-process.ts";
import { quarterOf, type Spread, spreadOf } from "../spread.ts";

const corpora = ["json-with-schema", "json", "confluent-avro", "confluent-protobuf"] as const;

/** A tier stays if it makes decoding of one corpus at least so much faster. */
const minGain = 0.1;

interface TierFigures extends Spread {
  readonly corpus: string;
  readonly tier: string;
  /** Time without the tier by time with it, round against round. */
  readonly ratios: readonly number[];
}

/** What each tier of decoding is worth: each corpus with all tiers, and without one, in alternating processes. */
export async function runTiers({
  rounds,
  roundMs,
  signal,
}: {
  readonly rounds: number;
  readonly roundMs: number;
  readonly signal: AbortSignal;
}): Promise<{ text: string; result: object }> {
  const before = environment();
  const figures: TierFigures[] = [];
  for (const corpus of corpora) {
    const times = new Map<TierOff, number[]>();
    for (let round = 0; round < rounds; round++) {
      for (const off of ["none off", ...tierNames] as const) {
        times.set(off, [...(times.get(off) ?? []), await timeOf(corpus, off, roundMs, signal)]);
      }
    }
    const all = times.get("none off") ?? [];
    figures.push(...tierNames.map((tier) => figuresOf(corpus, tier, all, times.get(tier) ?? [])));
  }
  const lines = figures.map(
    ({ corpus, tier, median, min, max }) =>
      `${corpus}: without ${tier} ${median.toFixed(2)}x the time [${min.toFixed(2)} to ${max.toFixed(2)}]`,
  );
  const verdicts = tierNames.map((tier) => {
    const best = Math.max(...figures.filter((one) => one.tier === tier).map(({ median }) => median));
    return `${tier}: ${best >= 1 + minGain ? "stays" : "GOES"}, worth ${Math.round((best - 1) * 100)}% at its best (at least ${minGain * 100}% wanted)`;
  });
  return {
    text: ["tiers, processor time of decoding", ...lines, ...verdicts].join("\n"),
    result: { environment: before, rounds, roundMs, minGain, figures },
  };
}

async function timeOf(corpus: string, off: TierOff, measureMs: number, signal: AbortSignal): Promise<number> {
  const child = fileURLToPath(new URL("../tiers-child.js", import.meta.url));
  const args = [child, corpus, off, String(measureMs)];
  const { stdout } = await runProcess(process.execPath, args, { signal, deadlineSeconds: 120 });
  const { roundsNs } = JSON.parse(stdout) as TierResult;
  return quarterOf(roundsNs);
}

function figuresOf(corpus: string, tier: string, all: readonly number[], without: readonly number[]): TierFigures {
  const ratios = without.map((ns, i) => ns / (all[i] ?? Number.NaN)).sort((a, b) => a - b);
  return { corpus, tier, ratios, ...spreadOf(ratios) };
}
