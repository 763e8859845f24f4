import type { CdcEvent } from "../../event.ts";
import { openFlatMessage } from "../canal/flat-message.ts";
import { Watermark } from "../control-events.ts";
import { canal, membersOfFlatMessage } from "../canal/envelope.ts";
import type { EnvelopeFormat } from "../envelope.ts";
import { extraOf } from "../extra.ts";
import type { Origin } from "../origin.ts";
import { isBlock } from "../source.ts";
import { tsoOf } from "../tso.ts";
import { recogniseTicdcCanalJson } from "./recognise.ts";
import { listWith } from "../../list-with.ts";
import { setIfPresent } from "../plain-constructor.ts";

/** TiCDC's canal-json with `enable-tidb-extension`. Without the extension, it is Canal's own format. */
export const ticdcCanalJson: EnvelopeFormat = {
  name: "ticdc-canal-json",
  recognise: recogniseTicdcCanalJson,
  planFor: (shape) => canal.planFor(shape),
  membersOf: () => members,
  open,
};

const members: ReadonlySet<string> = new Set([...membersOfFlatMessage, "_tidb"]);

const extensionMembers: ReadonlySet<string> = new Set(["commitTs", "watermarkTs", "onlyHandleKey", "claimCheckLocation"]);

function open(value: unknown, origin: Origin): readonly CdcEvent[] | null {
  if (!isBlock(value) || !isBlock(value["_tidb"])) {
    return null;
  }
  const extension = value["_tidb"];
  if (value["type"] === "TIDB_WATERMARK") {
    const watermark = tsoOf(extension["watermarkTs"]);
    return watermark === null ? null : listWith(new Watermark(watermark.tso, watermark.tsMs, origin));
  }
  const { commitTs, onlyHandleKey, claimCheckLocation } = extension;
  if (tsoOf(commitTs) === null) {
    return null;
  }
  const extra = extraOf(extension, extensionMembers);
  const kept = extra === null ? origin : origin.withExtra({ _tidb: extra });
  return openFlatMessage(value, kept, (source) => {
    source["connector"] = "tidb";
    source["commit_ts"] = commitTs;
    setIfPresent(source, "onlyHandleKey", onlyHandleKey);
    setIfPresent(source, "claimCheckLocation", claimCheckLocation);
  });
}
