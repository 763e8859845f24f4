import { readEverything } from "../../encoding/reader.ts";
import type { EnvelopeFormat } from "../envelope.ts";
import { isBlock } from "../source.ts";
import { openEntries } from "./entries.ts";
import { openFlatMessage } from "./flat-message.ts";
import { messagesName, recogniseCanal } from "./recognise.ts";
import { type Fields, setIfDefined } from "../plain-constructor.ts";

export const membersOfFlatMessage: readonly string[] =
  "id database table pkNames isDdl type es ts sql sqlType mysqlType old data gtid".split(" ");
const members: ReadonlySet<string> = new Set([messagesName, ...membersOfFlatMessage]);

/**
 * Canal's messages. A flat JSON message holds some rows of one table and one operation, with all values as text. A binary message holds any
 * number of log entries.
 */
export const canal: EnvelopeFormat = {
  name: "canal",
  recognise: recogniseCanal,
  // If types are written next to the values, numbers that other writers of this format send keep all of their digits.
  planFor: (shape) => (shape.fields?.includes("mysqlType") === true ? { ...readEverything, numbers: "exact" } : readEverything),
  membersOf: () => members,
  open: (value, origin) =>
    isBlock(value) && isBlock(value[messagesName]) ? openEntries(value[messagesName], origin) : openFlatMessage(value, origin, addPosition),
};

function addPosition(source: Fields, message: Readonly<Record<string, unknown>>): void {
  setIfDefined(source, "connector", message["isDdl"] === undefined ? undefined : "mysql"); // Flink CDC's rows are of any database
  setIfDefined(source, "gtid", message["gtid"] || undefined);
}
