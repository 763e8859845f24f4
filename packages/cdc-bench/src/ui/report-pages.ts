import { randomBytes } from "node:crypto";
import type { FlameGraph, ReportDocument } from "../presentation/document.ts";
import { presentResult } from "../presenters/present.ts";
import { renderCsv } from "../presentation/render/csv.ts";
import { renderHtml } from "../presentation/render/html/page.ts";
import { renderMarkdown } from "../presentation/render/markdown.ts";
import { renderText } from "../presentation/render/text.ts";
import type { BenchResult } from "../result/bench-result.ts";

/** A kept run: its result, as it was written and as it is read, and the flame graph that was recorded beside it. */
export interface RunToReport {
  readonly result: BenchResult;
  readonly text: string;
  readonly flame: FlameGraph | null;
}

/** By name, every form in which the report of a run can be had. */
export const reportForms: Readonly<Record<string, { readonly type: string; render(run: RunToReport): string }>> = {
  html: { type: "text/html; charset=utf-8", render: reportPage },
  md: { type: "text/markdown; charset=utf-8", render: (run) => renderMarkdown([documentOf(run)], undefined) },
  csv: { type: "text/csv; charset=utf-8", render: (run) => renderCsv([documentOf(run)]) },
  txt: { type: "text/plain; charset=utf-8", render: (run) => renderText(documentOf(run)) },
};

/** The report in one file that needs nothing else. */
export function reportPage(run: RunToReport): string {
  const document = documentOf(run);
  return renderHtml([{ result: run.result, document, json: run.text }], `${document.title}: ${document.subtitle}`);
}

function documentOf({ result, flame }: RunToReport): ReportDocument {
  const document = presentResult(result);
  const hasOwn = document.sections.some(({ blocks }) => blocks.some(({ kind }) => kind === "flame"));
  return flame === null || hasOwn ? document : { ...document, sections: [...document.sections, { title: "Profile", blocks: [flame] }] };
}

/**
 * Addresses of reports that a new tab can open: a tab sends no token, so the address itself is the secret. A report has a script of its own
 * (charts that zoom), and texts from topics: it gets an origin of its own, which cannot ask us for anything.
 */
export interface ReportAddresses {
  addressOf(id: string): string;
  idAt(address: string): string | null;
}

export const reportHeaders: Readonly<Record<string, string>> = {
  "content-security-policy":
    "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'",
};

export function createReportAddresses(): ReportAddresses {
  const addresses = new Map<string, string>();
  return {
    addressOf(id) {
      const known = addresses.get(id) ?? `/report/${randomBytes(24).toString("base64url")}`;
      addresses.set(id, known);
      return known;
    },
    idAt: (address) => [...addresses].find(([, known]) => known === address)?.[0] ?? null,
  };
}
