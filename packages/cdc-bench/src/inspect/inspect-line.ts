import type { CdcEvent, KafkaRecord, Source, TableName } from "@cdckit/decode";
import { type Mask, noMask } from "./mask.ts";
import { toJsonText } from "../report/json-text.ts";

/** What `inspect` knows of one record that could not be decoded. */
export interface DecodeFailure {
  readonly code: string;
  readonly message: string;
}

type Line = Readonly<Record<string, unknown>>;

/** The line of `inspect --json` for one event. Reads every part of the event, so one that is broken throws here. */
export function eventLine(event: CdcEvent, more: Line = {}, mask: Mask = noMask): string {
  const { topic, partition, offset } = event.record;
  const { framing, encoding, envelope, schemaId, kind, key } = event;
  const format = { topic, partition, offset, framing, encoding, envelope, schemaId, kind };
  return toJsonText({ ...format, ...changeColumns(event, mask.bare(key), mask), error: null, ...ownFields(event, mask), ...more });
}

/** The line of `inspect --json` for a record that could not be decoded. */
export function failureLine(record: KafkaRecord, error: DecodeFailure, more: Line = {}): string {
  return eventlessLine(record, error, more);
}

/** The line of `inspect --json --explain` for a record that gives no events: without it, nobody would read its explanation. */
export function silenceLine(record: KafkaRecord, more: Line = {}): string {
  return eventlessLine(record, null, more);
}

function eventlessLine(record: KafkaRecord, error: DecodeFailure | null, more: Line): string {
  const { topic, partition, offset } = record;
  const unknown = { framing: null, encoding: null, envelope: null, schemaId: null, kind: null };
  const columns = { op: null, table: null, key: null, before: null, after: null };
  return toJsonText({ topic, partition, offset, ...unknown, ...columns, error, ...more });
}

function changeColumns(event: CdcEvent, key: unknown, mask: Mask): Line {
  const table = "table" in event ? tableColumn(event.table) : null;
  if (event.kind !== "change") {
    return { op: null, table, key, before: null, after: null };
  }
  // `source` is not printed, but a source that cannot be read makes the record undecodable.
  void event.source;
  return { op: event.op, table, key, before: mask.value(event.before), after: mask.value(event.after) };
}

function tableColumn(table: TableName | null): Line | null {
  return table === null ? null : { database: table.database, schema: table.schema, name: table.name };
}

/** What the kinds other than `change` add. */
function ownFields(event: CdcEvent, mask: Mask): Line {
  switch (event.kind) {
    case "change":
    case "tombstone":
      return {};
    case "row":
      return { row: mask.value(event.row) };
    case "truncate":
      return { source: sourceFields(event.source, mask), transaction: event.transaction, tsMs: event.tsMs };
    case "message":
      return { prefix: event.prefix, content: mask.quote(event.content), source: sourceFields(event.source, mask), tsMs: event.tsMs };
    case "transaction":
      return transactionFields(event);
    case "heartbeat":
      return { tsMs: event.tsMs };
    case "schema-change":
      return schemaChangeFields(event, mask);
    case "notification":
      return notificationFields(event, mask);
    case "watermark":
      return { watermark: event.watermark, tsMs: event.tsMs };
    case "unknown":
      return { value: mask.bare(event.value) };
  }
}

/** Statements in a source: `query` with MySQL's `include.query`, `redo_sql` with Oracle's `log.mining.include.redo.sql`. */
const statements: ReadonlySet<string> = new Set(["query", "redo_sql"]);

/** Without `raw`, which says the same again. */
function sourceFields(source: Source, mask: Mask): Line {
  const { connector, name, version, snapshot, tsMs, tsUs, tsNs } = source;
  const shown = ([field, value]: readonly [string, unknown]): [string, unknown] => [field, quoted(value, statements.has(field), mask)];
  const position = Object.fromEntries(Object.entries(source.position).map(shown));
  return { connector, name, version, snapshot, tsMs, tsUs, tsNs, position };
}

function quoted(value: unknown, isQuoting: boolean, mask: Mask): unknown {
  return isQuoting && value !== null ? mask.quote(value) : value;
}

function transactionFields(event: Extract<CdcEvent, { kind: "transaction" }>): Line {
  const { status, id, eventCount, dataCollections, tsMs } = event;
  return { status, id, eventCount, dataCollections, tsMs };
}

function schemaChangeFields(event: Extract<CdcEvent, { kind: "schema-change" }>, mask: Mask): Line {
  const { ddl, database, schema, tables, source, tsMs } = event;
  const shown = tables.map((table) => withoutDefaults(table, mask));
  return { ddl: quoted(ddl, true, mask), database, schema, tables: shown, source: sourceFields(source, mask), tsMs };
}

/** What `tableChanges` says of a table and its columns that is no text of a user's own, as defaults, members of an enum and comments are. */
const structure: ReadonlySet<string> = new Set(
  (
    "type id table primaryKeyColumnNames columns name position jdbcType nativeType typeName typeExpression charsetName defaultCharsetName " +
    "length scale optional autoIncremented generated hasDefaultValue"
  ).split(" "),
);

function withoutDefaults(part: unknown, mask: Mask): unknown {
  if (Array.isArray(part)) {
    return part.map((item) => withoutDefaults(item, mask));
  }
  if (typeof part !== "object" || part === null) {
    return part;
  }
  const shown = Object.entries(part).map(([name, member]) => [
    name,
    structure.has(name) ? withoutDefaults(member, mask) : quoted(member, true, mask),
  ]);
  return Object.fromEntries(shown) as unknown;
}

function notificationFields(event: Extract<CdcEvent, { kind: "notification" }>, mask: Mask): Line {
  const { id, type, aggregateType, additionalData, tsMs } = event;
  return { id, type, aggregateType, additionalData: mask.value(additionalData), tsMs };
}
