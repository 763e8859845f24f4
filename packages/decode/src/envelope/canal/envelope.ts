import { readEverything } from "../../encoding/reader.ts";
import type { EnvelopeFormat } from "../envelope.ts";
import { isBlock } from "../source.ts";
import { openEntries } from "./entries.ts";
import { openFlatMessage } from "./flat-message.ts";
import { messagesName, recogniseCanal } from "./recognise.ts";

/** Canal's flat JSON messages: some rows of one table and one operation, all values text; and its binary ones, of any number of these. */
export const canal: EnvelopeFormat = {
  name: "canal",
  recognise: recogniseCanal,
  // Where types stand beside values, numbers of other writers of this format arrive with all of their digits.
  planFor: (shape) => (shape.fieldsOf("mysqlType") === null ? readEverything : { ...readEverything, numbers: "exact" }),
  open: (value, origin) =>
    isBlock(value) && isBlock(value[messagesName])
      ? openEntries(value[messagesName], origin)
      : openFlatMessage(value, origin, (message) => ({ connector: "mysql", gtid: message["gtid"] || undefined })),
};
