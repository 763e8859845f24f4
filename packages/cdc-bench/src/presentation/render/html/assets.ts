import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { packageRoot } from "../../../package-root.ts";

const require = createRequire(import.meta.url);

/** A style sheet or script that stands in the page itself, with what its Content-Security-Policy allows it by. */
export interface InlineAsset {
  readonly text: string;
  /** `'sha256-...'` */
  readonly source: string;
}

/** What a page holds that needs a script, or a style sheet, of its own. */
export interface PageNeeds {
  readonly timeSeries: boolean;
  readonly flame: boolean;
}

export function pageStyle({ timeSeries }: PageNeeds): InlineAsset {
  return inlined([...(timeSeries ? [libraryFile("uPlot.min.css")] : []), ownAsset("report.css")]);
}

export function pageScript({ timeSeries, flame }: PageNeeds): InlineAsset {
  return inlined([
    ownAsset("downloads.js"),
    ...(flame ? [ownAsset("flame-zoom.js")] : []),
    ...(timeSeries ? [libraryFile("uPlot.iife.min.js"), ownAsset("time-series.js")] : []),
  ]);
}

function ownAsset(name: string): string {
  return readFileSync(new URL(`assets/report/${name}`, packageRoot), "utf8");
}

function libraryFile(name: string): string {
  return readFileSync(join(dirname(require.resolve("uplot/package.json")), "dist", name), "utf8");
}

function inlined(texts: readonly string[]): InlineAsset {
  const text = texts.join("\n");
  return { text, source: `'sha256-${createHash("sha256").update(text).digest("base64")}'` };
}
