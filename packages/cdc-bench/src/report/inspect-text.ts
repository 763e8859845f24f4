import type { Candidate, CdcEvent, KafkaRecord } from "@cdckit/decode";
import { formatLabel } from "./format-label.ts";
import type { DecodeFailure } from "./inspect-line.ts";
import { toJsonText } from "./json-text.ts";

const maxValueChars = 2_000;

/** One event as a person reads it: where, what, which row, in which format. */
export function eventText(event: CdcEvent): string {
  const { topic, partition, offset } = event.record;
  const head = [
    `${topic}[${partition}]@${offset}`,
    "op" in event ? event.op : event.kind,
    tableText(event),
    keyText(event.key),
    formatOf(event),
  ];
  return `${head.filter((part) => part !== "").join("  ")}\n${bodyOf(event).map(lineText).join("")}`;
}

export function failureText(record: KafkaRecord, error: DecodeFailure): string {
  return `${record.topic}[${record.partition}]@${record.offset}  cannot be decoded\n    ${error.message}\n`;
}

/** A record that says nothing, such as a transaction without changes. */
export function silenceText(record: KafkaRecord): string {
  return `${record.topic}[${record.partition}]@${record.offset}  no events\n`;
}

/** What detection tried, the winners marked. */
export function explanationText(candidates: readonly Candidate[]): string {
  return candidates
    .map(({ side, layer, name, won, evidence }) => `    ${won ? "*" : " "} ${side.padEnd(5)} ${layer.padEnd(8)} ${name}: ${evidence}\n`)
    .join("");
}

function formatOf(event: CdcEvent): string {
  return `(${formatLabel(event)}${event.schemaId === null ? "" : `, schema ${event.schemaId}`})`;
}

function tableText(event: CdcEvent): string {
  const table = "table" in event ? event.table : null;
  return table === null ? "" : [table.database, table.schema, table.name].filter((part) => part !== undefined).join(".");
}

function keyText(key: unknown): string {
  return key === null ? "" : `key ${toJsonText(key)}`;
}

type BodyLine = readonly [name: string, value: unknown];

function bodyOf(event: CdcEvent): readonly BodyLine[] {
  switch (event.kind) {
    case "change":
      return [["before", event.before] as const, ["after", event.after] as const].filter(([, row]) => row !== null);
    case "row":
      return [["row", event.row]];
    case "message":
      return [[`prefix ${event.prefix}`, event.content]];
    case "transaction":
      return [[`${event.status} ${event.id}`, event.dataCollections]];
    case "schema-change":
      return [["ddl", event.ddl]];
    case "notification":
      return [[`${event.aggregateType} ${event.type}`, event.additionalData]];
    case "watermark":
      return [["watermark", event.watermark]];
    case "unknown":
      return [["value", event.value]];
    case "truncate":
    case "tombstone":
    case "heartbeat":
      return [];
  }
}

function lineText([name, value]: BodyLine): string {
  const text = toJsonText(value);
  const shown = text.length > maxValueChars ? `${text.slice(0, maxValueChars)}... (${text.length} characters; --json shows all)` : text;
  return `    ${name} ${shown}\n`;
}
