import type { CdcEvent, Operation } from "../../event.ts";
import { DeclaredFields, EnvelopedChange, TransactionBlock } from "../change-event.ts";
import type { EnvelopeFormat } from "../envelope.ts";
import { extraOf } from "../extra.ts";
import type { Origin } from "../origin.ts";
import { millisOf } from "../instant-text.ts";
import { isBlock, scalarText } from "../source.ts";
import { recogniseQlik } from "./recognise.ts";
import { listWith } from "../../list-with.ts";
import { copyFields, plainConstructor } from "../plain-constructor.ts";

type Block = Readonly<Record<string, unknown>>;

/** Qlik Replicate's messages. They do not name their table: the topic or a hint names it. */
export const qlik: EnvelopeFormat = {
  name: "qlik",
  recognise: recogniseQlik,
  planFor: () => ({ defer: null, skip: [], rows: ["data", "beforeData"] }),
  membersOf: ({ fields }) => (fields?.includes("magic") === true ? outerMembers : members),
  open,
};

const members: ReadonlySet<string> = new Set(["data", "beforeData", "headers"]);
const outerMembers: ReadonlySet<string> = new Set(["magic", "type", "headers", "messageSchemaId", "messageSchema", "message"]);

const operations: ReadonlyMap<unknown, Operation> = new Map<unknown, Operation>([
  ["REFRESH", "read"],
  ["INSERT", "create"],
  ["UPDATE", "update"],
  ["DELETE", "delete"],
]);

function open(value: unknown, origin: Origin): readonly CdcEvent[] | null {
  const isOuter = isBlock(value) && value["magic"] === "atMSG";
  const message = isOuter ? value["message"] : value;
  if (!isBlock(message) || !isBlock(message["headers"])) {
    return null;
  }
  const extra = isOuter ? extraOf(message, members) : null;
  const kept = extra === null ? origin : origin.withExtra(extra);
  const { headers, data, beforeData = null } = message;
  const op = operations.get(headers["operation"]);
  if (
    op === undefined ||
    scalarText(headers["changeSequence"]) === null ||
    !isBlock(data) ||
    !(isBlock(beforeData) || beforeData === null)
  ) {
    return null;
  }
  const table = origin.scope.topicTable ?? { name: "" };
  const before = op === "delete" ? (beforeData ?? data) : op === "update" ? beforeData : null;
  const source = new SourceBlock(headers, table.name, op === "read" ? "true" : "false");
  return listWith(
    new EnvelopedChange(
      op,
      table,
      before,
      op === "delete" ? null : data,
      new DeclaredFields(source, null, transactionBlock(headers)),
      kept,
    ),
  );
}

const SourceBlock = plainConstructor(function (headers: Block, table: string, snapshot: string) {
  copyFields(this, headers, notOfSource);
  this["connector"] = "qlik";
  this["table"] = table;
  this["snapshot"] = snapshot;
  this["ts_ms"] = millisOf(headers["timestamp"]);
});

/** Headers that the block has by other names, or not at all. */
const notOfSource: ReadonlySet<string> = new Set(["operation", "timestamp"]);

function transactionBlock({ transactionId, transactionEventCounter }: Block): Block | null {
  return typeof transactionId === "string" && transactionId !== "" ? new TransactionBlock(transactionId, transactionEventCounter) : null;
}
