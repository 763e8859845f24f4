import { deadLetterOf } from "@cdckit/consumer";
import type { Candidate, CdcEvent, KafkaRecord } from "@cdckit/decode";
import { type Mask, noMask } from "./mask.ts";
import { deadLetterLines } from "./dead-letter-text.ts";
import { formatLabel } from "../report/format-label.ts";
import { headerLines } from "./header-text.ts";
import type { DecodeFailure } from "./inspect-line.ts";
import { toJsonText } from "../report/json-text.ts";
import { plainStyle, type TextRole, type TextStyle } from "../report/text-style.ts";
import { cutLine, defaultColumns, wrapLines } from "../report/text-width.ts";

const indent = "    ";

/** How records are written for a person. */
export interface InspectTextOptions {
  readonly columns: number;
  readonly style: TextStyle;
  readonly mask: Mask;
  readonly hasHeaders: boolean;
}

export const plainText: InspectTextOptions = { columns: defaultColumns, style: plainStyle, mask: noMask, hasHeaders: false };

/** What became of a record. */
interface Outcome {
  readonly record: KafkaRecord;
  readonly events: readonly CdcEvent[];
  readonly failure: DecodeFailure | null;
  readonly candidates: readonly Candidate[];
}

/** One record as a person reads it: where, when, what, why it failed, and its rows. Data is cut to the width, sentences are not. */
export function recordText({ record, events, failure, candidates }: Outcome, options: InspectTextOptions): string {
  const said = failure === null ? events.map((event) => eventText(event, options)) : [failureText(record, failure, options)];
  const origin = deadLetterOf(record);
  return [
    ...(said.length > 0 ? said : [headText(record, "no events", "aside", options)]),
    ...(origin === null ? [] : deadLetterLines(origin, options.mask).map((line) => sentenceText(line, "problem", options))),
    ...(options.hasHeaders ? headerLines(record.headers, options.mask).map((line) => dataText(line, "aside", options)) : []),
    ...candidates.map((candidate) => candidateText(candidate, options)),
  ].join("");
}

function eventText(event: CdcEvent, options: InspectTextOptions): string {
  const key: readonly BodyLine[] = event.key === null ? [] : [["key", options.mask.bare(event.key)]];
  const body = [...key, ...bodyOf(event, options.mask)].map(([name, value]) => dataText(`${name} ${toJsonText(value)}`, null, options));
  const what = "op" in event ? event.op : event.kind;
  return [headText(event.record, what, "change", options), formatText(event, options), ...body].join("");
}

function failureText(record: KafkaRecord, error: DecodeFailure, options: InspectTextOptions): string {
  return headText(record, "cannot be decoded", "problem", options) + sentenceText(error.message, "problem", options);
}

/** The line that begins a record. It is cut as a whole, and colored by its parts. */
function headText(
  { topic, partition, offset, timestamp }: Pick<KafkaRecord, "topic" | "partition" | "offset" | "timestamp">,
  what: string,
  role: TextRole,
  { columns, style }: InspectTextOptions,
): string {
  const parts: readonly (readonly [TextRole, string])[] = [
    ["place", `${topic}[${partition}]@${offset}`],
    ["aside", timeText(timestamp)],
    [role, what],
  ];
  const line = parts.map(([, text]) => text).join("  ");
  const cut = cutLine(line, columns);
  // A line that was cut has no colors: its parts are not known any more.
  return `${cut === line ? parts.map(([as, text]) => style(as, text)).join("  ") : cut}\n`;
}

/** ISO 8601, in UTC. A record without a time says -1. */
function timeText(timestampMs: bigint): string {
  const ms = Number(timestampMs);
  return ms >= 0 && ms <= 8.64e15 ? new Date(ms).toISOString() : "no time";
}

function dataText(line: string, role: TextRole | null, { columns, style }: InspectTextOptions): string {
  const cut = cutLine(indent + line, columns);
  return `${role === null ? cut : style(role, cut)}\n`;
}

function sentenceText(text: string, role: TextRole, { columns, style }: InspectTextOptions): string {
  return wrapLines(text, columns, indent)
    .map((line) => `${style(role, line)}\n`)
    .join("");
}

/** What detection tried, the winners marked. */
function candidateText({ side, layer, name, won, evidence }: Candidate, { columns, style }: InspectTextOptions): string {
  const [first = "", ...others] = wrapLines(`${side} ${layer} ${name}: ${evidence}`, columns, `${indent}  `);
  const marked = won ? `${indent}* ${first.trimStart()}` : first;
  return [marked, ...others].map((line) => `${style("aside", line)}\n`).join("");
}

function formatText(event: CdcEvent, options: InspectTextOptions): string {
  const format = `(${formatLabel(event)}${event.schemaId === null ? "" : `, schema ${event.schemaId}`})`;
  return dataText([tableText(event), format].filter((part) => part !== "").join("  "), "aside", options);
}

function tableText(event: CdcEvent): string {
  const table = "table" in event ? event.table : null;
  return table === null ? "" : [table.database, table.schema, table.name].filter((part) => part !== undefined).join(".");
}

type BodyLine = readonly [name: string, value: unknown];

/** What the mask leaves to be seen, as in the lines of `--json`. */
function bodyOf(event: CdcEvent, mask: Mask): readonly BodyLine[] {
  switch (event.kind) {
    case "change":
      return [["before", mask.value(event.before)] as const, ["after", mask.value(event.after)] as const].filter(([, row]) => row !== null);
    case "row":
      return [["row", mask.value(event.row)]];
    case "message":
      return [[`prefix ${event.prefix}`, mask.quote(event.content)]];
    case "transaction":
      return [[`${event.status} ${event.id}`, event.dataCollections]];
    case "schema-change":
      return [["ddl", event.ddl === null ? null : mask.quote(event.ddl)]];
    case "notification":
      return [[`${event.aggregateType} ${event.type}`, mask.value(event.additionalData)]];
    case "watermark":
      return [["watermark", event.watermark]];
    case "unknown":
      return [["value", mask.bare(event.value)]];
    case "truncate":
    case "tombstone":
    case "heartbeat":
      return [];
  }
}
