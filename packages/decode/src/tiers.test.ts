import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { createDecoder, type TopicHints } from "./decoder.ts";
import { fastPathMiss } from "./encoding/fast-path.ts";
import type { CdcEvent } from "./event.ts";
import type { KafkaRecord } from "./record.ts";
import type { RegisteredSchema, SchemaSource } from "./schema-source.ts";
import { type Tiers, tiersKey } from "./tiers.ts";

/** How often generated functions were called, by tier, and how often a fast path took the record. */
interface Calls {
  fastPath: number;
  readers: number;
}

const RuntimeFunction = globalThis.Function;
const tiers = globalThis as { [tiersKey]?: Partial<Tiers> };

afterEach(() => {
  globalThis.Function = RuntimeFunction;
  delete tiers[tiersKey];
});

type AnyFunction = (...args: readonly unknown[]) => unknown;

/** Counts the calls of all functions that are generated after this call. */
function countCalls(): Calls {
  const calls: Calls = { fastPath: 0, readers: 0 };
  const counted = (made: unknown, isFastPath: boolean): unknown => {
    if (Array.isArray(made)) {
      return made.map((one) => counted(one, isFastPath));
    }
    if (typeof made === "object" && made !== null) {
      return Object.fromEntries(Object.entries(made).map(([name, one]) => [name, counted(one, isFastPath)]));
    }
    return typeof made !== "function"
      ? made
      : (...args: readonly unknown[]) => {
          const result = (made as AnyFunction)(...args);
          calls[isFastPath ? "fastPath" : "readers"] += isFastPath && result === fastPathMiss ? 0 : 1;
          return result;
        };
  };
  globalThis.Function = new Proxy(RuntimeFunction, {
    construct: (target, args: string[]) => {
      const source = args.at(-1) ?? "";
      const make = new target(...args) as AnyFunction;
      if (source.includes("return Shape;")) {
        return make; // a constructor
      }
      return (...scope: readonly unknown[]) => counted(make(...scope), source.includes("return function fastPath("));
    },
  });
  return calls;
}

const recordings = join(import.meta.dirname, "../../testkit/recordings/salesorderdetail");
const textOf = (bytes: Buffer): string => (bytes[0] === 0x1f ? gunzipSync(bytes) : bytes).toString(); // the first byte of gzip
const linesOf = (file: string): Record<string, string>[] =>
  textOf(readFileSync(join(recordings, file)))
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, string>); // one object a line

const bytesOf = (text: string | undefined): Buffer => Buffer.from(text ?? "", "base64");

function recordsOf(file: string): readonly KafkaRecord[] {
  return linesOf(file)
    .slice(0, 300)
    .map(({ key, value }) => ({
      topic: "a.b.c",
      partition: 0,
      offset: 0n,
      timestamp: 0n,
      headers: [],
      key: bytesOf(key),
      value: bytesOf(value),
    }));
}

const protobufSchema: RegisteredSchema = {
  id: 9,
  schemaType: "PROTOBUF",
  schema: 'syntax = "proto3"; message Row { int32 id = 1; string name = 2; }',
};
const protobufRecords: readonly KafkaRecord[] = Array.from({ length: 300 }, (_, i) => {
  const value = Buffer.from([0, 0, 0, 0, 9, 0, 8, (i % 100) + 1, 18, 3, 97, 98, 99]);
  return { topic: "a.b.c", partition: 0, offset: 0n, timestamp: 0n, headers: [], key: null, value };
});

const recorded = linesOf("schemas.ndjson") as unknown as readonly RegisteredSchema[]; // lines of {id, schemaType, schema}
const registered = new Map([...recorded, protobufSchema].map((schema) => [schema.id, schema] as const));
const schemas: SchemaSource = {
  peek: (id) => registered.get(id),
  load: () => Promise.reject(new Error("every schema is at hand")),
};

function decodeAll(records: readonly KafkaRecord[], topics: Readonly<Record<string, TopicHints>> = {}): readonly CdcEvent[] {
  const decoder = createDecoder({ schemas, topics });
  return records.flatMap((record) => decoder.decode(record) as readonly CdcEvent[]); // every schema is at hand
}

const formats: readonly (readonly [name: string, records: readonly KafkaRecord[]])[] = [
  ["json-with-schema", recordsOf("json-with-schema.ndjson.gz")],
  ["json", recordsOf("json.ndjson.gz")],
  ["confluent-avro", recordsOf("confluent-avro.ndjson.gz")],
  ["confluent-protobuf", protobufRecords],
];

describe.each(formats)("the tiers of %s", (_name, records) => {
  test("all are taken, and each can be turned off without another result", () => {
    const all = countCalls();
    const events = decodeAll(records).map((event) => event.toObject());
    expect(all.readers).toBeGreaterThanOrEqual(records.length);
    expect(all.fastPath).toBeGreaterThan(records.length - 100); // the first 64 records take the slow path

    tiers[tiersKey] = { fastPath: false };
    const slow = countCalls();
    expect(decodeAll(records).map((event) => event.toObject())).toEqual(events);
    expect(slow.fastPath).toBe(0);
    expect(slow.readers).toBeGreaterThanOrEqual(records.length);

    tiers[tiersKey] = { generatedReaders: false };
    const closures = countCalls();
    expect(decodeAll(records).map((event) => event.toObject())).toEqual(events);
    expect(closures.readers).toBe(0);
  });
});

/** How many sources of fast paths have been generated since: shared ones, and those of their own. */
function countFastPaths(): () => readonly number[] {
  const sources: string[] = [];
  globalThis.Function = new Proxy(RuntimeFunction, {
    construct: (target, args: string[]) => (sources.push(args.at(-1) ?? ""), new target(...args)),
  });
  return () => {
    const fastPaths = sources.filter((text) => text.includes("return function fastPath("));
    return ["// shared", "// own"].map((owner) => fastPaths.filter((text) => text.includes(owner)).length);
  };
}

test("fast paths share code, until one has taken thousands of records", () => {
  const count = countFastPaths();
  const records = recordsOf("confluent-avro.ndjson.gz");
  const decoder = createDecoder({ schemas });
  const decode = (topic: string): readonly unknown[] =>
    records.map((record) => (decoder.decode({ ...record, topic }) as readonly CdcEvent[]).map((event) => event.toObject().after));
  const [first] = ["a.b.c", "a.b.d", "a.b.e"].map(decode);
  expect(count()).toEqual([1, 0]);
  for (let i = 0; i < 15; i++) {
    expect(decode("a.b.c")).toEqual(first);
  }
  expect(count()).toEqual([1, 1]);
});

test("of more than 128 topics, only so many fast paths get code of their own", () => {
  const count = countFastPaths();
  const decoder = createDecoder({ schemas });
  const [record] = protobufRecords as [KafkaRecord];
  const before = decoder.decode(record) as readonly CdcEvent[];
  for (let nth = 0; nth < 140; nth++) {
    const named = { ...record, topic: `a.b.c${nth}` };
    for (let i = 0; i < 1_200; i++) {
      void decoder.decode(named);
    }
    expect((decoder.decode(named) as readonly CdcEvent[]).map((event) => event.toObject().row)).toEqual(
      before.map((event) => event.toObject().row),
    );
  }
  expect(count()).toEqual([1, 128]);
});

const recordsInTurn = (...kinds: readonly (readonly KafkaRecord[])[]): readonly KafkaRecord[] =>
  Array.from({ length: 600 }, (_, i) => kinds[i % kinds.length]?.[Math.floor(i / kinds.length)] as KafkaRecord); // within bounds

/** A permutation without a period. */
const shuffled = (records: readonly KafkaRecord[]): readonly KafkaRecord[] =>
  records.toSorted((a, b) => rankOf(records.indexOf(a)) - rankOf(records.indexOf(b)));
const rankOf = (i: number): number => Math.imul(i + 1, 0x9e3779b1) >>> 0;

const json = recordsOf("json.ndjson.gz");
const avro = recordsOf("confluent-avro.ndjson.gz");
const connect = recordsOf("json-with-schema.ndjson.gz");
const tombstonesOf = (records: readonly KafkaRecord[]): readonly KafkaRecord[] => records.map((record) => ({ ...record, value: null }));
const rowsOf = (records: readonly KafkaRecord[]): readonly KafkaRecord[] =>
  records.map((record) => ({ ...record, value: Buffer.from(JSON.stringify(JSON.parse(String(record.value)).after)) }));

test.each<[what: string, records: readonly KafkaRecord[]]>([
  ["changes and tombstones with Avro keys in turn", recordsInTurn(avro, tombstonesOf(avro))],
  ["changes and tombstones with JSON keys in turn", recordsInTurn(json, tombstonesOf(json))],
  ["two schemas in turn", recordsInTurn(avro, protobufRecords)],
  ["two shapes of JSON in turn", recordsInTurn(json, rowsOf(json))],
  [
    "schemas, shapes and tombstones in any order",
    shuffled(recordsInTurn(avro, json, connect, protobufRecords, tombstonesOf(avro), rowsOf(json))),
  ],
])("%s take fast paths", (_, records) => {
  const calls = countCalls();
  const events = decodeAll(records).map((event) => event.toObject());
  expect(calls.fastPath).toBeGreaterThan(records.length - 64 * 6 - 20);

  tiers[tiersKey] = { fastPath: false };
  expect(decodeAll(records).map((event) => event.toObject())).toEqual(events);
});

const tables = 40;

/** The texts of a record, as those of another table would be. */
function ofTable(table: number, { key, value }: KafkaRecord): Partial<KafkaRecord> {
  const named = (text: string): string => text.replaceAll("salesorderdetailbig", `sales${table}`);
  return { key: Buffer.from(named(String(key))), value: Buffer.from(named(String(value)).replace('"id":', `"column${table}":1,"id":`)) };
}

function avroOfTable(table: number, { key, value }: KafkaRecord): Partial<KafkaRecord> {
  const withId = (bytes: Uint8Array | null, id: number): Buffer | null => {
    if (bytes === null) {
      return null;
    }
    const framed = Buffer.from(bytes);
    registered.set(100 * id + table, { ...(registered.get(id) as RegisteredSchema), id: 100 * id + table });
    framed.writeInt32BE(100 * id + table, 1);
    return framed;
  };
  return { key: withId(key, 1), value: withId(value, 2) };
}

const maxwellOf = (records: readonly KafkaRecord[]): readonly KafkaRecord[] =>
  records.map((record) => {
    const data = JSON.stringify(JSON.parse(String(record.value)).after);
    const text = `{"database":"sales","table":"salesorderdetailbig","type":"insert","ts":1795244642,"xid":744,"commit":true,"data":${data}}`;
    return { ...record, value: Buffer.from(text) };
  });

test.each<[what: string, records: readonly KafkaRecord[], ofTable: typeof avroOfTable]>([
  ["Avro", avro, avroOfTable],
  ["JSON", json, ofTable],
  ["JSON with schema", connect, ofTable],
  ["Maxwell", maxwellOf(json), ofTable],
  ["Avro with tombstones", recordsInTurn(avro, tombstonesOf(avro)), avroOfTable],
])("of forty tables of one topic in any order, records take fast paths: %s", (_, [...recorded], write) => {
  const perTable = 200;
  const records = shuffled(
    Array.from({ length: tables * perTable }, (_, i): KafkaRecord => {
      const record = recorded[Math.floor(i / tables)] as KafkaRecord;
      return { ...record, ...write(i % tables, record) };
    }),
  );
  const calls = countCalls();
  const events = decodeAll(records).map((event) => event.toObject());
  const kinds = recorded[1]?.value === null ? 2 : 1;
  expect(calls.fastPath).toBeGreaterThan(records.length - 64 * tables * kinds - 100);

  tiers[tiersKey] = { fastPath: false };
  expect(decodeAll(records).map((event) => event.toObject())).toEqual(events);
});

test("values whose schema is hinted take the fast path, and empty ones do not", () => {
  const { schema } = recorded[1] as RegisteredSchema;
  const bare = avro.map((record): KafkaRecord => ({ ...record, key: null, value: (record.value as Buffer).subarray(5) }));
  const hints = { "a.b.c": { value: { schema: { schemaType: "AVRO", schema } } } } as const;
  const calls = countCalls();
  const events = decodeAll(bare, hints).map((event) => event.toObject());
  expect(calls.fastPath).toBeGreaterThan(bare.length - 100);
  expect(() => decodeAll([...bare, { ...bare[0], value: Buffer.alloc(0) } as KafkaRecord], hints)).toThrow(/truncated|expected/);

  tiers[tiersKey] = { fastPath: false };
  expect(decodeAll(bare, hints).map((event) => event.toObject())).toEqual(events);
});
