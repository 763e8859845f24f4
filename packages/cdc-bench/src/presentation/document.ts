import type { Frame } from "../result/profile-frame.ts";

/**
 * What a result says, before anybody decides how it looks. Each command turns its result into a document once (`presenters/`); the
 * renderers (`render/`) make text for a terminal, Markdown, CSV or HTML of any document and know no command.
 */
export interface ReportDocument {
  /** The heading of the report. */
  readonly title: string;
  /** One line on what was measured, and with what. */
  readonly subtitle: string;
  /** Whether the run was interrupted or failed halfway: every renderer says so at the top. */
  readonly isPartial: boolean;
  /** Tables, charts and texts, in the order in which they are shown. */
  readonly sections: readonly Section[];
}

export interface Section {
  readonly title: string;
  readonly blocks: readonly Block[];
}

export type Block = Paragraph | BulletList | Table | BarChart | LineChart | StackedBars | Winners | Code | FlameGraph;

export interface Paragraph {
  readonly kind: "paragraph";
  readonly text: string;
}

export interface BulletList {
  readonly kind: "list";
  readonly items: readonly string[];
}

export interface Table {
  readonly kind: "table";
  readonly title?: string;
  readonly columns: readonly TableHead[];
  readonly rows: readonly (readonly Cell[])[];
}

export interface TableHead {
  readonly title: string;
  /**
   * On which side of its column a cell stands.
   * @default "right"
   */
  readonly align?: "left" | "right";
}

/** A cell as it is shown, or with the number behind it. */
export type Cell = string | FigureCell;

export interface FigureCell {
  readonly text: string;
  /** The figure in its base unit (nanoseconds, bytes, a second): what CSV holds. */
  readonly value: number | null;
  /** Length of a bar beside the text, 0 to 1. */
  readonly bar?: number;
  /** Whether it is the best of its column, or something to look at. */
  readonly mark?: "best" | "warning";
}

export interface BarChart {
  readonly kind: "bars";
  readonly title: string;
  readonly bars: readonly Bar[];
}

export interface Bar {
  readonly label: string;
  readonly value: number;
  readonly text: string;
  /** Smallest and largest of several rounds. */
  readonly spread?: readonly [min: number, max: number];
  readonly mark?: "best" | "warning";
}

export interface LineChart {
  readonly kind: "lines";
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly series: readonly Series[];
  /** A time series in which a reader wants to zoom. */
  readonly isTimeSeries?: boolean;
  /** A point to name, such as the knee of a curve. */
  readonly markers?: readonly { readonly x: number; readonly y: number; readonly label: string }[];
}

export interface Axis {
  readonly title: string;
  /** `percentile` spreads the upper end, as HdrHistogram's plots do: x is 0 to 100. @default "linear" */
  readonly scale?: "linear" | "log" | "percentile";
  readonly unit?: "ns" | "ms" | "s" | "bytes" | "per-second" | "percent" | "count";
}

export interface Series {
  readonly label: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

/** Shares of a whole, a row for each thing measured: stages of a run. */
export interface StackedBars {
  readonly kind: "stack";
  readonly title: string;
  readonly rows: readonly { readonly label: string; readonly parts: readonly StackPart[] }[];
}

export interface StackPart {
  readonly label: string;
  readonly value: number;
  readonly text: string;
}

/** A winner for each dimension, with the number that it rests on. */
export interface Winners {
  readonly kind: "winners";
  readonly rows: readonly Winner[];
}

export interface Winner {
  readonly dimension: string;
  readonly winner: string;
  /** The winner's figure, such as `215 B`. */
  readonly figure: string;
  /** Who comes next, and how far behind. */
  readonly against?: string;
}

/** Text to copy, such as a configuration. */
export interface Code {
  readonly kind: "code";
  readonly title?: string;
  readonly language: "json" | "ts" | "sh" | "text";
  readonly text: string;
}

/** A picture of a CPU profile: each function as wide as its share of the samples. */
export interface FlameGraph {
  readonly kind: "flame";
  /** The heading of the picture. */
  readonly title: string;
  /** The configuration under which it was recorded. */
  readonly subtitle: string;
  /** The function that has called all others: its width is the whole. */
  readonly root: Frame;
}
