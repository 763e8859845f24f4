import { spreadOf } from "../spread.ts";
import type { PeerFormat } from "./pass.ts";
import type { PeerCompression } from "./topics.ts";

/** What one side did with one topic, round by round. */
export interface ConsumeFigures {
  readonly side: string;
  readonly kind: "ours" | "peer" | "undecoded";
  readonly format: PeerFormat;
  readonly compression: PeerCompression;
  /** The topic was a long one. */
  readonly isLong: boolean;
  readonly perSecond: readonly number[];
  /** Of the side's process, a message. Empty for a process that does not say it. */
  readonly processorNs: readonly number[];
  /** Of the broker, a message. */
  readonly brokerNs: readonly number[];
  readonly residentMiB: readonly number[];
  /** Why it was not measured, or not in each round that it was to be; or null. */
  readonly notRun: string | null;
}

/** A cell of the table of figures. */
export interface Cell {
  readonly text: string;
  readonly verdict: "held" | "missed" | "in doubt" | "not run" | "no target";
}

export interface Row {
  readonly figure: string;
  readonly wanted: string;
  /** One for each format, or one alone. */
  readonly cells: readonly Cell[];
}

/** Round against round: what disturbs one side of a round disturbs the other. */
export function ratios(ours: readonly number[], theirs: readonly number[]): readonly number[] {
  return ours.slice(0, theirs.length).map((one, round) => one / (theirs[round] ?? Number.NaN));
}

export const notRun = (why: string): Cell => ({ text: `not run: ${why}`, verdict: "not run" });

/** A ratio with its spread. */
export function ratioCell(values: readonly number[], atLeast: number | null, about = ""): Cell {
  const { median, min, max } = spreadOf(values);
  const spread = values.length > 1 ? ` [${min.toFixed(2)} to ${max.toFixed(2)}]` : "";
  return {
    text: `${median.toFixed(2)}x${spread}${about}`,
    verdict: atLeast === null ? "no target" : median >= atLeast ? "held" : "missed",
  };
}

/** A ratio above what its own baseline says to be possible: the baseline was slower than it should have been, and the ratio shows nothing. */
export function withCeiling(cell: Cell, ratio: number, ceiling: number | null): Cell {
  return ceiling !== null && ratio > ceiling ? { ...cell, verdict: "in doubt" } : cell;
}

/** A value that must not be above a bound. */
export function boundedCell(text: string, value: number, atMost: number): Cell {
  return { text, verdict: value <= atMost ? "held" : "missed" };
}
