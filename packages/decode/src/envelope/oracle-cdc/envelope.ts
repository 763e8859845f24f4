import type { CdcEvent, Columns, Operation, TableName } from "../../event.ts";
import { setProperty } from "../../set-property.ts";
import { DeclaredFields, EnvelopedChange } from "../change-event.ts";
import { Truncate } from "../control-events.ts";
import type { EnvelopeFormat } from "../envelope.ts";
import type { Origin } from "../origin.ts";
import { isBlock, numberOrNull, scalarText } from "../source.ts";
import { tableOfText } from "../table-text.ts";
import { metaColumns, recogniseOracleCdc } from "./recognise.ts";
import { listWith } from "../../list-with.ts";
import { plainConstructor, setIfDefined, setIfPresent } from "../plain-constructor.ts";

type Block = Readonly<Record<string, unknown>>;

/** Confluent's Oracle CDC connector: the row, with additional columns that describe the change. */
export const oracleCdc: EnvelopeFormat = {
  name: "oracle-cdc",
  recognise: recogniseOracleCdc,
  planFor: () => ({ defer: null, skip: [], rows: "self" }),
  isMetaColumn: (name) => metaColumns.has(name),
  open,
};

const operations: ReadonlyMap<unknown, Operation> = new Map<unknown, Operation>([
  ["R", "read"],
  ["I", "create"],
  ["U", "update"],
  ["D", "delete"],
]);

function open(value: unknown, origin: Origin): readonly CdcEvent[] | null {
  if (!isBlock(value) || typeof value["table"] !== "string" || !/^\d{1,20}$/.test(scalarText(value["scn"]) ?? "")) {
    return null;
  }
  const table = tableOfText(value["table"]);
  const tsMs = numberOrNull(value["current_ts"]);
  if (tsMs === null && value["current_ts"] !== null) {
    return null;
  }
  const op = operations.get(value["op_type"]);
  if (op === undefined) {
    const kept = origin.withColumns(withoutMeta(value));
    return value["op_type"] === "T"
      ? listWith(new Truncate(table, { source: new SourceBlock(value, table, "false"), ts_ms: tsMs }, kept))
      : null;
  }
  const row = withoutMeta(value);
  const source = new SourceBlock(value, table, op === "read" ? "true" : "false");
  return listWith(
    new EnvelopedChange(op, table, op === "delete" ? row : null, op === "delete" ? null : row, new DeclaredFields(source, tsMs), origin),
  );
}

function withoutMeta(value: Block): Columns {
  const row: Columns = {};
  for (const name of Object.keys(value)) {
    if (!metaColumns.has(name)) {
      setProperty(row, name, value[name]);
    }
  }
  return row;
}

/** The source block under Debezium's names. The times are milliseconds as text. */
const SourceBlock = plainConstructor(function (value: Block, table: TableName, snapshot: string) {
  this["connector"] = "oracle";
  setIfDefined(this, "db", table.database);
  setIfDefined(this, "schema", table.schema);
  this["table"] = table.name;
  this["snapshot"] = snapshot;
  setIfPresent(this, "ts_ms", value["op_ts"]);
  setIfDefined(this, "scn", value["scn"]);
  setIfDefined(this, "row_id", value["row_id"]);
  setIfDefined(this, "user_name", value["username"]);
});
