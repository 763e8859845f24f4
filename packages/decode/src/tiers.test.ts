import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { createDecoder } from "./decoder.ts";
import { compileAvroReader } from "./encoding/avro/reader.ts";
import { fastPathMiss } from "./encoding/fast-path.ts";
import { readEverything } from "./encoding/reader.ts";
import { TextCache } from "./encoding/text-cache.ts";
import type { CdcEvent } from "./event.ts";
import { resolveLimits, resolveValueOptions } from "./options.ts";
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
      const make = new target(...args) as AnyFunction;
      return (...scope: readonly unknown[]) => counted(make(...scope), args.at(-1)?.includes("return function fastPath(") === true);
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

function decodeAll(records: readonly KafkaRecord[]): readonly CdcEvent[] {
  const decoder = createDecoder({ schemas });
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

    tiers[tiersKey] = { textCache: false };
    countCalls();
    expect(decodeAll(records).map((event) => event.toObject())).toEqual(events);
  });
});

describe("the text cache", () => {
  const type = { kind: "record", name: "Row", fields: [{ name: "a", type: { kind: "string" } }] } as const;
  const bytes = Buffer.from([6, 97, 98, 99]);
  const options = { values: resolveValueOptions(), limits: resolveLimits(), plan: readEverything, codeGeneration: true };

  test("returns the text that it has remembered", () => {
    const texts = new TextCache();
    const reader = compileAvroReader(type, { ...options, texts });
    expect(reader.read(bytes, 0, bytes.length)).toEqual({ a: "abc" });
    const slot = texts.texts.indexOf("abc");
    texts.texts[slot] = "xyz"; // of the same length: the cache does not compare its characters again
    expect(reader.read(bytes, 0, bytes.length)).toEqual({ a: "xyz" });
  });

  test("remembers nothing if it is off", () => {
    const texts = new TextCache(false);
    expect(compileAvroReader(type, { ...options, texts }).read(bytes, 0, bytes.length)).toEqual({ a: "abc" });
    expect(texts.texts.indexOf("abc")).toBe(-1);
  });
});
