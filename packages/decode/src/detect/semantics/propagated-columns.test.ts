import { recordOf } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { createDecoder } from "../../decoder.ts";
import { type Type, withoutNull } from "../../encoding/type.ts";
import type { CdcEvent } from "../../event.ts";
import type { RegisteredSchema } from "../../schema-source.ts";
import { diffTypes } from "../../stream/type-difference.ts";
import { describeSchema } from "../explain/describe-schema.ts";

/**
 * What Debezium's `column.propagate.source.type` adds to a column: parameters that are texts, also on columns that need no semantic type.
 */
const parameters = {
  "__debezium.source.column.type": "VARCHAR",
  "__debezium.source.column.length": "255",
  "__debezium.source.column.name": "e-mail",
};
const column = { typeName: "VARCHAR", length: 255, scale: null, name: "e-mail" };
const price = {
  scale: "2",
  "__debezium.source.column.type": "DECIMAL",
  "__debezium.source.column.length": "10",
  "__debezium.source.column.scale": "2",
};

const avro = {
  type: "record",
  name: "Value",
  fields: [
    { name: "email", type: ["null", { type: "string", "connect.parameters": parameters }] },
    { name: "price", type: { type: "bytes", "connect.name": "org.apache.kafka.connect.data.Decimal", "connect.parameters": price } },
    { name: "other", type: "string" },
  ],
};
const connect = {
  type: "struct",
  fields: [
    { field: "email", type: "string", optional: true, parameters },
    { field: "price", type: "bytes", name: "org.apache.kafka.connect.data.Decimal", parameters: price },
    { field: "other", type: "string" },
  ],
};
const json = {
  type: "object",
  properties: {
    email: { oneOf: [{ type: "null" }, { type: "string", "connect.parameters": parameters }], "connect.index": 0 },
    price: { type: "number", title: "org.apache.kafka.connect.data.Decimal", "connect.parameters": price, "connect.index": 1 },
    other: { type: "string", "connect.index": 2 },
  },
};
const noted = (hinted: object): string =>
  Object.entries(hinted)
    .map(([key, value]) => `{key: "${key}", value: "${String(value)}"}`)
    .join(", ");
const protobuf = `syntax = "proto3"; import "confluent/meta.proto"; message Value {
  optional string email = 1 [(confluent.field_meta) = {params: [${noted(parameters)}]}];
  bytes price = 2 [(confluent.field_meta) = {params: [${noted({ ...price, "connect.name": "org.apache.kafka.connect.data.Decimal" })}]}];
  string other = 3; }`;

const schemas: readonly Omit<RegisteredSchema, "id">[] = [
  { schemaType: "AVRO", schema: JSON.stringify(avro) },
  { schemaType: "KCONNECT", schema: JSON.stringify(connect) },
  { schemaType: "JSON", schema: JSON.stringify(json) },
  { schemaType: "PROTOBUF", schema: protobuf },
];

function sourcesOf(row: Type | null): unknown {
  const record = row === null ? null : withoutNull(row);
  return record?.kind === "record" ? Object.fromEntries(record.fields.map(({ name, source = null }) => [name, source])) : null;
}

describe("columns whose types the connector propagates", () => {
  test.each(schemas)("are told with those types by $schemaType schemas", async (registered) => {
    const { row } = await describeSchema({ id: 1, ...registered }, { topic: "t", side: "value" });
    expect(sourcesOf(row)).toEqual({ email: column, price: { typeName: "DECIMAL", length: 10, scale: 2 }, other: null });
  });

  test("are reported to onSchema for messages that carry their schema", () => {
    const seen: unknown[] = [];
    const decoder = createDecoder({ onSchema: ({ row }) => seen.push(sourcesOf(row)) });
    const value = Buffer.from(JSON.stringify({ schema: connect, payload: { email: null, price: "AA==", other: "" } }));
    void decoder.decode(recordOf(value));
    expect(seen).toEqual([{ email: column, price: { typeName: "DECIMAL", length: 10, scale: 2 }, other: null }]);
  });

  test("are reported as changed if their types in the database have changed", () => {
    const field = (length: number): Type => {
      const source = { ...column, length };
      return { kind: "record", name: "Value", fields: [{ name: "email", type: { kind: "string" }, source }] };
    };
    expect(diffTypes(field(255), field(255))).toEqual([]);
    expect(diffTypes(field(100), field(255))).toMatchObject([
      { kind: "type-changed", column: "email", from: { source: { length: 100 } }, to: { source: { length: 255 } } },
    ]);
  });
});

test("a date in Protobuf, which has no name for it, is recognised by its type in the database", () => {
  const schema = `syntax = "proto3"; package t; import "confluent/meta.proto";
    message Envelope { Value after = 1; io.debezium.connector.mysql.Source source = 2; string op = 3; }
    message Value { int32 day = 1 [(confluent.field_meta) = {params: [{key: "__debezium.source.column.type", value: "DATE"}]}]; }`;
  const source = 'syntax = "proto3"; package io.debezium.connector.mysql; message Source { string table = 1; string connector = 2; }';
  const registered = { schemaType: "PROTOBUF" as const, schema, references: [{ name: "source.proto", schema: source }] };
  const decoder = createDecoder({ schemas: { peek: (id) => ({ id, ...registered }), load: () => expect.unreachable() } });
  const value = Buffer.from([0, 0, 0, 0, 1, 0, 0x0a, 4, 0x08, 0xc6, 0x9a, 0x01, 0x12, 3, 0x0a, 1, 0x74, 0x1a, 1, 0x63]);
  const events = decoder.decode(recordOf(value)) as CdcEvent[];
  expect(events[0]).toMatchObject({ kind: "change", after: { day: "2024-02-29" } });
});
