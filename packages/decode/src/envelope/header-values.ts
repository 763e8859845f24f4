import { isUtf8 } from "node:buffer";
import { readHeaderJson } from "../encoding/connect-json/header-json.ts";
import type { ColumnHints } from "../encoding/reader.ts";
import { isDecodeError } from "../errors.ts";
import type { Columns, KeyChange, TableName } from "../event.ts";
import type { RecordHeaders } from "../record.ts";
import type { EnvelopeScope } from "./envelope.ts";
import { tableNamed } from "./table-text.ts";

/**
 * Values of headers that Debezium writes. Connect's header converter decides their form: plain text, a JSON value, or JSON with a schema.
 */

/** The part of a topic's scope that header values are read with. */
type HeaderScope = Pick<EnvelopeScope, "values" | "limits">;

const noHints: ColumnHints = new Map();

/** The text of the last header with this name, or null. */
export function headerText(headers: RecordHeaders, name: string, scope: HeaderScope): string | null {
  const bytes = lastHeader(headers, name);
  return bytes === null ? null : textIn(bytes, scope);
}

function textIn(bytes: Uint8Array, scope: HeaderScope): string | null {
  const value = parsed(bytes, scope, noHints);
  return typeof value === "string" ? value : null;
}

/**
 * The value of a header: text, or a number or a boolean if the header states its type. Null if it is anything else. A number without a type is
 * text.
 */
export function scalarIn(bytes: Uint8Array, scope: HeaderScope): string | number | bigint | boolean | null {
  const value = parsed(bytes, scope, noHints);
  const isScalar = typeof value === "string" || typeof value === "number" || typeof value === "bigint" || typeof value === "boolean";
  return isScalar ? value : null;
}

/**
 * The other key of a primary-key change, or null if the record is not part of one. A key with a schema is read with it, and a key without one
 * as the key of a record in JSON. A header that is not a JSON object, or that contradicts its schema or the hints, gives its plain text, so that
 * the record still counts as part of a key change.
 */
export function keyChangeOf(headers: RecordHeaders, scope: EnvelopeScope): KeyChange | null {
  const newKey = keyIn(headers, "__debezium.newkey", scope);
  if (newKey !== null) {
    return { kind: "moved-to", key: newKey };
  }
  const oldKey = keyIn(headers, "__debezium.oldkey", scope);
  return oldKey === null ? null : { kind: "moved-from", key: oldKey };
}

function keyIn(headers: RecordHeaders, name: string, scope: EnvelopeScope): Columns | string | Buffer | null {
  const bytes = lastHeader(headers, name);
  if (bytes === null) {
    return null;
  }
  const value = parsed(bytes, scope, scope.columns);
  return isKey(value) ? value : (bareText(bytes) ?? Buffer.from(bytes));
}

function isKey(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * The table that ExtractNewRecordState wrote into headers, which is all that a tombstone says about its table. If there is none, the
 * topic's table.
 */
export function tableOfHeaders(headers: RecordHeaders, scope: EnvelopeScope): TableName | null {
  const { topicTable } = scope;
  const name = headerText(headers, "__table", scope);
  if (name === null || name === "") {
    return topicTable;
  }
  const fromTopic = topicTable?.name === name ? topicTable : null;
  const database = headerText(headers, "__db", scope) ?? fromTopic?.database;
  const schema = headerText(headers, "__schema", scope) ?? fromTopic?.schema;
  return tableNamed(database, schema, name);
}

function lastHeader(headers: RecordHeaders, name: string): Uint8Array | null {
  for (let i = headers.length - 1; i >= 0; i--) {
    const header = headers[i];
    if (header?.[0] === name && header[1] !== null) {
      return header[1];
    }
  }
  return null;
}

function parsed(bytes: Uint8Array, { values, limits }: HeaderScope, hints: ColumnHints): unknown {
  const first = bytes[0];
  if (first !== quoteByte && first !== openBrace) {
    return bareText(bytes);
  }
  try {
    return readHeaderJson(bytes, values, limits, hints);
  } catch (error) {
    if (isDecodeError(error)) {
      return bareText(bytes); // it only begins like JSON
    }
    throw error;
  }
}

const quoteByte = 0x22;
const openBrace = 0x7b;

function bareText(bytes: Uint8Array): string | null {
  return isUtf8(bytes) ? Buffer.from(bytes).toString("utf8") : null;
}
