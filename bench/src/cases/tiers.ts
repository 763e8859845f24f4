import { performance } from "node:perf_hooks";
import { decodeCases } from "./decode.ts";
import type { CorpusName } from "../corpus.ts";

/** The tiers that decoding has, by the name that `@cdckit/decode` knows them by; `"none off"` is decoding as users have it. */
export const tierNames = ["generatedReaders", "fastPath"] as const;
export type TierOff = "none off" | (typeof tierNames)[number];

export interface TierResult {
  /** Of processor time, for each pass. */
  readonly roundsNs: readonly number[];
}

const warmUpMs = 1_500;

/** Decodes one corpus without one tier, in a process of its own: what V8 has learned of calls with the tier would slow those without. */
export async function measureTier(corpus: CorpusName, off: TierOff, measureMs: number): Promise<TierResult> {
  if (off !== "none off") {
    (globalThis as Record<symbol, unknown>)[Symbol.for("@cdckit/decode/tiers")] = { [off]: false };
  }
  const chosen = (await decodeCases()).find(({ name }) => name === corpus);
  if (chosen === undefined) {
    throw new TypeError(`there is no corpus called ${corpus}`);
  }
  const { pass, messages } = chosen.ours;
  const warmUntil = performance.now() + warmUpMs;
  while (performance.now() < warmUntil) {
    await pass();
  }
  const roundsNs: number[] = [];
  const until = performance.now() + measureMs;
  while (performance.now() < until) {
    const before = process.cpuUsage();
    await pass();
    roundsNs.push((process.cpuUsage(before).user * 1_000) / messages);
  }
  return { roundsNs };
}
