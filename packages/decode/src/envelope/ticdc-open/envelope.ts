import { readEverything } from "../../encoding/reader.ts";
import type { CdcEvent, FramingName } from "../../event.ts";
import { DeclaredFields, EnvelopedChange } from "../change-event.ts";
import { SchemaChange, Truncate, UnknownValue, Watermark } from "../control-events.ts";
import type { EnvelopeFormat } from "../envelope.ts";
import { extraOf } from "../extra.ts";
import type { Origin } from "../origin.ts";
import { keyColumns } from "../row-key.ts";
import { isBlock, numberOrNull, textOrNull } from "../source.ts";
import { type Tso, tsoOf } from "../tso.ts";
import { rowOf } from "./columns.ts";
import { recogniseTicdcOpen } from "./recognise.ts";
import { listWith } from "../../list-with.ts";
import { plainConstructor, setIfDefined } from "../plain-constructor.ts";
import { tableNamed } from "../table-text.ts";

type Block = Readonly<Record<string, unknown>>;

/**
 * TiCDC's open protocol. The document in the key says which event the document in the value describes. The framing with this protocol's
 * name takes both documents out of their messages, one pair after another.
 */
export function ticdcOpenIn(framing: FramingName): EnvelopeFormat {
  return {
    name: "ticdc-open",
    recognise: recogniseTicdcOpen,
    planFor: () => ({ ...readEverything, numbers: "exact" }),
    pairedFraming: framing,
    open: (value, origin) => (origin.route.framing === framing && isBlock(value) ? open(value, origin) : null),
  };
}

const rowMessage = 1;
const ddlMessage = 2;
const resolvedMessage = 3;

/** https://docs.pingcap.com/tidb/stable/ticdc-open-protocol#ddl-type-code */
const truncateTable = 11;

/** Members of the document in the key, which is not the key of a row. */
const keyMembers: ReadonlySet<string> = new Set(["ts", "scm", "tbl", "t", "rid", "ptn", "ohk", "ccl"]);

function open(value: Block, origin: Origin): readonly CdcEvent[] {
  const { key } = origin;
  const commit = isBlock(key) ? tsoOf(key["ts"]) : null;
  if (!isBlock(key) || commit === null) {
    return listWith(new UnknownValue(value, origin)); // another producer has replaced the key
  }
  const extra = extraOf(key, keyMembers);
  const kept = extra === null ? origin : origin.withExtra(extra);
  switch (numberOrNull(key["t"])) {
    case rowMessage:
      return listWith(rowEvent(value, key, commit, kept));
    case ddlMessage:
      return listWith(ddlEvent(value, key, commit, kept));
    case resolvedMessage:
      return listWith(new Watermark(commit.tso, commit.tsMs, kept));
    default:
      return listWith(new UnknownValue(value, origin));
  }
}

function rowEvent(value: Block, message: Block, commit: Tso, origin: Origin): CdcEvent {
  const { u = null, p = null, d = null } = value;
  const updated = rowOf(u, origin.scope);
  const previous = rowOf(p, origin.scope);
  const deleted = rowOf(d, origin.scope);
  const row = updated ?? deleted;
  const areRows = (updated !== null || u === null) && (previous !== null || p === null) && (deleted !== null || d === null);
  if (row === null || !areRows || (deleted !== null && (updated !== null || previous !== null))) {
    return new UnknownValue(value, origin);
  }
  const op = updated === null ? "delete" : previous === null ? "create" : "update";
  const before = deleted ?? previous;
  const table = tableNamed(textOrNull(message["scm"]) ?? "", undefined, textOrNull(message["tbl"]) ?? "");
  const keyed = origin.withKey(keyColumns(row.columns, row.key));
  const source = new SourceBlock(message, commit);
  return new EnvelopedChange(op, table, before?.columns ?? null, updated?.columns ?? null, new DeclaredFields(source), keyed);
}

function ddlEvent(value: Block, message: Block, commit: Tso, origin: Origin): CdcEvent {
  if (numberOrNull(value["t"]) === truncateTable) {
    const table = tableNamed(textOrNull(message["scm"]) ?? "", undefined, textOrNull(message["tbl"]) ?? "");
    return new Truncate(table, { source: new SourceBlock(message, commit), ts_ms: commit.tsMs }, origin.withKey(null));
  }
  const block = { ddl: value["q"], databaseName: message["scm"], source: new SourceBlock(message, commit), ts_ms: commit.tsMs };
  return new SchemaChange(block, origin.withKey(null));
}

const SourceBlock = plainConstructor(function ({ scm, tbl, rid, ptn, ohk, ccl }: Block, { tso, tsMs }: Tso) {
  this["connector"] = "tidb";
  setIfDefined(this, "db", scm);
  setIfDefined(this, "table", tbl);
  this["ts_ms"] = tsMs;
  this["commit_ts"] = tso;
  setIfDefined(this, "rowId", rid);
  setIfDefined(this, "partition", ptn);
  setIfDefined(this, "onlyHandleKey", ohk);
  setIfDefined(this, "claimCheckLocation", ccl);
});
