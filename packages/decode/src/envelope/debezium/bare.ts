import type { ReadPlan } from "../../encoding/reader.ts";
import type { CdcEvent, Columns, Operation, TableName } from "../../event.ts";
import { listWith } from "../../list-with.ts";
import { DeclaredFields, EnvelopedChange } from "../change-event.ts";
import type { EnvelopeFormat } from "../envelope.ts";
import type { Origin } from "../origin.ts";
import { isBlock, textOrNull } from "../source.ts";
import { tableNamed } from "../table-text.ts";
import { isImage } from "./change.ts";
import { operationOf } from "./operation.ts";

const members: readonly string[] = ["before", "after", "op"];

/**
 * A change of no more than the images and the operation. Flink SQL writes it in its formats `debezium-json` and `debezium-avro-confluent`:
 * inserts and deletes alone, because it writes an update as both. If the images are not those of the operation, or if there are other
 * members, the value is a log of an application's own, and stays a row.
 */
export const bareChange: EnvelopeFormat = {
  name: "debezium",
  recognise: ({ fields }) =>
    fields?.length === members.length && members.every((name) => fields.includes(name)) ? "exactly the fields before, after and op" : null,
  planFor: () => imagesPlan,
  open: (value, origin) => changeOf(value, origin.scope.topicTable ?? { name: "" }, {}, origin),
};

/**
 * The change of Flink CDC with its schema (`debezium-json.include-schema.enabled`). The schema has the images alone; `op` and `source`, which names the
 * table, are in the message.
 */
export const flinkChange: EnvelopeFormat = {
  name: "debezium",
  recognise: ({ typeName, fields, fieldsOf }) =>
    typeName === null && fields?.length === 2 && fieldsOf("before") !== null && fieldsOf("after") !== null
      ? "a schema of exactly the images before and after"
      : null,
  planFor: () => imagesPlan,
  open: (value, origin) => {
    const source = isBlock(value) ? value["source"] : null;
    return isBlock(source) && typeof source["table"] === "string"
      ? changeOf(value, tableNamed(textOrNull(source["db"]) ?? undefined, undefined, source["table"]), source, origin)
      : null;
  },
};

const imagesPlan: ReadPlan = Object.freeze({ defer: null, skip: [], rows: ["before", "after"] as const });

/** The change, if the images are those of its operation. */
function changeOf(value: unknown, table: TableName, source: object, origin: Origin): readonly CdcEvent[] | null {
  if (!isBlock(value) || typeof value["op"] !== "string") {
    return null;
  }
  const { op, before, after } = value;
  const operation = operationOf(op);
  return operation !== null && isImage(before) && isImage(after) && areImagesOf(operation, before, after)
    ? listWith(new EnvelopedChange(operation, table, before, after, new DeclaredFields(source, null), origin))
    : null;
}

function areImagesOf(operation: Operation, before: Columns | null, after: Columns | null): boolean {
  switch (operation) {
    case "update":
      return after !== null;
    case "delete":
      return before !== null && after === null;
    default:
      return before === null && after !== null;
  }
}
