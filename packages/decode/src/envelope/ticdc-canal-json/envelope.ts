import type { CdcEvent } from "../../event.ts";
import { openFlatMessage } from "../canal/flat-message.ts";
import { Watermark } from "../control-events.ts";
import { canal } from "../canal/envelope.ts";
import type { EnvelopeFormat } from "../envelope.ts";
import type { Origin } from "../origin.ts";
import { isBlock } from "../source.ts";
import { tsoOf } from "../tso.ts";
import { recogniseTicdcCanalJson } from "./recognise.ts";

/** TiCDC's canal-json with `enable-tidb-extension`. Without the extension it is Canal's own format. */
export const ticdcCanalJson: EnvelopeFormat = {
  name: "ticdc-canal-json",
  recognise: recogniseTicdcCanalJson,
  planFor: (shape) => canal.planFor(shape),
  open,
};

function open(value: unknown, origin: Origin): readonly CdcEvent[] | null {
  if (!isBlock(value) || !isBlock(value["_tidb"])) {
    return null;
  }
  const extension = value["_tidb"];
  if (value["type"] === "TIDB_WATERMARK") {
    const watermark = tsoOf(extension["watermarkTs"]);
    return [new Watermark(watermark?.tso ?? null, watermark?.tsMs ?? null, origin)];
  }
  const { commitTs, onlyHandleKey, claimCheckLocation } = extension;
  return openFlatMessage(value, origin, () => ({ connector: "tidb", commit_ts: commitTs, onlyHandleKey, claimCheckLocation }));
}
