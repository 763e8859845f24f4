import type { CdcEvent } from "@cdckit/decode";
import { formatCount } from "../report/quantities.ts";
import { formatLabel } from "../report/format-label.ts";

/** What came of one record. */
interface Outcome {
  readonly events: readonly CdcEvent[];
  readonly failure: { readonly code: string } | null;
}

/** Counts what `inspect` has seen. */
export interface InspectTally {
  readonly records: number;
  readonly failures: number;
  /** Each code with which a record could not be decoded, once. */
  readonly errors: readonly { readonly code: string }[];
  add(outcome: Outcome): void;
  /** A record that the filters leave out. */
  leaveOut(): void;
  readonly leftOut: number;
  /** A few lines: records, events by kind, formats, errors by code. */
  summary(): string;
}

export function createInspectTally(): InspectTally {
  let records = 0;
  let failures = 0;
  let leftOut = 0;
  const kinds = new Map<string, number>();
  const formats = new Map<string, number>();
  const codes = new Map<string, number>();
  return {
    get records() {
      return records;
    },
    get failures() {
      return failures;
    },
    get leftOut() {
      return leftOut;
    },
    leaveOut() {
      leftOut++;
    },
    get errors() {
      return [...codes.keys()].map((code) => ({ code }));
    },
    add({ events, failure }) {
      records++;
      for (const event of events) {
        count(kinds, "op" in event ? event.op : event.kind);
        count(formats, formatLabel(event));
      }
      if (failure !== null) {
        failures++;
        count(codes, failure.code);
      }
    },
    summary() {
      const lines = [`${formatCount(records)} ${recordsWord(records)}: ${listed(kinds) || "no events"}`];
      if (formats.size > 0) {
        lines.push(`formats (framing + encoding + envelope): ${listed(formats)}`);
      }
      if (failures > 0) {
        lines.push(`${formatCount(failures)} ${recordsWord(failures)} could not be decoded: ${listed(codes)}`);
      }
      if (leftOut > 0) {
        lines.push(`${formatCount(leftOut)} other ${recordsWord(leftOut)} ${leftOut === 1 ? "does" : "do"} not match the filters`);
      }
      return `${lines.join("\n")}\n`;
    },
  };
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function listed(counts: ReadonlyMap<string, number>): string {
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([name, times]) => `${formatCount(times)} ${name}`)
    .join(", ");
}

function recordsWord(count: number): string {
  return count === 1 ? "record" : "records";
}
