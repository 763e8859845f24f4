import { formatCount } from "../report/quantities.ts";
import type { FormatSnapshot } from "../scenario/snapshot/result.ts";
import type { Cell, Table } from "../presentation/document.ts";

/** A row of a table with a column for each format. */
export type Row = readonly [title: string, cellOf: (measured: FormatSnapshot) => Cell];

export function byFormat(formats: readonly FormatSnapshot[], rows: readonly Row[], title = ""): Table {
  return {
    kind: "table",
    columns: [{ title, align: "left" }, ...formats.map(({ label }) => ({ title: label }))],
    rows: rows.map(([name, cellOf]) => [name, ...formats.map(cellOf)]),
  };
}

export function figure(value: number, text: string): Cell {
  return { text, value };
}

export function count(value: number): Cell {
  return figure(value, formatCount(value));
}
