import { readEverything } from "../../encoding/reader.ts";
import type { EnvelopeFormat } from "../envelope.ts";
import { openFlatMessage } from "./flat-message.ts";
import { recogniseCanal } from "./recognise.ts";

/** Canal's flat JSON messages: some rows of one table and one operation, all values text. */
export const canal: EnvelopeFormat = {
  name: "canal",
  recognise: recogniseCanal,
  // Where types stand beside values, numbers of other writers of this format arrive with all of their digits.
  planFor: (shape) => (shape.fieldsOf("mysqlType") === null ? readEverything : { ...readEverything, numbers: "exact" }),
  open: (value, origin) => openFlatMessage(value, origin, (message) => ({ connector: "mysql", gtid: message["gtid"] || undefined })),
};
