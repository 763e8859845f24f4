import { describe, expect, test } from "vitest";
import { parseAvroSchema } from "../encoding/avro/schema.ts";
import { parseConnectSchema } from "../encoding/connect-json/schema.ts";
import type { RecordType, Type } from "../encoding/type.ts";
import { limitDefaults } from "../options.ts";
import { type ColumnChange, diffTypes } from "./type-difference.ts";

const nullableText = ["null", "string"];

function avroRow(fields: readonly unknown[], name = "Value"): unknown {
  return { type: "record", name, fields };
}

function avroRowType(fields: readonly unknown[]): Type {
  return parseAvroSchema(JSON.stringify(avroRow(fields)), [], limitDefaults);
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
  test("is what was added, changed and removed", () => {
    const previous = avroRowType([id, note, { name: "price", type: decimal("2") }, { name: "gone", type: "long" }]);
    const next = avroRowType([
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

  test("is empty if columns only changed places, or if the same row is in another schema language", () => {
    expect(diffTypes(avroRowType([id, note]), avroRowType([note, id]))).toEqual([]);
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
    expect(diffTypes(avroRowType([id, note]), connect)).toEqual([]);
  });

  test("shows a renamed column as one removed and one added", () => {
    const renamed = avroRowType([id, { name: "remark", type: nullableText }]);
    expect(shown(diffTypes(avroRowType([id, note]), renamed))).toEqual(["added remark: string", "removed note: string"]);
  });

  test("includes changes of nested types", () => {
    const nested = (type: string): Type => avroRowType([{ name: "address", type: avroRow([{ name: "city", type }], "Address") }]);
    expect(shown(diffTypes(nested("string"), nested("bytes")))).toEqual([`address: { "city": string } => { "city": bytes }`]);
  });

  test("terminates for recursive records, and for types that grow without end through references by name", () => {
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
