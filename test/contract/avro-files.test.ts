import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as zlib from "node:zlib";
import { type CdcEvent, createDecoder, type KafkaRecord, type RegisteredSchema, type SchemaSource } from "@cdckit/decode";
import { bytesOf, recordOf, type WrittenBytes } from "@cdckit/testkit";
import avsc from "avsc";
import { describe, expect, test } from "vitest";

interface FileVector {
  readonly name: string;
  readonly framing: string;
  readonly value: WrittenBytes;
  readonly schema: { readonly schema: string };
  readonly needs?: "zstd";
  readonly payloads: readonly { readonly payload: WrittenBytes; readonly count: number }[];
}

const hasZstd = "zstdDecompressSync" in zlib;
const vectors = readFileSync(join(import.meta.dirname, "../vectors/framing/avro-files.ndjson"), "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line) as FileVector);

function orderRecord(value: WrittenBytes): KafkaRecord {
  return recordOf(value, { topic: "shop.orders", offset: 1n, timestamp: 1n });
}

/** The values of the blocks, by avsc. */
function valuesOf({ schema, payloads }: FileVector): unknown[] {
  const type = avsc.Type.forSchema(JSON.parse(schema.schema) as avsc.Schema, { wrapUnions: "never" } as never);
  return payloads.flatMap(({ payload, count }) => {
    const bytes = bytesOf(payload);
    let at = 0;
    return Array.from({ length: count }, () => {
      const { value, offset } = type.decode(bytes, at);
      at = offset;
      return { ...(value as object) };
    });
  });
}

describe("Avro container files of Java's DataFileWriter", () => {
  test.each(vectors.filter(({ framing }) => framing === "ocf"))("$name: each value is an event", (vector) => {
    const decode = (): readonly CdcEvent[] => createDecoder().decode(orderRecord(vector.value)) as readonly CdcEvent[];
    if (vector.needs === "zstd" && !hasZstd) {
      expect(decode).toThrow(/^\[unsupported-format\].*zstandard/);
      return;
    }
    const events = decode();
    expect(events.map((event) => (event.kind === "row" ? event.row : event))).toEqual(valuesOf(vector));
    expect(events.every(({ framing, encoding }) => framing === "ocf" && encoding === "avro")).toBe(true);
  });

  test("their values come as the schema that the topic's user wants", () => {
    const vector = vectors.find(({ name }) => name.includes("deflate, blocks of several")) ?? expect.fail("there is such a vector");
    const fields = [
      { name: "state", type: "string", default: "new" },
      { name: "key", aliases: ["id"], type: "double" },
    ];
    const readerSchema = JSON.stringify({ type: "record", name: "Order", namespace: "shop", fields });
    const decoder = createDecoder({ topics: { "shop.orders": { value: { readerSchema } } } });
    const events = decoder.decode(orderRecord(vector.value)) as readonly CdcEvent[];
    expect(events.map((event) => event.kind === "row" && event.row)).toEqual(
      Array.from({ length: 25 }, (_, key) => ({ state: "new", key })),
    );
  });
});

/** What Java's BinaryMessageEncoder wrote (Avro 1.11.4): scripts/vectors/WriteAvroVectors.java. */
const singleObjects: readonly [name: string, fingerprint: string, schema: string, hex: string, event: object][] = [
  [
    "bytes at the top, with their length",
    "4fc016dac3201965",
    '"bytes"',
    "c301651920c3da16c04f040203",
    { kind: "unknown", value: Buffer.from([2, 3]) },
  ],
  [
    "a decimal at the top",
    "4fc016dac3201965",
    '{"type":"bytes","logicalType":"decimal","precision":10,"scale":2}',
    "c301651920c3da16c04f040100",
    { kind: "unknown", value: "2.56" },
  ],
  [
    "a record",
    "b1cf333f9cb8a3f6",
    '{"type":"record","name":"Row","namespace":"shop","fields":[{"name":"id","type":"int"},{"name":"note","type":["null","string"]}]}',
    "c301f6a3b89c3f33cfb1ac02020c73696e676c65",
    { kind: "row", row: { id: 150, note: "single" } },
  ],
];

function only(id: string, schema: string): SchemaSource {
  const registered: RegisteredSchema = { id, schemaType: "AVRO", schema };
  return {
    peek: (asked) => (asked === id ? registered : undefined),
    load: () => Promise.reject(new Error("no other schema is asked for")),
  };
}

test.each(singleObjects)("Avro's single-object encoding of %s", (_name, fingerprint, schema, hex, event) => {
  const decoder = createDecoder({ schemas: only(`fingerprint:${fingerprint}`, schema) });
  expect(decoder.decode(orderRecord(Buffer.from(hex, "hex")))).toMatchObject([{ framing: "single-object", encoding: "avro", ...event }]);
});

describe("a value that is all bytes", () => {
  const schemas: SchemaSource = {
    peek: (id) => ({ id, schemaType: "AVRO", schema: '"bytes"' }),
    load: () => Promise.reject(new Error("it is at hand")),
  };
  const valueOf = (bytes: number[], topics = {}): unknown =>
    (createDecoder({ schemas, topics }).decode(orderRecord(Buffer.from(bytes))) as readonly CdcEvent[]).map((event) =>
      event.kind === "unknown" ? event.value : event,
    );

  test("has no length behind Confluent's prefix", () => {
    expect(valueOf([0, 0, 0, 0, 1, 4, 2, 3])).toEqual([Buffer.from([4, 2, 3])]);
  });

  test("has its length if nothing says that Confluent's serializer wrote it", () => {
    expect(valueOf([4, 2, 3], { "shop.orders": { value: { schemaId: 1 } } })).toEqual([Buffer.from([2, 3])]);
  });
});

test("a schema's binary messages and those written as JSON are both read, whichever comes first", () => {
  const { schema } = { schema: '{"type":"record","name":"R","fields":[{"name":"a","type":["null","int"]}]}' };
  const binary = orderRecord(Buffer.from([2, 14]));
  const json = orderRecord(Buffer.from('{"a":{"int":7}}'));
  const apicurio = (record: KafkaRecord, encoding: string): KafkaRecord => ({
    ...record,
    headers: [
      ["apicurio.value.contentId", Buffer.from([0, 0, 0, 0, 0, 0, 0, 8])],
      ["apicurio.value.encoding", Buffer.from(encoding)],
    ],
  });
  const both = [apicurio(binary, "BINARY"), apicurio(json, "JSON")];
  for (const records of [both, both.toReversed(), [...both, ...both]]) {
    const decoder = createDecoder({ schemas: only("contentId:8", schema) });
    const rows = records.flatMap((record) => decoder.decode(record) as readonly CdcEvent[]);
    expect(rows).toMatchObject(records.map(() => ({ kind: "row", framing: "apicurio", row: { a: 7 } })));
  }
});
