import type { CdcEvent, TableName } from "../../event.ts";
import { blockValue } from "../change-event.ts";
import { Watermark } from "../control-events.ts";
import type { Origin } from "../envelope.ts";
import { isBlock, numberOrNull } from "../source.ts";
import { tsoOf } from "../tso.ts";
import { type Change, openChange } from "./change.ts";

/** TiCDC's watermarks have the letter of PostgreSQL's messages, and no message. */
export function openTidbChange(op: string, change: Change, table: TableName, origin: Origin): readonly CdcEvent[] | null {
  if (op !== "m" || isBlock(change["message"])) {
    return openChange(op, change, change["before"] ?? null, change["after"] ?? null, table, origin);
  }
  const source = blockValue(change["source"]);
  const block = isBlock(source) ? source : {};
  const tso = tsoOf(block["commit_ts"]);
  return [new Watermark(tso?.tso ?? null, numberOrNull(block["ts_ms"]) ?? tso?.tsMs ?? null, origin)];
}
