import { describe, expect, test } from "vitest";
import { parseAvroSchema } from "../encoding/avro/schema.ts";
import { parseConnectSchema } from "../encoding/connect-json/schema.ts";
import type { RecordType, Type } from "../encoding/type.ts";
import { limitDefaults } from "../options.ts";
import { SchemaWatcher } from "./schema-watcher.ts";
import { type ColumnChange, diffTypes } from "./type-difference.ts";

const nullableText = ["null", "string"];

function avroRow(fields: readonly unknown[], name = "Value"): unknown {
  return { type: "record", name, fields };
}

function avroEnvelope(fields: readonly unknown[]): Type {
  const value = avroRow(fields);
  const envelope = {
    type: "record",
    name: "Envelope",
    fields: [
      { name: "before", type: ["null", value] },
      { name: "after", type: ["null", "Value"] },
      { name: "op", type: "string" },
    ],
  };
  return parseAvroSchema(JSON.stringify(envelope), [], limitDefaults);
}

const id = { name: "id", type: "int" };
const note = { name: "note", type: nullableText };
const decimal = (scale: string): unknown => ({
  type: "bytes",
  "connect.name": "org.apache.kafka.connect.data.Decimal",
  "connect.parameters": { scale },
});

function shown(changes: readonly ColumnChange[]): string[] {
  return changes.map((change) => {
    switch (change.kind) {
      case "added":
      case "removed":
        return `${change.kind} ${change.column}: ${change.type.text}`;
      case "type-changed":
        return `${change.column}: ${change.from.text} => ${change.to.text}`;
      default:
        return `${change.kind} ${change.column}`;
    }
  });
}

describe("the difference between two rows", () => {
  test("is what was added, changed and removed, inside of an envelope", () => {
    const previous = avroEnvelope([id, note, { name: "price", type: decimal("2") }, { name: "gone", type: "long" }]);
    const next = avroEnvelope([
      { name: "id", type: "long" },
      { name: "note", type: "string" },
      { name: "price", type: ["null", decimal("4")] },
      { name: "more", type: nullableText },
    ]);
    expect(shown(diffTypes(previous, next))).toEqual([
      "id: int => long",
      "made-required note",
      "price: bytes as org.apache.kafka.connect.data.Decimal, scale 2 => bytes as org.apache.kafka.connect.data.Decimal, scale 4",
      "made-nullable price",
      "added more: string",
      "removed gone: long",
    ]);
  });

  test("is nothing where columns only changed places, or the same row came in another schema language", () => {
    expect(diffTypes(avroEnvelope([id, note]), avroEnvelope([note, id]))).toEqual([]);
    const connect = parseConnectSchema(
      {
        type: "struct",
        fields: [
          { field: "id", type: "int32" },
          { field: "note", type: "string", optional: true },
        ],
      },
      "the row",
      64,
    );
    expect(diffTypes(avroEnvelope([id, note]), connect)).toEqual([]);
  });

  test("takes a renamed column for one removed and one added", () => {
    const renamed = avroEnvelope([id, { name: "remark", type: nullableText }]);
    expect(shown(diffTypes(avroEnvelope([id, note]), renamed))).toEqual(["added remark: string", "removed note: string"]);
  });

  test("sees through nested types", () => {
    const nested = (type: string): Type => avroEnvelope([{ name: "address", type: avroRow([{ name: "city", type }], "Address") }]);
    expect(shown(diffTypes(nested("string"), nested("bytes")))).toEqual([`address: { "city": string } => { "city": bytes }`]);
  });

  test("ends for records in themselves, and for types that names make endless", () => {
    const fields: { name: string; type: Type }[] = [];
    const list: RecordType = { kind: "record", name: "List", fields };
    fields.push({ name: "next", type: { kind: "union", branches: [{ kind: "null" }, list] } });
    const row = (type: Type): Type => ({ kind: "record", name: "Row", fields: [{ name: "column", type }] });
    expect(diffTypes(row(list), row(list))).toEqual([]);
    let doubled: Type = { kind: "string" };
    for (let i = 0; i < 60; i++) {
      doubled = {
        kind: "record",
        name: `R${i}`,
        fields: [
          { name: "a", type: doubled },
          { name: "b", type: doubled },
        ],
      };
    }
    expect(shown(diffTypes(row({ kind: "string" }), row(doubled)))[0]?.length).toBeLessThan(40_000);
  });
});

describe("a schema watcher", () => {
  const at = (type: Type, idOfSchema: number, topic = "t") => ({
    topic,
    side: "value" as const,
    table: { name: "orders" },
    id: idOfSchema,
    type,
  });

  test("tells of a change with both ids, and of nothing else", () => {
    const watcher = new SchemaWatcher();
    const [one, other, same] = [avroEnvelope([id]), avroEnvelope([id, note]), avroEnvelope([note, id])];
    expect([watcher.observe(at(one, 1)), watcher.observe(at(one, 1)), watcher.observe(at(other, 9, "another topic"))]).toEqual([
      null,
      null,
      null,
    ]);
    expect(watcher.observe(at(other, 2))).toMatchObject({
      topic: "t",
      table: { name: "orders" },
      previousId: 1,
      nextId: 2,
      changes: [{ kind: "added", column: "note" }],
    });
    expect(watcher.observe(at(same, 3))).toBeNull();
    expect(watcher.observe(at(one, 1))).toMatchObject({ previousId: 3, changes: [{ kind: "removed", column: "note" }] });
  });

  test("forgets beyond its bound", () => {
    const watcher = new SchemaWatcher({ maxSchemas: 1 });
    watcher.observe(at(avroEnvelope([id]), 1));
    watcher.observe(at(avroEnvelope([id]), 1, "u"));
    expect(watcher.observe(at(avroEnvelope([id, note]), 2))).toBeNull();
  });
});
