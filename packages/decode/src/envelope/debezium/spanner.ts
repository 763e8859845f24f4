import type { CdcEvent } from "../../event.ts";
import { listWith } from "../../list-with.ts";
import { Watermark } from "../control-events.ts";
import { blockValue } from "../late-block.ts";
import type { Origin } from "../origin.ts";
import { bigintOrNull, isBlock } from "../source.ts";
import type { Change } from "./change.ts";

/**
 * The low watermark of Spanner's connector, which writes it into the topics of all tables with the operation letter of PostgreSQL's logical
 * messages, but no message. Null for any other change.
 */
export function openLowWatermark({ source, message = null }: Change, origin: Origin): readonly CdcEvent[] | null {
  const block = message === null ? blockValue(source, origin) : null;
  const time = isBlock(block) && block["connector"] === "spanner" ? bigintOrNull(block["low_watermark"]) : null;
  return time === null ? null : listWith(new Watermark(time, Number(time), origin));
}
