import { sparkline } from "../../report/block-charts.ts";
import { formatDuration } from "../../report/quantities.ts";
import type { Block, Cell, FlameGraph, LineChart, ReportDocument, Section, StackedBars, Table, TableHead, Winners } from "../document.ts";
import { areaShares } from "../flame-layout.ts";
import { percent, shares, stackLabels } from "./chart/stack-chart.ts";
import { tickText } from "./chart/tick-text.ts";
import { visibleText } from "./escape.ts";

const barCells = 20;
/** Rows that a curve gets: its other points are in the JSON. */
const maxPoints = 12;

/** The document as GitHub and others show it. Ends with a newline. */
export function renderMarkdown(documents: readonly ReportDocument[], title: string | undefined): string {
  const heading = title === undefined ? [] : [`# ${escapeMarkdown(title)}`];
  const level = title === undefined ? "#" : "##";
  return `${[...heading, ...documents.map((document) => documentText(document, level))].join("\n\n")}\n`;
}

function documentText({ title, subtitle, isPartial, sections }: ReportDocument, level: string): string {
  const partial = isPartial ? ["**ABORTED: what follows is not all of it.**"] : [];
  return [
    `${level} ${escapeMarkdown(title)}`,
    escapeMarkdown(subtitle),
    ...partial,
    ...sections.map((section) => sectionText(section, level)),
  ].join("\n\n");
}

function sectionText({ title, blocks }: Section, level: string): string {
  return [`${level}# ${escapeMarkdown(title)}`, ...blocks.map(blockText)].join("\n\n");
}

function blockText(block: Block): string {
  switch (block.kind) {
    case "paragraph":
      return escapeMarkdown(block.text);
    case "list":
      return block.items.map((item) => `- ${escapeMarkdown(item)}`).join("\n");
    case "table":
      return captioned(block.title, tableText(block));
    case "bars": {
      const longest = Math.max(...block.bars.map(({ value }) => value));
      const rows = block.bars.map(({ label, value, text }) => [
        label,
        text,
        longest > 0 ? "█".repeat(Math.round(Math.max(0, value / longest) * barCells)) : "",
      ]);
      return captioned(block.title, gridText([{ title: "", align: "left" }, { title: "" }, { title: "", align: "left" }], rows));
    }
    case "lines":
      return captioned(block.title, linesText(block));
    case "stack":
      return captioned(block.title, stackText(block));
    case "winners":
      return winnersText(block);
    case "code":
      return captioned(block.title, fenced(block.language, block.text));
    case "flame":
      return flameText(block);
  }
}

function captioned(title: string | undefined, text: string): string {
  return title === undefined ? text : `**${escapeMarkdown(title)}**\n\n${text}`;
}

function tableText({ columns, rows }: Table): string {
  return gridText(
    columns,
    rows.map((row) => row.map(cellText)),
  );
}

function cellText(cell: Cell): string {
  return typeof cell === "string" ? cell : `${cell.text}${cell.mark === undefined ? "" : cell.mark === "best" ? " ★" : " ⚠"}`;
}

function gridText(columns: readonly TableHead[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [
    line(columns.map(({ title }) => escapeMarkdown(title))),
    line(columns.map(({ align }) => (align === "left" ? "---" : "---:"))),
    ...rows.map((row) => line(columns.map((_, i) => escapeMarkdown(row[i] ?? "")))),
  ].join("\n");
}

function linesText({ x, y, series, markers = [] }: LineChart): string {
  const curves = series.map(({ label, points }) => {
    const shown = Array.from(
      { length: Math.min(maxPoints, points.length) },
      (_, i, all = Math.min(maxPoints, points.length)) => points[all === 1 ? 0 : Math.round((i * (points.length - 1)) / (all - 1))],
    ).flatMap((point) => (point === undefined ? [] : [point]));
    const figures = shown.map(([at, value]) => `${tickText(at, x.unit)}: ${tickText(value, y.unit)}`);
    return [label, sparkline(shown.map(([, value]) => value)), figures.join("; ")];
  });
  const table = gridText(
    [
      { title: "curve", align: "left" },
      { title: "", align: "left" },
      { title: `${y.title} at ${x.title}`, align: "left" },
    ],
    curves,
  );
  const named = markers.map(
    ({ x: at, y: value, label }) => `- ${escapeMarkdown(`${label}: ${tickText(value, y.unit)} at ${tickText(at, x.unit)}`)}`,
  );
  return named.length === 0 ? table : `${table}\n\n${named.join("\n")}`;
}

function stackText({ rows }: StackedBars): string {
  const labels = stackLabels(rows);
  return gridText(
    [{ title: "", align: "left" }, ...labels.map((title) => ({ title }))],
    rows.map(({ label, parts }) => {
      const known = shares(parts);
      const cells = labels.map((wanted) => {
        const found = known.find(([part]) => part.label === wanted);
        return found === undefined ? "-" : `${found[0].text} (${percent(found[1])})`;
      });
      return [label, ...cells];
    }),
  );
}

function winnersText({ rows }: Winners): string {
  return gridText(
    [{ title: "dimension", align: "left" }, { title: "winner", align: "left" }, { title: "figure" }, { title: "against", align: "left" }],
    rows.map(({ dimension, winner, figure, against }) => [dimension, winner, figure, against ?? ""]),
  );
}

function flameText({ title, subtitle, root }: FlameGraph): string {
  const rows = areaShares(root).map(({ area, selfUs, share }) => [area, formatDuration(selfUs * 1e3), percent(share)]);
  const table = gridText([{ title: "area", align: "left" }, { title: "time" }, { title: "share" }], rows);
  return `${captioned(title, escapeMarkdown(subtitle))}\n\n${table}`;
}

/** A fence that is longer than any in the text. */
function fenced(language: string, text: string): string {
  const fence = "`".repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  return `${fence}${language}\n${visibleText(text)}\n${fence}`;
}

/** Text that stays text: no link, no emphasis, no markup, no end of a cell, on one line. */
export function escapeMarkdown(text: string): string {
  return visibleText(text)
    .replaceAll(/\s+/g, " ")
    .replaceAll(/[\\`*_[\]|~]/g, (character) => `\\${character}`)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replace(/^(\s*)([#+-]|\d+[.)])(?=\s|$)/, (_, space: string, mark: string) => `${space}${mark.slice(0, -1)}\\${mark.slice(-1)}`);
}
