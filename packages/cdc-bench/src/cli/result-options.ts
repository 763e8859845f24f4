import { type Command, Option } from "commander";
import { BenchError } from "../bench-error.ts";
import type { ResultSink } from "../report/result-sink.ts";
import type { BenchResult } from "../result/bench-result.ts";
import type { DemandFlags } from "./demand-options.ts";

/** Every form in which a result can be written. */
export const outputFormats = ["text", "json", "markdown", "csv", "html"] as const;

export type OutputFormat = (typeof outputFormats)[number];

/** How a result is written: `--json` is short for `--output-format json`. */
export interface ResultFlags {
  readonly json?: boolean;
  readonly output?: string;
  readonly outputFormat?: OutputFormat;
}

export function addResultFlags(command: Command): Command {
  return command
    .option("--json", "the results as one JSON object (schema/result.schema.json)")
    .addOption(new Option("--output-format <format>", "how the results are written").choices(outputFormats).conflicts("json"))
    .option("-o, --output <file>", "write the results to a file in place of stdout");
}

/** Writes a result as the flags want it. Then rejects if its baseline has nothing to compare it with: that check would always pass. What renders it is loaded when there is something to render: `--help` needs none of it. */
export async function writeResult(
  sink: ResultSink,
  { json, outputFormat, baseline }: ResultFlags & Pick<DemandFlags, "baseline">,
  result: BenchResult,
): Promise<void> {
  const { renderResult } = await import("../presenters/render-report.ts");
  const isCompared = baseline === undefined || result.baseline.length > 0;
  const noted = isCompared ? result : { ...result, notes: [...result.notes, nothingCompared] };
  await sink.write(renderResult(noted, outputFormat ?? (json === true ? "json" : "text"), sink.look));
  if (!isCompared && !result.aborted) {
    throw new BenchError("usage", `--baseline ${baseline}: ${nothingCompared}`);
  }
}

/** Said when a run was interrupted too early for a result. */
export const nothingMeasured = "interrupted before anything was measured: there is no result.\n";

/** Whoever waits for exit code 98 would wait for ever. */
const nothingCompared =
  "Nothing was compared with the baseline: it has no figure of this run that is compared. It may be of other topics, formats or codecs.";
