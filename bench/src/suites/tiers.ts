import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { tierNames, type TierOff, type TierResult } from "../cases/tiers.ts";
import { environment } from "../environment.ts";

const corpora = ["json-with-schema", "json", "confluent-avro", "confluent-protobuf"] as const;

/** A tier stays if it makes decoding of one corpus at least so much faster. */
const minGain = 0.1;

interface TierFigures {
  readonly corpus: string;
  readonly tier: string;
  /** Time without the tier by time with it, round against round. */
  readonly ratios: readonly number[];
  readonly median: number;
}

/** What each tier of decoding is worth: each corpus with all tiers, and without one, in alternating processes. */
export function runTiers({
  rounds,
  roundMs,
}: {
  readonly rounds: number;
  readonly roundMs: number;
}): Promise<{ text: string; result: object }> {
  const before = environment();
  const figures: TierFigures[] = [];
  for (const corpus of corpora) {
    const times = new Map<TierOff, number[]>();
    for (let round = 0; round < rounds; round++) {
      for (const off of ["none off", ...tierNames] as const) {
        times.set(off, [...(times.get(off) ?? []), timeOf(corpus, off, roundMs)]);
      }
    }
    const all = times.get("none off") ?? [];
    figures.push(...tierNames.map((tier) => figuresOf(corpus, tier, all, times.get(tier) ?? [])));
  }
  const lines = figures.map(
    ({ corpus, tier, ratios, median }) =>
      `${corpus}: without ${tier} ${median.toFixed(2)}x the time [${(ratios[0] ?? 0).toFixed(2)} to ${(ratios.at(-1) ?? 0).toFixed(2)}]`,
  );
  const verdicts = tierNames.map((tier) => {
    const best = Math.max(...figures.filter((one) => one.tier === tier).map(({ median }) => median));
    return `${tier}: ${best >= 1 + minGain ? "stays" : "GOES"}, worth ${Math.round((best - 1) * 100)}% at its best (at least ${minGain * 100}% wanted)`;
  });
  return Promise.resolve({
    text: ["tiers, processor time of decoding", ...lines, ...verdicts].join("\n"),
    result: { environment: before, rounds, roundMs, minGain, figures },
  });
}

function timeOf(corpus: string, off: TierOff, measureMs: number): number {
  const child = fileURLToPath(new URL("../tiers-child.js", import.meta.url));
  const { roundsNs } = JSON.parse(
    execFileSync(process.execPath, [child, corpus, off, String(measureMs)], { encoding: "utf8" }),
  ) as TierResult;
  return roundsNs.toSorted((a, b) => a - b)[roundsNs.length >> 2] ?? Number.NaN; // a quarter of the passes: others disturb the machine
}

function figuresOf(corpus: string, tier: string, all: readonly number[], without: readonly number[]): TierFigures {
  const ratios = without.map((ns, i) => ns / (all[i] ?? Number.NaN)).sort((a, b) => a - b);
  return { corpus, tier, ratios, median: ratios[ratios.length >> 1] ?? Number.NaN };
}
