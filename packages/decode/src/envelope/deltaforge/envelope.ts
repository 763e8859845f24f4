import { Deferred } from "../../encoding/reader.ts";
import type { CdcEvent, Columns } from "../../event.ts";
import { setProperty } from "../../set-property.ts";
import { SchemaChange } from "../control-events.ts";
import { openDebeziumChange } from "../debezium/envelope.ts";
import { changePlan } from "../debezium/plan.ts";
import type { EnvelopeFormat, Origin } from "../envelope.ts";
import { isBlock, textOrNull } from "../source.ts";
import { recogniseDeltaforge } from "./recognise.ts";

type Block = Readonly<Record<string, unknown>>;

/** DeltaForge's native events; its form `debezium` puts them under `payload`, where they are the same. */
export const deltaforge: EnvelopeFormat = {
  name: "deltaforge",
  recognise: recogniseDeltaforge,
  planFor: () => changePlan(),
  open,
};

function open(value: unknown, origin: Origin): readonly CdcEvent[] | null {
  if (!isBlock(value) || typeof value["op"] !== "string" || !(value["source"] instanceof Deferred)) {
    return null;
  }
  const { op, before, after, ddl } = value;
  return isBlock(ddl)
    ? openDdl(ddl, value, origin)
    : openDebeziumChange(op, { ...value, before: withBytes(before), after: withBytes(after) }, origin);
}

/** Statements have the letter of a snapshot's read. PostgreSQL's TRUNCATE is one, without the statement's own words. */
function openDdl(ddl: Block, value: Block, origin: Origin): readonly CdcEvent[] | null {
  const sql = textOrNull(ddl["sql"]);
  if (sql === "TRUNCATE") {
    return openDebeziumChange("t", value, origin);
  }
  const { source, ts_ms } = value;
  return [new SchemaChange({ ddl: sql, databaseName: ddl["database"], tableChanges: [], source, ts_ms }, origin)];
}

/** The row with its binary columns as bytes: they come as `{"_base64":"..."}`, MySQL's own form of JSON as `{"_base64_json":"..."}`. */
function withBytes(image: unknown): unknown {
  if (!isBlock(image)) {
    return image;
  }
  let row: Columns | null = null;
  for (const name of Object.keys(image)) {
    const bytes = bytesOf(image[name]);
    if (bytes !== null) {
      row ??= { ...image };
      setProperty(row, name, bytes);
    }
  }
  return row ?? image;
}

function bytesOf(column: unknown): Buffer | null {
  if (!isBlock(column) || Object.keys(column).length !== 1) {
    return null;
  }
  const base64 = column["_base64"] ?? column["_base64_json"];
  return typeof base64 === "string" && /^[A-Za-z0-9+/]*={0,2}$/.test(base64) ? Buffer.from(base64, "base64") : null;
}
