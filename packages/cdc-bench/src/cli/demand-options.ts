import { type Command, InvalidArgumentError } from "commander";
import { readBaseline } from "../verdict/baseline.ts";
import { collectThresholds, type Threshold } from "../verdict/threshold.ts";
import type { Demands } from "../verdict/verdict.ts";

const defaultMaxRegression = 0.1;

export interface DemandFlags {
  readonly threshold?: readonly Threshold[];
  readonly baseline?: string;
  readonly maxRegression?: number;
}

export function addDemandFlags(command: Command): Command {
  return command
    .option("--threshold <expr>", "end with 99 unless it holds everywhere: 'decode.p99<250us', 'rate>=100k'; repeatable", collectThresholds)
    .option("--baseline <file>", "an earlier --json result: end with 98 if a rate, a median time, a size or errors got worse")
    .option("--max-regression <percent>", "how much worse is still well (default: 10%)", parsePercent);
}

/** Reads the baseline at once: a file that is none must not cost a run. */
export function resolveDemands(flags: DemandFlags, command: string): Demands {
  return {
    thresholds: flags.threshold ?? [],
    baseline: flags.baseline === undefined ? null : readBaseline(flags.baseline, command),
    maxRegression: flags.maxRegression ?? defaultMaxRegression,
  };
}

function parsePercent(text: string): number {
  const [, amount] = /^(\d+(?:\.\d+)?)%?$/.exec(text) ?? [];
  if (amount === undefined) {
    throw new InvalidArgumentError("It must be a percentage, such as 5%.");
  }
  return Number(amount) / 100;
}
