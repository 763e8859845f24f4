import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type CdcEvent, createDecoder, type RegisteredSchema, type SchemaSource, withoutNull } from "@cdckit/decode";
import { recordOf, type WrittenBytes } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";

/** What the serializers of others wrote; the programs in scripts/vectors say of which values, by which schemas. */
interface FramedMessage {
  readonly name: string;
  readonly headers?: readonly (readonly [string, WrittenBytes])[];
  readonly value: WrittenBytes;
  readonly framing: string;
  readonly schemaId: number | string;
  readonly tolerant?: boolean;
}

const order = {
  type: "record",
  name: "Order",
  namespace: "shop",
  fields: [
    { name: "id", type: "long" },
    { name: "note", type: ["null", "string"], default: null },
  ],
};
const orderJson = { title: "Order", type: "object", properties: { id: { type: "integer" }, note: { type: "string" } } };
const id = "int64 id = 1;";
const protoFiles: Readonly<Record<string, string>> = {
  Apicurio: `syntax = "proto3"; package shop; message Order { ${id} } message Item { ${id} }`,
  Glue: `syntax = "proto3"; package shop; message Z { ${id} } message B { ${id} message C { ${id} } message A { ${id} message D { ${id} } } }`,
  Confluent: `syntax = "proto3"; package shop; message Other { ${id} }
    message Order { ${id} message Line { ${id} message Extra { ${id} } message Part { ${id} } } }`,
};

/** `Apicurio Protobuf Item, contentId, headers`: the writer, the language of the schema, the message. */
function schemaOf({ name, schemaId }: FramedMessage): RegisteredSchema {
  const [writer = "", language] = name.split(/[ ,]/);
  switch (language) {
    case "Avro":
      return { id: schemaId, schemaType: "AVRO", schema: JSON.stringify(order) };
    case "JSON":
      return { id: schemaId, schemaType: "JSON", schema: JSON.stringify(orderJson) };
    default:
      return { id: schemaId, schemaType: "PROTOBUF", schema: protoFiles[writer] ?? expect.fail(name) };
  }
}

/** The value that was written, and the name of its type. */
function writtenOf({ name }: FramedMessage): readonly [row: object, typeName: string | null] {
  const [writer, language, message = ""] = name.split(/[ ,]/);
  if (language === "Avro") {
    return [{ id: 2n ** 53n, note: "höher" }, "shop.Order"];
  }
  if (language === "JSON") {
    const ids: Readonly<Record<string, number | bigint>> = { Apicurio: 7, Glue: 2n ** 53n + 1n, Confluent: 2n ** 53n };
    return [{ id: ids[writer as string], note: "höher" }, "Order"];
  }
  return [{ id: 150 }, message === "without" ? "shop.Order" : `shop.${message.replace("shop.", "")}`];
}

function vectorsOf(file: string): readonly FramedMessage[] {
  const text = readFileSync(join(import.meta.dirname, "../vectors/framing", file), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as FramedMessage);
}

describe.each(["apicurio.ndjson", "glue.ndjson", "confluent.ndjson"])("%s", (file) => {
  test.each(vectorsOf(file))("$name: the value that was written is read", (vector) => {
    const { schemaId, framing, headers = [], tolerant = false } = vector;
    const schema = schemaOf(vector);
    const schemas: SchemaSource = {
      peek: (asked) => (asked === schemaId ? schema : expect.fail(`asked for ${asked}`)),
      load: () => expect.unreachable(),
    };
    const typeNames: (string | null)[] = [];
    const decoder = createDecoder({
      schemas,
      topics: { "shop.orders": { value: { messageIndexes: tolerant ? "tolerant" : "standard" } } },
      onSchema: ({ type }) => {
        const record = withoutNull(type);
        typeNames.push(record.kind === "record" ? record.name : null);
      },
    });
    const record = recordOf(vector.value, { topic: "shop.orders", offset: 1n, timestamp: 1n, headers });
    const [row, typeName] = writtenOf(vector);
    for (let times = 0; times < 3; times++) {
      const [event, ...more] = decoder.decode(record) as readonly CdcEvent[];
      expect([event?.kind === "row" && event.row, event?.schemaId, more]).toEqual([row, schemaId, []]);
      expect([framing, "apicurio"]).toContain(event?.framing); // behind Confluent's prefix, the name of a type is Apicurio's
    }
    if (schema.schemaType !== "JSON") {
      expect(typeNames.at(-1)).toBe(typeName);
    }
  });
});
