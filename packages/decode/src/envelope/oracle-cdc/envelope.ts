import type { CdcEvent, Columns, Operation, TableName } from "../../event.ts";
import { setProperty } from "../../set-property.ts";
import { EnvelopedChange } from "../change-event.ts";
import { Truncate } from "../control-events.ts";
import type { EnvelopeFormat } from "../envelope.ts";
import type { Origin } from "../origin.ts";
import { isBlock, numberOrNull, scalarText } from "../source.ts";
import { tableOfText } from "../table-text.ts";
import { metaColumns, recogniseOracleCdc } from "./recognise.ts";
import { eventsOf } from "../events-of.ts";

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
      ? eventsOf(new Truncate(table, { source: sourceBlock(value, table, "false"), ts_ms: tsMs }, kept))
      : null;
  }
  const row = withoutMeta(value);
  const source = sourceBlock(value, table, op === "read" ? "true" : "false");
  return eventsOf(
    new EnvelopedChange(op, table, op === "delete" ? row : null, op === "delete" ? null : row, { source, ts_ms: tsMs }, origin),
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
function sourceBlock(value: Block, table: TableName, snapshot: string): Block {
  const { scn, row_id, username, op_ts } = value;
  const { database: db, schema, name } = table;
  const block = { connector: "oracle", db, schema, table: name, snapshot, ts_ms: op_ts ?? undefined, scn, row_id, user_name: username };
  return Object.fromEntries(Object.entries(block).filter(([, field]) => field !== undefined));
}
