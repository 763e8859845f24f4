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
  return toJsonText({ ...format, ...changeColumns(event, mask.value(key), mask), error: null, ...ownFields(event, mask), ...more });
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
      return { source: sourceFields(event.source), transaction: event.transaction, tsMs: event.tsMs };
    case "message":
      return { prefix: event.prefix, content: mask.value(event.content), source: sourceFields(event.source), tsMs: event.tsMs };
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
      return { value: mask.value(event.value) };
  }
}

/** Without `raw`, which says the same again. */
function sourceFields(source: Source): Line {
  const { connector, name, version, snapshot, tsMs, tsUs, tsNs, position } = source;
  return { connector, name, version, snapshot, tsMs, tsUs, tsNs, position };
}

function transactionFields(event: Extract<CdcEvent, { kind: "transaction" }>): Line {
  const { status, id, eventCount, dataCollections, tsMs } = event;
  return { status, id, eventCount, dataCollections, tsMs };
}

function schemaChangeFields(event: Extract<CdcEvent, { kind: "schema-change" }>, mask: Mask): Line {
  const { ddl, database, schema, tables, source, tsMs } = event;
  return { ddl: ddl === null ? null : mask.quote(ddl), database, schema, tables, source: sourceFields(source), tsMs };
}

function notificationFields(event: Extract<CdcEvent, { kind: "notification" }>, mask: Mask): Line {
  const { id, type, aggregateType, additionalData, tsMs } = event;
  return { id, type, aggregateType, additionalData: mask.value(additionalData), tsMs };
}
