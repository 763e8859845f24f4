import type { Block, Cell, ReportDocument, Table } from "../document.ts";
import { areaShares } from "../flame-layout.ts";
import { visibleText } from "./escape.ts";

/** A field of a row: a number is written in full, a text as it is. */
type Field = string | number | null;

interface Sheet {
  readonly name: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly Field[])[];
}

/**
 * Every table and chart as RFC 4180 has it: one header row each, an empty line between them. The first two columns say which report and which
 * table a row is from. Figures are in their base units: nanoseconds, bytes, a second.
 */
export function renderCsv(documents: readonly ReportDocument[]): string {
  const sheets = documents.flatMap(({ title, sections }) =>
    sections.flatMap((section) =>
      section.blocks.flatMap((block) => {
        const sheet = sheetOf(block, section.title);
        return sheet === null ? [] : [sheetText(title, sheet)];
      }),
    ),
  );
  return sheets.join("\r\n");
}

function sheetText(report: string, { name, head, rows }: Sheet): string {
  const lines = [["report", "table", ...unique(head)], ...rows.map((row) => [report, name, ...row])];
  return lines.map((line) => `${line.map(fieldText).join(",")}\r\n`).join("");
}

function sheetOf(block: Block, section: string): Sheet | null {
  switch (block.kind) {
    case "table":
      return tableSheet(block, section);
    case "bars":
      return {
        name: block.title,
        head: ["label", "value", "min", "max"],
        rows: block.bars.map(({ label, value, spread }) => [label, value, spread?.[0] ?? null, spread?.[1] ?? null]),
      };
    case "lines":
      return {
        name: block.title,
        head: ["curve", block.x.title, block.y.title],
        rows: block.series.flatMap(({ label, points }) => points.map(([x, y]) => [label, x, y])),
      };
    case "stack":
      return {
        name: block.title,
        head: ["label", "part", "value"],
        rows: block.rows.flatMap(({ label, parts }) => parts.map((part) => [label, part.label, part.value])),
      };
    case "winners":
      return {
        name: section,
        head: ["dimension", "winner", "figure", "against"],
        rows: block.rows.map(({ dimension, winner, figure, against }) => [dimension, winner, figure, against ?? null]),
      };
    case "flame":
      return {
        name: block.title,
        head: ["area", "self us", "share"],
        rows: areaShares(block.root).map(({ area, selfUs, share }) => [area, selfUs, share]),
      };
    case "paragraph":
    case "list":
    case "code":
      return null; // words, no figures
  }
}

function tableSheet({ title, columns, rows }: Table, section: string): Sheet {
  const fields = (row: readonly Cell[]): readonly Field[] => columns.map((_, i) => fieldOf(row[i] ?? null));
  return { name: title ?? section, head: columns.map((column) => column.title), rows: rows.map(fields) };
}

function fieldOf(cell: Cell | null): Field {
  return cell === null || typeof cell === "string" ? cell : cell.value;
}

/** Readers of CSV take a column by its name: the second of a name gets a number. */
function unique(head: readonly string[]): readonly string[] {
  const seen = new Map<string, number>();
  return head.map((name) => {
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return count === 1 ? name : `${name} (${count})`;
  });
}

function fieldText(field: Field): string {
  if (field === null) {
    return "";
  }
  if (typeof field === "number") {
    return Number.isFinite(field) ? String(field) : "";
  }
  const text = withoutFormula(visibleText(field));
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A spreadsheet would compute a text that begins like a formula: an apostrophe makes it a text. Numbers are no formulas. */
function withoutFormula(text: string): string {
  return /^\s*[=+\-@＝＋－＠|]|^[\t\r\n]/.test(text) && !/^-?\d+(\.\d+)?$/.test(text) ? `'${text}` : text;
}
