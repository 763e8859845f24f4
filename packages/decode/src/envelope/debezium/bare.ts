import type { Columns, Operation } from "../../event.ts";
import { listWith } from "../../list-with.ts";
import { DeclaredFields, EnvelopedChange } from "../change-event.ts";
import type { EnvelopeFormat } from "../envelope.ts";
import { isBlock } from "../source.ts";
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
  planFor: () => ({ defer: null, skip: [], rows: ["before", "after"] }),
  open: (value, origin) => {
    if (!isBlock(value) || typeof value["op"] !== "string") {
      return null;
    }
    const { op, before, after } = value;
    const operation = operationOf(op);
    return operation !== null && isImage(before) && isImage(after) && areImagesOf(operation, before, after)
      ? listWith(
          new EnvelopedChange(operation, origin.scope.topicTable ?? { name: "" }, before, after, new DeclaredFields({}, null), origin),
        )
      : null;
  },
};

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
