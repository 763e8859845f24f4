import { listWith } from "../../list-with.ts";
import { DeclaredFields, EnvelopedChange } from "../change-event.ts";
import type { EnvelopeFormat } from "../envelope.ts";
import { isBlock } from "../source.ts";

const members: readonly string[] = ["before", "after", "op"];

/**
 * A change that Flink SQL has written in its formats `debezium-json` and `debezium-avro-confluent`: no more than the images and the
 * operation. Flink writes an update as a delete and an insert, so each change has one image. A log of an application that has other members,
 * other operations or other images stays a row.
 */
export const flinkChange: EnvelopeFormat = {
  name: "debezium",
  recognise: ({ fields }) =>
    fields?.length === members.length && members.every((name) => fields.includes(name)) ? "exactly the fields before, after and op" : null,
  planFor: () => ({ defer: null, skip: [], rows: ["before", "after"] }),
  open: (value, origin) => {
    if (!isBlock(value)) {
      return null;
    }
    const { op, before, after } = value;
    const table = origin.scope.topicTable ?? { name: "" };
    const fields = new DeclaredFields({}, null);
    if (op === "c" && before === null && isBlock(after)) {
      return listWith(new EnvelopedChange("create", table, null, after, fields, origin));
    }
    return op === "d" && isBlock(before) && after === null
      ? listWith(new EnvelopedChange("delete", table, before, null, fields, origin))
      : null;
  },
};
