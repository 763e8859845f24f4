import type { CdcEvent, Columns, Operation, TableName } from "../../event.ts";
import { setProperty } from "../../set-property.ts";
import { DeclaredFields, EnvelopedChange } from "../change-event.ts";
import { Watermark } from "../control-events.ts";
import type { EnvelopeFormat } from "../envelope.ts";
import { extraOf } from "../extra.ts";
import type { Origin } from "../origin.ts";
import { bigintOrNull, isBlock, textOrNull } from "../source.ts";
import { type HybridTime, hybridTimeOf } from "./clock.ts";
import { membersOfChangefeed, recogniseChangefeed } from "./recognise.ts";
import { listWith } from "../../list-with.ts";
import { copyFields, plainConstructor, setIfDefined } from "../plain-constructor.ts";
import { tableNamed } from "../table-text.ts";

type Block = Readonly<Record<string, unknown>>;

/**
 * CockroachDB's changefeeds, in each of their envelopes. Only the enriched envelope names the operation. In the others, a row without a
 * `before` image is read as an update, although it may be an insert. With `key_only` there is no value, so that every record is a
 * tombstone. With `row` there is no envelope at all.
 */
export const cockroachdb: EnvelopeFormat = {
  name: "cockroachdb",
  recognise: (shape) => recogniseChangefeed(shape)?.evidence ?? null,
  planFor: (shape) => {
    const isBare = recogniseChangefeed(shape)?.envelope === "bare";
    return { defer: null, skip: [], rows: isBare ? "self" : ["before", "after"] };
  },
  membersOf: membersOfChangefeed,
  open,
};

function open(value: unknown, origin: Origin): readonly CdcEvent[] | null {
  if (!isBlock(value)) {
    return null;
  }
  if ("__crdb__" in value) {
    return isBlock(value["__crdb__"]) ? openBare(value, value["__crdb__"], origin) : null;
  }
  if ("resolved" in value) {
    return openResolved(value["resolved"], origin);
  }
  const { after = null, before } = value;
  if (!isImage(after) || !isImage(before ?? null)) {
    return null;
  }
  return "op" in value ? openEnriched(value, after, origin) : openWrapped(value, after, origin);
}

function isImage(value: unknown): value is Columns | null {
  return value === null || isBlock(value);
}

function openResolved(resolved: unknown, origin: Origin): readonly CdcEvent[] | null {
  const time = hybridTimeOf(resolved);
  return time === null ? null : listWith(new Watermark(time.text, time.tsMs, origin));
}

/** A row with its metadata in the column `__crdb__`. Older feeds write the resolved timestamp into this column too. */
function openBare(value: Block, meta: Block, origin: Origin): readonly CdcEvent[] | null {
  if ("resolved" in meta) {
    return Object.keys(value).length === 1 && Object.keys(meta).length === 1 ? openResolved(meta["resolved"], origin) : null;
  }
  const time = commitTime(meta);
  if (time === null && !Object.keys(meta).some((name) => metaMembers.has(name))) {
    return null; // `__crdb__` is a user's own column
  }
  const row: Columns = {};
  for (const name of Object.keys(value)) {
    if (name !== "__crdb__") {
      setProperty(row, name, value[name]);
    }
  }
  const after = Object.keys(row).length === 0 ? null : row;
  const extra = extraOf(meta, metaMembers);
  const kept = extra === null ? origin : origin.withExtra({ __crdb__: extra });
  return listWith(change(after === null ? "delete" : "update", null, after, new SourceBlock({}, meta, time), null, kept));
}

const metaMembers: ReadonlySet<string> = new Set(["updated", "mvcc_timestamp", "key", "topic"]);

/**
 * A wrapped message. It is CockroachDB's if it has a time of CockroachDB's clock, or if its key is a list. A message with a registered
 * schema was recognised by the schema's name already.
 */
function openWrapped(value: Block, after: Columns | null, origin: Origin): readonly CdcEvent[] | null {
  const time = commitTime(value);
  if (time === null && !Array.isArray(origin.key) && origin.route.schemaId === null) {
    return null;
  }
  const before = isBlock(value["before"]) ? value["before"] : null;
  const isInsert = before === null && "before" in value;
  const op: Operation = after === null ? "delete" : isInsert ? "create" : "update";
  return listWith(change(op, before, after, new SourceBlock({}, value, time), null, origin));
}

const operations: ReadonlyMap<unknown, Operation> = new Map<unknown, Operation>([
  ["c", "create"],
  ["u", "update"],
  ["d", "delete"],
]);

function openEnriched(value: Block, after: Columns | null, origin: Origin): readonly CdcEvent[] | null {
  const op = operations.get(value["op"]);
  const sent = bigintOrNull(value["ts_ns"]);
  if (op === undefined || sent === null || sent < minNanoseconds || !(isBlock(value["source"]) || (value["source"] ?? null) === null)) {
    return null;
  }
  const source = isBlock(value["source"]) ? value["source"] : {};
  const before = isBlock(value["before"]) ? value["before"] : null;
  return listWith(change(op, before, after, new SourceBlock(source, source, commitTime(source)), Number(sent / 1_000_000n), origin));
}

/** The year 2001. A smaller `ts_ns` is a user's own column that counts something else. */
const minNanoseconds = 1_000_000_000_000_000_000n;

function commitTime(meta: Block): HybridTime | null {
  return hybridTimeOf(meta["ts_hlc"]) ?? hybridTimeOf(meta["updated"]) ?? hybridTimeOf(meta["mvcc_timestamp"]);
}

/** The source block under the names that every source has. Only an enriched message has these facts. Other messages have only times. */
const SourceBlock = plainConstructor(function (source: Block, meta: Block, time: HybridTime | null) {
  copyFields(this, source);
  if (time !== null) {
    this["ts_ms"] = time.tsMs;
    this["ts_us"] = time.tsNs / 1_000n;
    this["ts_ns"] = time.tsNs;
  }
  setIfDefined(this, "version", source["db_version"]);
  setIfDefined(this, "name", source["cluster_name"]);
  setIfDefined(this, "db", source["database_name"]);
  setIfDefined(this, "schema", source["schema_name"]);
  setIfDefined(this, "table", source["table_name"]);
  setIfDefined(this, "updated", meta["updated"]);
  setIfDefined(this, "mvcc_timestamp", meta["mvcc_timestamp"]);
  this["connector"] = "cockroachdb";
});

function change(
  op: Operation,
  before: Columns | null,
  after: Columns | null,
  source: Block,
  tsMs: number | null,
  origin: Origin,
): EnvelopedChange {
  return new EnvelopedChange(op, tableOf(source, origin), before, after, new DeclaredFields(source, tsMs), origin);
}

function tableOf({ db, schema, table }: Block, origin: Origin): TableName {
  const name = textOrNull(table);
  if (name === null) {
    return origin.scope.topicTable ?? { name: "" };
  }
  return tableNamed(textOrNull(db) ?? undefined, textOrNull(schema) ?? undefined, name);
}
