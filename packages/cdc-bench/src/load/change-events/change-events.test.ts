import { readFileSync } from "node:fs";
import { createDecoder, type KafkaRecord, type RegisteredSchema } from "@cdckit/decode";
import { fromBundleText } from "@cdckit/registry";
import { bundledRecording, loadRecording } from "@cdckit/testkit";
import avro from "avsc";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ChangeFormat, type ChangeSource, changeFormats, createChangeStream, type Envelope, opMixOf, salesOrderRow } from "./index.ts";
import { unscaled } from "./sales-order-row.ts";

const recorded = (name: string): Promise<readonly KafkaRecord[]> => loadRecording(bundledRecording(`salesorderdetail/${name}`).file);
const sourceOf = (prefix: string): ChangeSource => ({ prefix, database: "sales", schema: "sales", table: "salesorderdetailbig" });
const schemasFile = bundledRecording("salesorderdetail/confluent-avro").schemasFile;

describe("a recorded row is written as Debezium wrote it", () => {
  for (const [name, prefix] of [
    ["json", "jn"],
    ["json-with-schema", "js"],
    ["confluent-avro", "av"],
  ] as const) {
    test(`${name}: the same bytes, all 2,000`, async () => {
      const records = await recorded(name);
      const encoder = formatNamed(name).createEncoder(sourceOf(prefix), { key: 1, value: 2 });
      for (const record of records) {
        const envelope = recordedEnvelope(name, record.value);
        expect(encoder.value(envelope).toString("latin1")).toBe(Buffer.from(record.value ?? []).toString("latin1"));
        expect(encoder.key({ id: envelope.after?.id ?? 0 }).toString("latin1")).toBe(Buffer.from(record.key ?? []).toString("latin1"));
      }
    });
  }

  test("the Avro schemas are the registered ones, to the letter", () => {
    expect(
      formatNamed("confluent-avro")
        .schemas(sourceOf("av"))
        .map(({ schema }) => schema),
    ).toEqual(registeredSchemas());
  });

  test("the rows of the table are made again, but for the random column", async () => {
    const encoder = formatNamed("json").createEncoder(sourceOf("jn"), null);
    const rows = (await recorded("json")).map(({ value }) => JSON.parse(Buffer.from(value ?? []).toString()).after);
    for (const row of rows) {
      const { rowguid } = row;
      const envelope = { ...blankEnvelope, after: { ...salesOrderRow(1, row.id), rowguid } };
      expect(JSON.parse(encoder.value(envelope).toString()).after).toEqual(row);
    }
  });
});

describe("the same rows in each format", () => {
  const source: ChangeSource = { prefix: "bench-1", database: "sales", schema: "sales", table: "salesorderdetail" };
  const ids = { key: 7, value: 300 };

  /** What a user of the decoder gets of a stream, in comparable form. */
  async function decoded(format: ChangeFormat, records: number): Promise<readonly unknown[]> {
    const schemas = format.schemas(source).map(({ part, ...schema }) => JSON.stringify({ id: ids[part], ...schema }));
    const decoder = createDecoder(schemas.length === 0 ? {} : { schemas: fromBundleText(schemas.join("\n")) });
    const encoder = format.createEncoder(source, ids);
    const stream = createChangeStream({ seed: 5, mix: opMixOf({ read: 2, create: 2, update: 4, delete: 2 }), records, source });
    const all: unknown[] = [];
    for (let offset = 0; offset < records; offset++) {
      const { id, envelope } = stream.next(1_795_000_000_000_000 + offset * 333);
      const record: KafkaRecord = {
        topic: "t",
        partition: 0,
        offset: BigInt(offset),
        timestamp: 0n,
        headers: [],
        key: encoder.key({ id }),
        value: envelope === null ? null : encoder.value(envelope),
      };
      for (const event of await decoder.decode(record)) {
        all.push(
          event.kind === "change"
            ? {
                key: event.key,
                op: event.op,
                table: event.table,
                before: event.before,
                after: event.after,
                source: event.source.raw,
                tsMs: event.tsMs,
              }
            : { key: event.key, kind: event.kind },
        );
      }
    }
    return all;
  }

  test("formats that carry types give equal events; Protobuf carries no names of types", async () => {
    const [withSchema, avro, protobuf] = await Promise.all(
      ["json-with-schema", "confluent-avro", "confluent-protobuf"].map((name) => decoded(formatNamed(name), 400)),
    );
    expect(withSchema).toHaveLength(400);
    expect(avro).toEqual(withSchema);
    expect(withoutDates(protobuf)).toEqual(withoutDates(withSchema));
    const kinds = new Set((withSchema as { op?: string; kind?: string }[]).map(({ op, kind }) => op ?? kind));
    expect(kinds).toEqual(new Set(["read", "create", "update", "delete", "tombstone"]));
  });

  test("JSON and JSON Schema have the same payload", () => {
    const stream = createChangeStream({ seed: 1, mix: opMixOf({ read: 1 }), records: 1, source });
    const envelope = stream.next(1_795_000_000_000_000).envelope as Envelope;
    const [plain, framed] = ["json", "confluent-json-schema"].map((name) => formatNamed(name).createEncoder(source, ids).value(envelope));
    expect(framed?.subarray(5).toString()).toBe(plain?.toString());
    expect(framed?.readUInt32BE(1)).toBe(300);
  });

  test("a seed gives the same bytes, another one does not", async () => {
    const bytes = (seed: number): string => {
      const stream = createChangeStream({ seed, mix: opMixOf({ create: 1, update: 1 }), source });
      const encoder = formatNamed("json").createEncoder(source, null);
      return Array.from({ length: 50 }, () => stream.next(1e15).envelope)
        .map((envelope) => encoder.value(envelope as Envelope))
        .join("\n");
    };
    expect(bytes(1)).toBe(bytes(1));
    expect(bytes(1)).not.toBe(bytes(2));
  });
});

describe("the stream of changes", () => {
  const source = sourceOf("x");

  test("is a history: each update and delete has the row as it was, and a delete is followed by its tombstone", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1e6 }),
        fc.tuple(fc.nat(5), fc.nat(5), fc.nat(5), fc.nat(5)),
        fc.boolean(),
        (seed, shares, isBounded) => {
          const [read, create, update, remove] = shares;
          fc.pre(read + create + update + remove > 0);
          const records = 300;
          const stream = createChangeStream({
            seed,
            mix: opMixOf({ read, create, update, delete: remove }),
            ...(isBounded && { records }),
            source,
          });
          const table = new Map<number, unknown>();
          let deleted: number | null = null;
          for (let i = 0; i < records; i++) {
            const { id, envelope } = stream.next(1e15 + i);
            expect(envelope === null).toBe(deleted !== null);
            if (envelope === null) {
              expect(id).toBe(deleted);
              deleted = null;
              continue;
            }
            expect((envelope.after ?? envelope.before)?.id).toBe(id);
            if (envelope.op === "c" || envelope.op === "r") {
              expect(table.has(id)).toBe(false);
              expect(envelope.before).toBeNull();
            } else {
              expect(envelope.before).toEqual(table.get(id));
            }
            if (envelope.after === null) {
              deleted = id;
              table.delete(id);
            } else {
              table.set(id, envelope.after);
            }
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  test("an initial snapshot comes first, marked as Debezium marks it", () => {
    const stream = createChangeStream({ seed: 3, mix: opMixOf({ read: 1, create: 1 }), records: 10, source });
    const snapshots = Array.from({ length: 10 }, () => stream.next(1e15).envelope?.source.snapshot);
    expect(snapshots).toEqual(["first", "true", "true", "true", "last", "false", "false", "false", "false", "false"]);
  });

  test("decimals are the shortest two's complement", () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (value) => {
        const bytes = unscaled(value);
        expect(BigInt.asIntN(bytes.length * 8, BigInt(`0x${bytes.toString("hex")}`))).toBe(BigInt(value));
        expect(bytes.length === 1 || !(bytes[0] === 0 && (bytes[1] ?? 0) < 0x80)).toBe(true);
      }),
    );
  });
});

function formatNamed(name: string): ChangeFormat {
  const found = changeFormats.find((format) => format.name === name);
  if (found === undefined) {
    throw new RangeError(name);
  }
  return found;
}

function withoutDates(events: readonly unknown[] | undefined): unknown {
  return JSON.parse(
    JSON.stringify(events, (name, value: unknown) =>
      name === "modifieddate" ? undefined : typeof value === "bigint" ? String(value) : value,
    ),
  );
}

const blankEnvelope: Envelope = createChangeStream({ seed: 1, mix: opMixOf({ read: 1 }), source: sourceOf("jn") }).next(1e15)
  .envelope as Envelope;

/** The recorded envelope, read by the libraries that the format's users have, in the encoder's types. */
function recordedEnvelope(name: string, value: Uint8Array | null): Envelope {
  const bytes = Buffer.from(value ?? []);
  if (name === "confluent-avro") {
    return withNumbers(avroEnvelope.fromBuffer(bytes.subarray(5))) as Envelope;
  }
  const quoted = bytes.toString().replace(/"ts_ns":(\d+)/g, '"ts_ns":"$1"');
  const parsed = JSON.parse(quoted, (field, part: unknown) => {
    const isDecimal = field === "unitprice" || field === "unitpricediscount" || field === "linetotal";
    return isDecimal ? Buffer.from(String(part), "base64") : field === "ts_ns" && typeof part === "string" ? BigInt(part) : part;
  }) as { readonly payload?: Envelope } & Envelope;
  return parsed.payload ?? parsed;
}

const bigintLong = avro.types.LongType.__with({
  fromBuffer: (buffer: Buffer) => buffer.readBigInt64LE(),
  toBuffer: () => Buffer.alloc(8),
  fromJSON: BigInt,
  toJSON: String,
  isValid: (value: unknown) => typeof value === "bigint",
  compare: () => 0,
});
const avroEnvelope = avro.Type.forSchema(JSON.parse(registeredSchemas()[1] ?? "") as avro.Schema, {
  typeHook: (schema: unknown) => (schema === "long" || (schema as { readonly type?: unknown }).type === "long" ? bigintLong : undefined),
});

/** Bigints as numbers, but for nanoseconds. */
function withNumbers(value: unknown, name = ""): unknown {
  if (typeof value === "bigint") {
    return name === "ts_ns" ? value : Number(value);
  }
  if (typeof value !== "object" || value === null || Buffer.isBuffer(value)) {
    return value;
  }
  return Object.fromEntries(Object.entries(value).map(([field, part]) => [field, withNumbers(part, field)]));
}

function registeredSchemas(): readonly string[] {
  const lines = readFileSync(schemasFile, "utf8").trim().split("\n");
  return lines.map((line) => (JSON.parse(line) as RegisteredSchema).schema);
}
