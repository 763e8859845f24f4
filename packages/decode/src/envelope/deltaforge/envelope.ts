import { readEverything } from "../../encoding/reader.ts";
import type { CdcEvent, TableName } from "../../event.ts";
import { SchemaChange, UnknownValue } from "../control-events.ts";
import { changePlan, headOfSource, tableInValue, tableOf } from "../debezium/plan.ts";
import { isSourceBlock } from "../debezium/source-evidence.ts";
import type { EnvelopeFormat } from "../envelope.ts";
import { extraOf } from "../extra.ts";
import type { Origin } from "../origin.ts";
import { isBlock, textOrNull } from "../source.ts";
import { openDeltaforgeChange } from "./change.ts";
import { isWrapped, members, recogniseDeltaforge } from "./recognise.ts";
import { listWith } from "../../list-with.ts";

type Block = Readonly<Record<string, unknown>>;

/** DeltaForge's native events. Its format `debezium` has the same events under `payload`. */
export const deltaforge: EnvelopeFormat = {
  name: "deltaforge",
  recognise: recogniseDeltaforge,
  planFor: ({ fields }) => (isWrapped(fields) ? readEverything : changePlan(false)),
  membersOf: ({ fields }) => (isWrapped(fields) ? new Set(fields) : members),
  tableIn: tableInValue,
  hasDatabaseBeforeTable: (namespace) => namespace.startsWith("deltaforge."),
  open,
  openUnprojected,
};

function open(value: unknown, origin: Origin): readonly CdcEvent[] | null {
  const event = eventOf(value);
  const head = event === null ? null : headOfSource(event["source"]);
  if (event === null || head?.isEvident !== true || typeof event["op"] !== "string") {
    return null;
  }
  const { op, ddl = null } = event;
  if (ddl !== null && !isBlock(ddl)) {
    return null;
  }
  const table = tableOf(head, origin.scope);
  const extra = event === value ? null : extraOf(event, members);
  const kept = extra === null ? origin : origin.withExtra(extra);
  return isBlock(ddl) ? openDdl(ddl, event, table, kept) : openDeltaforgeChange(op, event, table, kept);
}

/** An event that `open` could not read becomes an unknown event: DeltaForge's processors can turn a row into any value. */
function openUnprojected(value: unknown, origin: Origin): readonly CdcEvent[] | null {
  const event = eventOf(value);
  return event !== null && typeof event["op"] === "string" && isSourceBlock(event["source"])
    ? listWith(new UnknownValue(value, origin))
    : null;
}

/**
 * The event without the wrapper `{"schema","payload"}`. JSON with a Connect schema has lost the wrapper already. Other encodings keep it.
 */
function eventOf(value: unknown): Block | null {
  if (!isBlock(value)) {
    return null;
  }
  const { payload } = value;
  return isWrapped(Object.keys(value)) && isBlock(payload) ? payload : value;
}

/**
 * Opens a DDL event. Statements have the operation letter of a snapshot's read. PostgreSQL's TRUNCATE is such an event too, but the text of
 * its statement is missing.
 */
function openDdl(ddl: Block, event: Block, table: TableName, origin: Origin): readonly CdcEvent[] | null {
  const sql = textOrNull(ddl["sql"]);
  if (sql === "TRUNCATE") {
    return openDeltaforgeChange("t", event, table, origin);
  }
  const { source, ts_ms } = event;
  return listWith(new SchemaChange({ ddl: sql, databaseName: ddl["database"], tableChanges: [], source, ts_ms }, origin));
}
