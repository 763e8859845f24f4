import { barOf, sparkline } from "../report/block-charts.ts";
import { formatCount, formatDuration } from "../report/quantities.ts";
import type { TextStyle } from "../report/text-style.ts";
import { cutLine } from "../report/text-width.ts";
import type { Observation } from "./observer.ts";
import type { Pace } from "./pace.ts";

/** A terminal that is narrower, or that has fewer rows, gets one line. */
const minColumns = 60;
const minRows = 10;
/** Left free, so that the `^C` that a terminal writes at the cursor does not begin another line. */
const freeColumns = 3;
const barCells = 24;

export interface ViewSize {
  readonly columns: number;
  readonly rows: number;
}

/** The lines of the live view, each short enough for the terminal. Lines whose figures are not known are absent. */
export function viewLines(observation: Observation, pace: Pace, { columns, rows }: ViewSize, style: TextStyle): readonly string[] {
  const room = Math.max(1, columns - freeColumns);
  if (columns < minColumns || rows < minRows) {
    return [cutLine(plainLine(observation, pace), room)];
  }
  const lines: [string, "change" | "aside" | undefined][] = [
    [`${observation.phase}${joined("  ", [elapsedText(pace)])}`, "change"],
    [progressLine(observation, pace), undefined],
    [rateLine(observation, pace, room), undefined],
    [joined("   ", [lagText(observation), latencyText(observation)]).trimStart(), undefined],
    [stagesText(observation), "aside"],
  ];
  return lines
    .filter(([text]) => text !== "")
    .map(([text, role]) => {
      const line = cutLine(text, room);
      return role === undefined ? line : style(role, line);
    });
}

/** The same in one line: for a narrow terminal, a pipe or a file. */
export function plainLine(observation: Observation, pace: Pace): string {
  const perSecond = rateOf(observation, pace);
  const rate = perSecond === undefined ? undefined : `${rateText(perSecond)}/s`;
  const figures = [countText(observation), rate, leftText(pace), lagText(observation), latencyText(observation)];
  return observation.phase + joined(", ", figures);
}

function joined(separator: string, parts: readonly (string | undefined)[]): string {
  return parts
    .filter((part) => part !== undefined)
    .map((part) => separator + part)
    .join("");
}

function progressLine(observation: Observation, pace: Pace): string {
  const { done, total, unit = "records" } = observation;
  if (done === undefined) {
    return "";
  }
  if (total === undefined || total <= 0) {
    return `${formatCount(done)} ${unit}`;
  }
  const share = Math.min(1, done / total);
  const bar = barOf(share, barCells).padEnd(barCells, "░");
  return `${bar} ${Math.floor(share * 100)}%  ${formatCount(done)} of ${totalText(observation, total)} ${unit}${joined("  ", [leftText(pace)])}`;
}

/** Seconds that pass have no rate. */
function rateOf({ unit }: Observation, { perSecond }: Pace): number | undefined {
  return unit === "s" ? undefined : perSecond;
}

function rateLine(observation: Observation, pace: Pace, room: number): string {
  const perSecond = rateOf(observation, pace);
  if (perSecond === undefined) {
    return "";
  }
  const { unit = "records" } = observation;
  const { rates } = pace;
  const text = `${rateText(perSecond)} ${unit}/s`;
  const cells = Math.max(0, room - text.length - 2);
  return rates.length < 2 ? text : `${text}  ${sparkline(rates.slice(-cells))}`;
}

/** Rounds take seconds, and 0 a second would look like a standstill. */
function rateText(perSecond: number): string {
  return perSecond >= 10 ? formatCount(perSecond) : String(Number(perSecond.toPrecision(2)));
}

function totalText({ countsOffsets }: Observation, total: number): string {
  return `${countsOffsets === true ? "at most " : ""}${formatCount(total)}`;
}

function countText(observation: Observation): string | undefined {
  const { done, total, unit = "records" } = observation;
  if (done === undefined) {
    return undefined;
  }
  return total === undefined || total <= 0
    ? `${formatCount(done)} ${unit}`
    : `${formatCount(done)} of ${totalText(observation, total)} ${unit} (${Math.floor(Math.min(1, done / total) * 100)}%)`;
}

function lagText({ lag }: Observation): string | undefined {
  return lag === undefined ? undefined : `lag ${formatCount(lag)}`;
}

function latencyText({ latencyMs }: Observation): string | undefined {
  if (latencyMs === undefined) {
    return undefined;
  }
  const { p50, p95, p99 } = latencyMs;
  return `latency p50 ${formatDuration(p50 * 1e6)}, p95 ${formatDuration(p95 * 1e6)}, p99 ${formatDuration(p99 * 1e6)}`;
}

function stagesText({ stages }: Observation): string {
  return Object.entries(stages ?? {})
    .map(([stage, share]) => `${stage} ${Math.round(share * 100)}%`)
    .join("  ");
}

function elapsedText({ elapsedMs }: Pace): string | undefined {
  return elapsedMs < 1_000 ? undefined : clockText(elapsedMs);
}

function leftText({ leftMs }: Pace): string | undefined {
  return leftMs === undefined ? undefined : `${clockText(leftMs)} left`;
}

/** `8 s`, `2 min 5 s`, `1 h 20 min`. */
function clockText(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  if (seconds < 60) {
    return `${seconds} s`;
  }
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
