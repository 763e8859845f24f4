import { toJsonText } from "../report/json-text.ts";
import type { TextLook } from "../report/text-look.ts";
import type { BenchResult } from "../result/bench-result.ts";
import { BenchError } from "../bench-error.ts";
import type { ReportDocument } from "../presentation/document.ts";
import { presentResult } from "./present.ts";
import { renderCsv } from "../presentation/render/csv.ts";
import { renderHtml, type ReportedResult } from "../presentation/render/html/page.ts";
import { renderMarkdown } from "../presentation/render/markdown.ts";
import { renderText } from "../presentation/render/text.ts";

/** Every form of a report that people or programs read, JSON apart. */
export type ReportFormat = "html" | "markdown" | "csv" | "text";

/** A result as it was written, and as it was read from there. */
export interface WrittenResult {
  /** Where it was read from, for errors. */
  readonly file?: string;
  readonly result: BenchResult;
  readonly json: string;
}

export interface ReportOptions {
  /**
   * The heading of the page.
   * @default what the results are called
   */
  readonly title?: string | undefined;
  /** How text looks where it is read. */
  readonly look?: TextLook;
}

/** Several results in one report. Each is presented as its JSON has it. */
export function renderReport(results: readonly WrittenResult[], format: ReportFormat, { title, look }: ReportOptions = {}): string {
  const reported = results.map((each) => ({ ...each, document: documentOf(each) }));
  const documents = reported.map(({ document }) => document);
  switch (format) {
    case "html":
      return renderHtml(reported, title ?? defaultTitle(reported));
    case "markdown":
      return renderMarkdown(documents, title ?? (documents.length === 1 ? undefined : defaultTitle(reported)));
    case "csv":
      return renderCsv(documents);
    case "text":
      return documents.map((document) => renderText(document, look)).join("\n\n");
  }
}

/** A file may be what the schema asks for and still lack what a presenter reads: that is the file's fault. */
function documentOf({ file, result }: WrittenResult): ReportDocument {
  try {
    return presentResult(result);
  } catch (error) {
    if (file === undefined || error instanceof BenchError) {
      throw error;
    }
    throw new BenchError(
      "usage",
      `cannot report ${file}: it lacks what a result of ${result.command} has. Measure again with this version.`,
      {
        cause: error,
      },
    );
  }
}

/** One result in any form, from the run that it came from. */
export function renderResult(result: BenchResult, format: ReportFormat | "json", look: TextLook): string {
  const json = toJsonText(result);
  return format === "json" ? `${json}\n` : renderReport([{ result: JSON.parse(json) as BenchResult, json }], format, { look });
}

function defaultTitle(reported: readonly ReportedResult[]): string {
  const [first] = reported;
  return first !== undefined && reported.length === 1
    ? `${first.document.title}: ${first.document.subtitle}`
    : [...new Set(reported.map(({ document }) => document.title))].join(", ");
}
