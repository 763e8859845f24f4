import { readEverything } from "../../encoding/reader.ts";
import type { CdcEvent, Columns, Operation } from "../../event.ts";
import { DeclaredFields, EnvelopedChange } from "../change-event.ts";
import { SchemaChange, Truncate, Watermark } from "../control-events.ts";
import type { EnvelopeFormat } from "../envelope.ts";
import type { Origin } from "../origin.ts";
import { keyColumns, withKey } from "../row-key.ts";
import { isBlock, numberOrNull, textOrNull } from "../source.ts";
import { convertColumns } from "../sql-columns.ts";
import { type Tso, tsoOf } from "../tso.ts";
import { recogniseTicdcSimple } from "./recognise.ts";
import { conversionsOf } from "./row-values.ts";
import { learnSchema, schemaFor } from "./table-schemas.ts";
import { listWith } from "../../list-with.ts";
import { plainConstructor, setIfDefined, setIfPresent } from "../plain-constructor.ts";
import { tableNamed } from "../table-text.ts";

type Block = Readonly<Record<string, unknown>>;

/**
 * TiCDC's simple protocol. Rows are text. Their types are in a BOOTSTRAP or DDL message of the topic, which may come before the rows or not
 * at all. These types are used only if the user has asked for it (`learn.schemaChanges`), and only for rows that come after the message.
 * Otherwise a row is always the same text, whether or not such a message came before it.
 */
export const ticdcSimple: EnvelopeFormat = {
  name: "ticdc-simple",
  recognise: recogniseTicdcSimple,
  planFor: () => readEverything,
  membersOf: ({ fields, typeName, unionNames = [] }) => (typeName === null && unionNames.length === 0 ? members : new Set(fields)),
  open,
};

const members: ReadonlySet<string> = new Set(
  (
    "version database table tableID type commitTs buildTs schemaVersion claimCheckLocation handleKeyOnly checksum data old sql tableSchema " +
    "preTableSchema"
  ).split(" "),
);

const operations: ReadonlyMap<unknown, Operation> = new Map<unknown, Operation>([
  ["INSERT", "create"],
  ["UPDATE", "update"],
  ["DELETE", "delete"],
]);

const ddlTypes: ReadonlySet<unknown> = new Set([
  "BOOTSTRAP",
  "CREATE",
  "RENAME",
  "CINDEX",
  "DINDEX",
  "ERASE",
  "TRUNCATE",
  "ALTER",
  "QUERY",
]);

function open(value: unknown, origin: Origin): readonly CdcEvent[] | null {
  const message = isBlock(value) ? withoutUnion(value) : null;
  if (message === null || numberOrNull(message["version"]) !== 1) {
    return null;
  }
  const { type } = message;
  const commit = tsoOf(message["commitTs"]);
  if (type === "WATERMARK" && commit !== null) {
    return listWith(new Watermark(commit.tso, commit.tsMs, origin));
  }
  const op = operations.get(type);
  if (op !== undefined && commit !== null) {
    return openRow(op, message, commit, origin);
  }
  return ddlTypes.has(type) ? listWith(openDdl(type, message, commit, origin)) : null;
}

/** The message itself. In Avro, it is inside of a record that holds one of four kinds of messages. */
function withoutUnion(value: Block): Block {
  const { payload } = value;
  return isBlock(payload) ? { type: value["type"], ...payload } : value;
}

function openRow(op: Operation, message: Block, commit: Tso, origin: Origin): readonly CdcEvent[] | null {
  const { data = null, old = null } = message;
  if (!(isBlock(data) || data === null) || !(isBlock(old) || old === null) || (data === null && old === null)) {
    return null;
  }
  const schema = schemaFor(message, origin.scope);
  const conversionOf = conversionsOf(schema, origin.scope);
  const convert = (row: Columns | null): Columns | null => (row === null ? null : convertColumns(row, conversionOf));
  const [before, after] = [convert(old), convert(data)];
  const table = tableNamed(textOrNull(message["database"]) ?? "", undefined, textOrNull(message["table"]) ?? "");
  const source = new SourceBlock(message, table.database ?? null, table.name, commit);
  const keyed = withKey(origin, keyColumns(after ?? before, schema?.primaryKey ?? []));
  return listWith(new EnvelopedChange(op, table, before, after, new DeclaredFields(source, message["buildTs"]), keyed));
}

function openDdl(type: unknown, message: Block, commit: Tso | null, origin: Origin): CdcEvent {
  const { tableSchema, preTableSchema, sql, buildTs } = message;
  learnSchema(tableSchema, origin.scope);
  const described = isBlock(tableSchema) ? tableSchema : isBlock(preTableSchema) ? preTableSchema : {};
  const database = textOrNull(described["schema"]) ?? textOrNull(described["database"]);
  const name = textOrNull(described["table"]);
  const source = new SourceBlock(message, database, name, commit);
  if (type === "TRUNCATE") {
    return new Truncate({ ...(database === null ? {} : { database }), name: name ?? "" }, { source, ts_ms: buildTs }, origin);
  }
  const tableChanges = isBlock(tableSchema) ? [{ type, id: `"${database}"."${name}"`, table: tableSchema }] : [];
  return new SchemaChange({ ddl: sql, databaseName: database, tableChanges, source, ts_ms: buildTs }, origin);
}

const SourceBlock = plainConstructor(function (message: Block, database: string | null, table: string | null, commit: Tso | null) {
  this["connector"] = "tidb";
  setIfPresent(this, "db", database);
  setIfPresent(this, "table", table);
  setIfDefined(this, "ts_ms", commit?.tsMs);
  setIfDefined(this, "commit_ts", commit?.tso);
  setIfPresent(this, "tableID", message["tableID"]);
  setIfPresent(this, "schemaVersion", message["schemaVersion"]);
  setIfPresent(this, "claimCheckLocation", message["claimCheckLocation"]);
  setIfPresent(this, "handleKeyOnly", message["handleKeyOnly"]);
  setIfPresent(this, "checksum", message["checksum"]);
});
