import { barOf, sparkline } from "../../report/block-charts.ts";
import type { TextLook } from "../../report/text-look.ts";
import { plainStyle, type TextStyle } from "../../report/text-style.ts";
import { textTable } from "../../report/text-table.ts";
import { printable, wrapLines } from "../../report/text-width.ts";
import { tickText } from "./chart/tick-text.ts";
import type { BarChart, Block, Cell, Code, LineChart, ReportDocument, Series, StackedBars, Table, Winners } from "../document.ts";

const barCells = 16;
const sparkCells = 40;

/**
 * The document for a terminal or a pipe: tables with bars in them, curves as sparklines. Ends with a newline. Control characters are shown as
 * `?`: what a result names may come from a topic or a file.
 */
export function renderText(document: ReportDocument, { style = plainStyle, columns = Number.POSITIVE_INFINITY }: TextLook = {}): string {
  const look = { style, columns };
  const parts = document.isPartial ? [style("problem", "ABORTED: what follows is not all of it."), "\n\n"] : [];
  parts.push(`${style("change", printable(document.title))}: ${printable(document.subtitle)}\n`);
  for (const { title, blocks } of document.sections) {
    parts.push(`\n${style("change", printable(title))}\n\n`, blocks.map((block) => blockText(block, look)).join("\n"));
  }
  return parts.join("");
}

function blockText(block: Block, { style, columns }: Required<TextLook>): string {
  switch (block.kind) {
    case "paragraph":
      return `${wrapLines(block.text, columns, "").join("\n")}\n`;
    case "list":
      return block.items.map((item) => `- ${wrapLines(item, columns, "  ").join("\n").trimStart()}\n`).join("");
    case "table":
      return tableText(block, style);
    case "bars":
      return barsText(block, style);
    case "lines":
      return linesText(block, style);
    case "stack":
      return stackText(block);
    case "winners":
      return winnersText(block, style);
    case "code":
      return codeText(block);
    case "flame":
      return `${printable(block.title)}: ${printable(block.subtitle)} (drawn in the HTML report)\n`;
  }
}

function tableText({ title, columns, rows }: Table, style: TextStyle): string {
  const cells = rows.map((row) => row.map((cell) => cellText(cell, style)));
  const table = textTable(
    columns.map((column) => ({ ...column, title: printable(column.title) })),
    cells,
  );
  return title === undefined ? table : `${printable(title)}\n${table}`;
}

function cellText(cell: Cell, style: TextStyle): string {
  if (typeof cell === "string") {
    return printable(cell);
  }
  const marked = markedText(cell.text, cell.mark, style);
  return cell.bar === undefined
    ? marked
    : `${marked} ${style("place", barOf(cell.bar, barCells))}${" ".repeat(barCells - barOf(cell.bar, barCells).length)}`;
}

function markedText(text: string, mark: "best" | "warning" | undefined, style: TextStyle): string {
  return mark === undefined ? printable(text) : style(mark === "best" ? "best" : "problem", printable(text));
}

function barsText({ title, bars }: BarChart, style: TextStyle): string {
  const longest = bars.reduce((most, { value }) => Math.max(most, value), 0);
  const rows = bars.map(({ label, value, text, mark }) => [
    printable(label),
    markedText(text, mark, style),
    style("place", barOf(longest > 0 ? value / longest : 0, barCells)),
  ]);
  return textTable([{ title: printable(title), align: "left" }, { title: "" }, { title: "", align: "left" }], rows);
}

function codeText({ title, text }: Code): string {
  const lines = text.split(/\r?\n/).map((line) => `  ${printable(line)}\n`);
  return `${title === undefined ? "" : `${printable(title)}\n`}${lines.join("")}`;
}

function linesText({ title, x, y, series, markers = [] }: LineChart, style: TextStyle): string {
  const curves = textTable(
    [{ title: printable(title), align: "left" }, { title: "min" }, { title: "max" }, { title: "", align: "left" }],
    series.map(({ label, points }) => {
      const values = points.map(([, value]) => value);
      const range = values.length === 0 ? ["-", "-"] : [minOf(values), maxOf(values)].map((value) => tickText(value, y.unit));
      return [printable(label), ...range, style("place", sparkline(sampled(points)))];
    }),
  );
  const marks = markers.map((marker) => `${printable(marker.label)}: ${tickText(marker.y, y.unit)} at ${tickText(marker.x, x.unit)}\n`);
  return curves + marks.join("");
}

function minOf(values: readonly number[]): number {
  return values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
}

function maxOf(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
}

/** At most as many values as the line has cells: means of neighbours. */
function sampled(points: Series["points"]): readonly number[] {
  const cells = Math.min(sparkCells, points.length);
  return Array.from({ length: cells }, (_, cell) => {
    const from = Math.floor((cell * points.length) / cells);
    const to = Math.max(from + 1, Math.floor(((cell + 1) * points.length) / cells));
    return points.slice(from, to).reduce((sum, [, y]) => sum + y, 0) / (to - from);
  });
}

function stackText({ title, rows }: StackedBars): string {
  const labels = [...new Set(rows.flatMap(({ parts }) => parts.map(({ label }) => label)))];
  return textTable(
    [{ title: printable(title), align: "left" }, ...labels.map((label) => ({ title: printable(label) }))],
    rows.map(({ label, parts }) => {
      const total = parts.reduce((sum, { value }) => sum + value, 0);
      const cells = labels.map((wanted) => {
        const part = parts.find((each) => each.label === wanted);
        return part === undefined ? "-" : `${printable(part.text)} ${`${Math.round((part.value / (total || 1)) * 100)}%`.padStart(4)}`;
      });
      return [printable(label), ...cells];
    }),
  );
}

function winnersText({ rows }: Winners, style: TextStyle): string {
  return textTable(
    [{ title: "dimension", align: "left" }, { title: "winner", align: "left" }, { title: "figure" }, { title: "against", align: "left" }],
    rows.map(({ dimension, winner, figure, against }) => [
      printable(dimension),
      style("best", printable(winner)),
      printable(figure),
      printable(against ?? ""),
    ]),
  );
}
