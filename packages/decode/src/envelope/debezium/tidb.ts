import type { CdcEvent, TableName } from "../../event.ts";
import { SchemaChange, Watermark } from "../control-events.ts";
import { blockValue } from "../late-block.ts";
import type { Origin } from "../origin.ts";
import { isBlock, numberOrNull, textOrNull } from "../source.ts";
import { tsoOf } from "../tso.ts";
import { extraOf } from "../extra.ts";
import { type Change, openChange } from "./change.ts";
import { membersOfChange, membersOfSchemaChange } from "./recognise.ts";
import { listWith } from "../../list-with.ts";

/** The events of a TiCDC record. A watermark has the operation letter of PostgreSQL's logical messages, but no message. */
export function openTidbChange(op: string, change: Change, table: TableName, origin: Origin): readonly CdcEvent[] | null {
  if (op !== "m" || isBlock(change["message"])) {
    return openChange(op, change, change["before"] ?? null, change["after"] ?? null, table, origin);
  }
  const source = blockValue(change["source"], origin);
  const block = isBlock(source) ? source : {};
  const tso = tsoOf(block["commit_ts"]);
  return listWith(new Watermark(tso?.tso ?? null, numberOrNull(block["ts_ms"]) ?? tso?.tsMs ?? null, origin));
}

/**
 * The events of `{"payload":P}`, the form of keys and values that TiCDC writes without schemas; null for any other value. No part of it is
 * deferred, because a read plan looks only at the names of the outermost record.
 */
export function openTidbPayload(value: Change, origin: Origin): readonly CdcEvent[] | null {
  const payload = payloadAlone(value);
  const source = payload?.["source"];
  if (!isBlock(payload) || !isBlock(source) || source["connector"] !== "TiCDC") {
    return null;
  }
  const { op } = payload;
  const extra = extraOf(payload, typeof op === "string" ? membersOfTidbChange : membersOfSchemaChange);
  const keyed = origin.withKey(payloadAlone(origin.key) ?? origin.key);
  const unwrapped = extra === null ? keyed : keyed.withExtra(extra);
  if (typeof op !== "string") {
    return "ddl" in payload ? listWith(new SchemaChange(payload, unwrapped)) : null;
  }
  const table = { database: textOrNull(source["db"]) ?? "", name: textOrNull(source["table"]) ?? "" };
  return openTidbChange(op, payload, table, unwrapped);
}

const membersOfTidbChange: ReadonlySet<string> = new Set([...membersOfChange, "message"]);

function payloadAlone(value: unknown): Change | null {
  const payload = isBlock(value) && Object.keys(value).length === 1 ? value["payload"] : null;
  return isBlock(payload) ? payload : null;
}
