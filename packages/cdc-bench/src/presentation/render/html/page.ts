import type { BenchResult } from "../../../result/bench-result.ts";
import type { LineChart, ReportDocument } from "../../document.ts";
import { escapeMarkup, visibleText } from "../escape.ts";
import { indentJson } from "../indent-json.ts";
import { pageScript, pageStyle } from "./assets.ts";
import { sectionHtml } from "./blocks.ts";
import { createPageContext, type PageContext } from "./page-context.ts";
import { factSections, verdictWords } from "./result-facts.ts";
import { scrollBox } from "./table.ts";

/** One result with what it says, and its JSON as it was written. */
export interface ReportedResult {
  /** What was measured. */
  readonly result: BenchResult;
  /** What the page says about it. */
  readonly document: ReportDocument;
  /** The result's JSON, which the page offers to be saved. */
  readonly json: string;
}

/**
 * One HTML file that needs nothing else: no request, no build. Style, script and data stand in it, and its Content-Security-Policy refuses
 * everything else. Without script it is complete but for zoom and download.
 */
export function renderHtml(results: readonly ReportedResult[], title: string): string {
  const context = createPageContext();
  const articles = results.map((each, i) => articleHtml(each, `result-${i + 1}`, context));
  const flame = results.some(({ document }) => document.sections.some(({ blocks }) => blocks.some(({ kind }) => kind === "flame")));
  const needs = { timeSeries: context.timeSeries.size > 0, flame };
  const style = pageStyle(needs);
  const script = pageScript(needs);
  const policy = `default-src 'none'; style-src ${style.source}; script-src ${script.source}; img-src data:; base-uri 'none'; form-action 'none'`;
  return [
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">',
    // An empty icon: a browser asks the server for one otherwise.
    `<title>${escapeMarkup(title)}</title><link rel="icon" href="data:,"><style>${style.text}</style></head><body>`,
    `<a class="skip" href="#content">Skip to the results</a><header class="page"><p class="brand">cdc-bench report</p><h1>${escapeMarkup(title)}</h1></header>`,
    contentsHtml(results),
    `<main id="content">${articles.join("")}</main>`,
    seriesData(context.timeSeries),
    `<script>${script.text}</script></body></html>\n`,
  ].join("\n");
}

/** What there is, with what each result says of itself first. */
function contentsHtml(results: readonly ReportedResult[]): string {
  const items = results.map(({ document, result }, i) => {
    const id = `result-${i + 1}`;
    const sections = sectionsOf(document, result).map(({ title }, k) => `<li><a href="#${id}-s${k + 1}">${escapeMarkup(title)}</a></li>`);
    const open = results.length === 1 ? " open" : "";
    return `<li><a class="to" href="#${id}">${escapeMarkup(document.title)}</a> <span class="about">${escapeMarkup(document.subtitle)}</span>${badges(result)}<details${open}><summary>Sections</summary><ol>${sections.join("")}</ol></details></li>`;
  });
  return `<nav aria-labelledby="contents"><h2 id="contents">Contents</h2><ol class="contents">${items.join("")}</ol></nav>`;
}

function articleHtml({ document, result, json }: ReportedResult, id: string, context: PageContext): string {
  const partial = document.isPartial ? '<p class="partial" role="note"><strong>Aborted:</strong> what follows is not all of it.</p>' : "";
  const sections = sectionsOf(document, result).map((section, i) => sectionHtml(section, `${id}-s${i + 1}`, context));
  const started = `<time datetime="${escapeMarkup(result.startedAt)}">${escapeMarkup(result.startedAt.replace("T", " ").replace(/\.\d+Z$/, " UTC"))}</time>`;
  const facts = `cdc-bench ${escapeMarkup(result.command)}, started ${started}, took ${escapeMarkup(elapsedText(result.elapsedMs))}`;
  return [
    `<article id="${id}" aria-labelledby="${id}-h"><header><h2 id="${id}-h">${escapeMarkup(document.title)}</h2>`,
    `<p class="subtitle">${escapeMarkup(document.subtitle)}</p><p class="facts">${facts}${badges(result)}</p></header>`,
    partial,
    ...sections,
    rawHtml(json, result, id),
    "</article>",
  ].join("");
}

function sectionsOf(document: ReportDocument, result: BenchResult): ReportDocument["sections"] {
  return [...document.sections, ...factSections(result)];
}

function rawHtml(json: string, { command }: BenchResult, id: string): string {
  const raw = scrollBox(`<pre id="${id}-raw">${escapeMarkup(indentJson(json))}</pre>`, "Raw JSON");
  const name = `cdc-bench-${command.replaceAll(/[^\w-]/g, "_")}.json`;
  // The script gives the link its address: the JSON stands in the page once.
  const download = `<a class="download" data-source="${id}-raw" download="${name}" hidden>Download ${name}</a>`;
  return `<section class="raw" aria-labelledby="${id}-raw-h"><h3 id="${id}-raw-h">Raw JSON</h3><p>${download}</p><details><summary>Show the JSON</summary>${raw}</details></section>`;
}

function badges(result: BenchResult): string {
  const verdict = verdictWords(result);
  const demanded = verdict === null ? "" : ` <span class="tag ${verdict.isMet ? "best" : "warning"}">${escapeMarkup(verdict.text)}</span>`;
  return `${result.aborted ? ' <span class="tag warning">aborted</span>' : ""}${demanded}`;
}

function elapsedText(elapsedMs: number): string {
  if (elapsedMs < 99_950) {
    return `${(elapsedMs / 1e3).toFixed(1)} s`;
  }
  const seconds = Math.round(elapsedMs / 1e3);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** What the script draws: one list of times for all curves of a chart, as the chart library wants it. */
function seriesData(charts: ReadonlyMap<string, LineChart>): string {
  if (charts.size === 0) {
    return "";
  }
  const data = [...charts].map(([id, { x, y, series }]) => {
    const times = [...new Set(series.flatMap(({ points }) => points.map(([time]) => time)))].filter(Number.isFinite).sort((a, b) => a - b);
    const curves = series.map(({ label, points }) => {
      const values = new Map(points);
      return { label: visibleText(label), values: times.map((time) => values.get(time) ?? null) };
    });
    return { id, x: { ...x, title: visibleText(x.title) }, y: { ...y, title: visibleText(y.title) }, times, curves };
  });
  // A data block ends at the first "</script": no "<" is left in it.
  return `<script type="application/json" id="time-series">${JSON.stringify(data).replaceAll("<", "\\u003c")}</script>`;
}
