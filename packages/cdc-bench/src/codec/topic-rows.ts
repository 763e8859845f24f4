import { type CdcEvent, createDecoder, type Decoder, isDecodeError, type KafkaRecord, UNAVAILABLE } from "@cdckit/decode";
import { BenchError } from "../bench-error.ts";
import { openRecordFeed } from "../load/record-feed.ts";
import { lacksSchemaSource, missingSchemasHint, openSchemas } from "../load/schemas.ts";
import type { Source } from "../load/source.ts";
import { isRegistryAtFault } from "../registry-fault.ts";
import { patternOf } from "../types/seen-tables.ts";
import type { DataSet, Row } from "./data-sets.ts";
import { shapeOfRows } from "./own-file.ts";

export interface TopicRowsOptions {
  readonly source: Source;
  readonly maxRows: number;
  readonly interrupt: AbortSignal;
  readonly onProgress: (rows: number) => void;
}

/** Rows that change events of a topic or a recording carry, and what was left out of them. */
export interface TopicRows {
  readonly set: DataSet;
  readonly notes: readonly string[];
}

/**
 * The rows after each change, as values that JSON has: bytes as base64, integers beyond 2^53 as text with their whole column, and null for
 * columns that were not sent. Codecs need rows of one shape, so the table with the most rows is taken.
 */
export async function readTopicRows({ source, maxRows, interrupt, onProgress }: TopicRowsOptions): Promise<TopicRows> {
  const schemas = openSchemas(source);
  const gathered = new GatheredRows(createDecoder(schemas === undefined ? {} : { schemas }));
  for await (const record of openRecordFeed(source, { interrupt })) {
    await gathered.add(record);
    onProgress(gathered.rows);
    if (gathered.rows >= maxRows) {
      break;
    }
  }
  return gathered.largest(placeOf(source), maxRows, interrupt.aborted);
}

class GatheredRows {
  rows = 0;
  readonly #decoder: Decoder;
  readonly #tables = new Map<string, Row[]>();
  #failures = 0;
  #isSchemaMissing = false;

  constructor(decoder: Decoder) {
    this.#decoder = decoder;
  }

  async add(record: KafkaRecord): Promise<void> {
    try {
      for (const event of await this.#decoder.decode(record)) {
        this.#addRow(tableNameOf(event, record.topic), rowAfter(event));
      }
    } catch (error) {
      if (!isDecodeError(error) || isRegistryAtFault(error)) {
        throw error;
      }
      this.#isSchemaMissing ||= lacksSchemaSource(error);
      this.#failures++;
    }
  }

  /** @param isPartial whether the reading was interrupted: no row is no error then */
  largest(place: string, maxRows: number, isPartial: boolean): TopicRows {
    const [largest, ...others] = [...this.#tables].toSorted(([, a], [, b]) => b.length - a.length);
    if (largest === undefined && !isPartial) {
      const why = this.#isSchemaMissing ? missingSchemasHint : `${this.#failures} records could not be decoded.`;
      throw new BenchError("too-few-messages", `no row was found in ${place}: ${why}`);
    }
    const [table, found] = largest ?? [place, []];
    const rows = sameColumns(found.slice(0, maxRows));
    const notes = [
      ...(this.#failures === 0 ? [] : [`${this.#failures} records of ${place} could not be decoded and are left out.`]),
      ...(others.length === 0 ? [] : [`Rows of ${table} only: ${others.map(([other]) => other).join(", ")} have other columns.`]),
    ];
    return { set: { name: table, title: `rows of ${place}`, shape: shapeOfRows(rows, place), rows }, notes };
  }

  #addRow(table: string, row: Row | null): void {
    if (row === null) {
      return;
    }
    this.rows++;
    const known = this.#tables.get(table);
    if (known === undefined) {
      this.#tables.set(table, [row]);
    } else {
      known.push(row);
    }
  }
}

function rowAfter(event: CdcEvent): Row | null {
  switch (event.kind) {
    case "change":
      return event.after === null ? null : plainRow(event.after);
    case "row":
      return plainRow(event.row);
    default:
      return null;
  }
}

function tableNameOf(event: CdcEvent, topic: string): string {
  return (event.kind === "change" || event.kind === "row") && event.table !== null ? patternOf(event.table) : topic;
}

function placeOf(source: Source): string {
  return source.kind === "file" ? source.file : source.topics.join(", ");
}

function plainRow(row: Readonly<Record<string, unknown>>): Row {
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [column, plainValue(value)]));
}

function plainValue(value: unknown): unknown {
  if (value === UNAVAILABLE || value === undefined || value === null) {
    return null;
  }
  if (typeof value === "bigint") {
    return value; // its column becomes text when all rows are known
  }
  if (typeof value === "number") {
    return Number.isFinite(value) ? value : String(value);
  }
  if (value instanceof Uint8Array) {
    return Buffer.from(value).toString("base64");
  }
  if (value instanceof Map) {
    return [...value].map(([key, item]) => ({ key: String(key), value: plainValue(item) }));
  }
  if (Array.isArray(value)) {
    return value.map(plainValue);
  }
  return typeof value === "object" ? plainRow(value as Row) : value;
}

/** Every row with every column; a column with an integer beyond 2^53, or with numbers and texts, is text in all rows. */
function sameColumns(rows: readonly Row[]): readonly Row[] {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const asText = new Set(columns.filter((column) => isMixed(rows.map((row) => row[column]))));
  return rows.map((row) => Object.fromEntries(columns.map((column) => [column, columnValue(row[column], asText.has(column))])));
}

function isMixed(values: readonly unknown[]): boolean {
  const types = new Set(values.filter((value) => value !== null && value !== undefined).map((value) => typeof value));
  return types.has("bigint") || (types.has("number") && types.has("string"));
}

function columnValue(value: unknown, isText: boolean): unknown {
  return value === null || value === undefined ? null : isText ? String(value) : nestedText(value);
}

/** Large integers inside of lists and records become text one by one. */
function nestedText(value: unknown): unknown {
  if (typeof value === "bigint") {
    return String(value);
  }
  if (Array.isArray(value)) {
    return value.map(nestedText);
  }
  return typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, item]) => [name, nestedText(item)]))
    : value;
}
