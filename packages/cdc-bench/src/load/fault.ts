import { InvalidArgumentError } from "commander";

/** A part of a run, in milliseconds since the measurement began. */
export interface TimeWindow {
  readonly fromMs: number;
  /** Infinity if it never ends. */
  readonly toMs: number;
}

/** What goes wrong between the clients and the brokers, and when. */
export type Fault =
  /** Everything takes so much longer, in each direction. */
  | { readonly kind: "latency"; readonly delayMs: number; readonly window: TimeWindow }
  /** All connections share a link of this rate, in each direction. */
  | { readonly kind: "bandwidth"; readonly bitsPerSecond: number; readonly window: TimeWindow }
  /** Every connection is reset when the window begins, and new ones are refused until it ends. */
  | { readonly kind: "cut"; readonly window: TimeWindow }
  /** Connections stay open, and nothing passes. What was sent arrives after the window, as TCP's repeats would. */
  | { readonly kind: "blackhole"; readonly window: TimeWindow };

const faultText = /^(latency|bandwidth|cut|blackhole)(?:=([^@]+))?(?:@(.+))?$/i;
const timeText = /^(\d+(?:\.\d+)?)(ms|s|m)$/i;
const linkText = /^(\d+(?:\.\d+)?)(k|m|g)bit(?:\/s)?$/i;
const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1e3, m: 60e3 };
const unitBits: Readonly<Record<string, number>> = { k: 1e3, m: 1e6, g: 1e9 };
const always: TimeWindow = { fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY };
const longestDelayMs = 60_000;

/** `latency=50ms`, `bandwidth=10mbit`, `cut@5s`, `blackhole@5s..10s`; a window may follow each. */
export function parseFault(text: string): Fault {
  const [, name, amount, at] = faultText.exec(text.trim()) ?? [];
  const window = at === undefined ? always : windowOf(at);
  switch (name?.toLowerCase()) {
    case "latency": {
      const delayMs = timeOf(amount ?? "");
      if (!(delayMs > 0 && delayMs <= longestDelayMs)) {
        throw new InvalidArgumentError("latency needs how long, up to 60s, such as latency=50ms.");
      }
      return { kind: "latency", delayMs, window };
    }
    case "bandwidth": {
      const [, count, unit] = linkText.exec(amount ?? "") ?? [];
      const bitsPerSecond = Number(count) * (unitBits[unit?.toLowerCase() ?? ""] ?? Number.NaN);
      if (!(bitsPerSecond > 0)) {
        throw new InvalidArgumentError("bandwidth needs the rate of a link, such as bandwidth=10mbit.");
      }
      return { kind: "bandwidth", bitsPerSecond, window };
    }
    case "cut":
    case "blackhole": {
      const kind = name.toLowerCase() as "cut" | "blackhole";
      if (amount !== undefined || at === undefined) {
        throw new InvalidArgumentError(`${kind} needs when and nothing else, such as ${kind}@5s or ${kind}@5s..10s.`);
      }
      // A cut without an end is over at once: new connections are accepted.
      return { kind, window: kind === "cut" && !at.includes("..") ? { fromMs: window.fromMs, toMs: window.fromMs } : window };
    }
    default:
      throw new InvalidArgumentError("It must be latency=50ms, bandwidth=10mbit, cut@5s or blackhole@5s..10s; @5s..10s may follow each.");
  }
}

/** For a flag that may be repeated. */
export function collectFaults(text: string, before: readonly Fault[] = []): readonly Fault[] {
  return [...before, parseFault(text)];
}

/** A fault as its flag has it. */
export function faultTextOf(fault: Fault): string {
  const { fromMs, toMs } = fault.window;
  const end = toMs === fromMs || toMs === Number.POSITIVE_INFINITY ? "" : `..${toMs}ms`;
  const at = fromMs === Number.NEGATIVE_INFINITY ? "" : `@${fromMs}ms${end}`;
  switch (fault.kind) {
    case "latency":
      return `latency=${fault.delayMs}ms${at}`;
    case "bandwidth":
      return `bandwidth=${fault.bitsPerSecond / 1e6}mbit${at}`;
    default:
      return `${fault.kind}${at}`;
  }
}

/** `5s` is from then on, `5s..10s` is between. */
function windowOf(text: string): TimeWindow {
  const [from = "", to, ...rest] = text.split("..");
  const fromMs = timeOf(from);
  const toMs = to === undefined ? Number.POSITIVE_INFINITY : timeOf(to);
  if (rest.length > 0 || !(fromMs >= 0) || !(toMs > fromMs)) {
    throw new InvalidArgumentError(`${text} is no time of a run: expected @5s or @5s..10s, with the later time last.`);
  }
  return { fromMs, toMs };
}

function timeOf(text: string): number {
  const [, amount, unit] = timeText.exec(text) ?? [];
  return Number(amount) * (unitMs[unit?.toLowerCase() ?? ""] ?? Number.NaN);
}
