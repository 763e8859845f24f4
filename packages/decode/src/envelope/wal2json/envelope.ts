import { readEverything } from "../../encoding/reader.ts";
import type { CdcEvent } from "../../event.ts";
import type { EnvelopeFormat } from "../envelope.ts";
import type { Origin } from "../origin.ts";
import { isBlock } from "../source.ts";
import { membersOfWal2json, recogniseWal2json } from "./recognise.ts";
import { openTransaction } from "./transaction.ts";
import { openTuple } from "./tuple.ts";

/** PostgreSQL's wal2json. It writes types next to the values, so that numbers keep all of their digits. */
export const wal2json: EnvelopeFormat = {
  name: "wal2json",
  recognise: recogniseWal2json,
  planFor: () => ({ ...readEverything, numbers: "exact" }),
  membersOf: membersOfWal2json,
  open,
};

function open(value: unknown, origin: Origin): readonly CdcEvent[] | null {
  if (!isBlock(value)) {
    return null;
  }
  return Array.isArray(value["change"]) ? openTransaction(value["change"], value, origin) : openTuple(value, origin);
}
