import { type Command, Option } from "commander";
import type { ResultSink } from "../report/result-sink.ts";
import type { BenchResult } from "../result/bench-result.ts";

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
    .addOption(new Option("--output-format <format>", "how the results are written").choices(outputFormats))
    .option("-o, --output <file>", "write the results to a file in place of stdout");
}

/** Writes a result as the flags want it. What renders it is loaded when there is something to render: `--help` needs none of it. */
export async function writeResult(sink: ResultSink, { json, outputFormat }: ResultFlags, result: BenchResult): Promise<void> {
  const { renderResult } = await import("../presenters/render-report.ts");
  await sink.write(renderResult(result, outputFormat ?? (json === true ? "json" : "text"), sink.look));
}
