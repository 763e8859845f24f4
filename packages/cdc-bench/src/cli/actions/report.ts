import { stat } from "node:fs/promises";
import { extname } from "node:path";
import { BenchError } from "../../bench-error.ts";
import { exitCodes, type ExitCode } from "../../exit-codes.ts";
import { renderReport, type ReportFormat } from "../../presenters/render-report.ts";
import { openResultSink } from "../../report/result-sink.ts";
import { readResultFile, type ResultFile } from "../../result/result-file.ts";
import type { Terminal } from "../../terminal.ts";
import type { ReportFlags } from "../report.ts";

const formatByEnding: Readonly<Record<string, ReportFormat>> = {
  ".html": "html",
  ".htm": "html",
  ".md": "markdown",
  ".csv": "csv",
  ".txt": "text",
};

/** Everything is read and rendered before the output file is opened: a wrong file leaves an earlier report as it was. */
export async function report(files: readonly string[], { output, format, title }: ReportFlags, terminal: Terminal): Promise<ExitCode> {
  const wanted = format ?? formatByEnding[extname(output ?? "").toLowerCase()] ?? "html";
  if (wanted === "html" && output === undefined && terminal.screen !== undefined) {
    throw new BenchError("usage", "an HTML report is for a browser, not for a terminal: give -o report.html, or --format text.");
  }
  await refuseToOverwrite(files, output);
  const results: ResultFile[] = [];
  for (const file of files) {
    results.push(await readResultFile(file));
  }
  // Rendered twice only as text: how it looks depends on where it goes.
  const text = renderReport(results, wanted, { title });
  const sink = await openResultSink(terminal, output);
  try {
    await sink.write(wanted === "text" ? renderReport(results, wanted, { title, look: sink.look }) : text);
  } finally {
    await sink.close();
  }
  return exitCodes.ok;
}

/** `report a.json -o a.json` would leave nothing to make a report of. */
async function refuseToOverwrite(files: readonly string[], output: string | undefined): Promise<void> {
  const target = output === undefined ? null : await stat(output).catch(() => null);
  for (const file of files) {
    const source = target === null ? null : await stat(file).catch(() => null);
    if (source !== null && target?.isFile() === true && source.ino === target.ino && source.dev === target.dev) {
      throw new BenchError("usage", `-o ${output} is one of the results, and a report would overwrite it: name another file.`);
    }
  }
}
