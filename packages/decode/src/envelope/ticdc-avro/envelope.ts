import type { CdcEvent, Columns } from "../../event.ts";
import { setProperty } from "../../set-property.ts";
import { DeclaredFields, EnvelopedChange } from "../change-event.ts";
import type { EnvelopeFormat } from "../envelope.ts";
import type { Origin } from "../origin.ts";
import { isBlock, numberOrNull } from "../source.ts";
import { tsoOf } from "../tso.ts";
import { isExtension, recogniseTicdcAvro } from "./recognise.ts";
import { listWith } from "../../list-with.ts";
import { copyFields, plainConstructor } from "../plain-constructor.ts";

type Block = Readonly<Record<string, unknown>>;

/** TiCDC's Avro with `enable-tidb-extension`: the row, with additional columns that describe the change. Deletes are tombstones. */
export const ticdcAvro: EnvelopeFormat = {
  name: "ticdc-avro",
  recognise: recogniseTicdcAvro,
  planFor: () => ({ defer: null, skip: [], rows: "self", isSelectable: true }),
  isMetaColumn: isExtension,
  open,
};

function open(value: unknown, origin: Origin): readonly CdcEvent[] | null {
  const op = isBlock(value) ? value["_tidb_op"] : null;
  const commit = isBlock(value) ? tsoOf(value["_tidb_commit_ts"]) : null;
  if (!isBlock(value) || commit === null || (op !== "c" && op !== "u")) {
    return null;
  }
  const row: Columns = {};
  const extension: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    setProperty(isExtension(name) ? extension : row, isExtension(name) ? name.slice("_tidb_".length) : name, value[name]);
  }
  const table = origin.scope.topicTable ?? { name: "" };
  const source = new SourceBlock(extension, table.name, commit.tso, commit.tsMs);
  return listWith(new EnvelopedChange(op === "c" ? "create" : "update", table, null, row, new DeclaredFields(source), origin));
}

const SourceBlock = plainConstructor(function (extension: Block, table: string, commitTs: bigint, tsMs: number) {
  this["connector"] = "tidb";
  this["table"] = table;
  this["ts_ms"] = numberOrNull(extension["commit_physical_time"]) ?? tsMs;
  this["commit_ts"] = commitTs;
  copyFields(this, extension, notOfSource);
});

/** Fields of the extension that the block has already, or not at all. */
const notOfSource: ReadonlySet<string> = new Set(["op", "commit_ts", "commit_physical_time"]);
