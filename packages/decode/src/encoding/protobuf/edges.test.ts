import { readFileSync } from "node:fs";
import { recordOf } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { createDecoder } from "../../decoder.ts";
import { isDecodeError } from "../../errors.ts";
import type { CdcEvent } from "../../event.ts";
import { field, joined, plain, proto3, twins, valueOf } from "./twins.contract.ts";

/** What Google's serializer wrote (`scripts/vectors/write_protobuf_edges.py`), and what its json_format reads it as. */
interface Vector {
  readonly name: string;
  readonly schema: string;
  readonly message: string;
  readonly value: string;
  readonly json: Readonly<Record<string, unknown>>;
}

function lines<Line>(name: string): readonly Line[] {
  const url = new URL(`../../../../../test/vectors/protobuf/${name}.ndjson`, import.meta.url);
  return readFileSync(url, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Line); // one object a line
}

/** Both sides without nulls, with bytes as base64 and durations in ISO 8601. */
function comparable(value: unknown): unknown {
  if (value instanceof Uint8Array) {
    return Buffer.from(value).toString("base64");
  }
  if (Array.isArray(value)) {
    return value.map(comparable);
  }
  if (typeof value === "string") {
    return /^-?\d+(?:\.\d+)?s$/.test(value) ? `PT${value.toUpperCase()}` : value;
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  // json_format leaves out an extension that is absent. Our type has a column for it, as for every field.
  const isAbsent = (name: string, part: unknown): boolean =>
    part === null || (name.startsWith("[") && Array.isArray(part) && part.length === 0);
  const entries = Object.entries(value).filter(([name, part]) => !isAbsent(name, part));
  return Object.fromEntries(entries.map(([name, part]) => [name, comparable(part)]));
}

describe("edge cases of the format are read as Google's library reads them", () => {
  for (const { name, schema, descriptor, message, value, json } of lines<Vector & { readonly descriptor: string }>("edges")) {
    test(name, () => {
      for (const text of [schema, descriptor]) {
        const readers = twins(text, { message: { kind: "name", name: message }, values: { int64: "string" } });
        expect(comparable(plain(valueOf(readers, Buffer.from(value, "base64"))))).toEqual(comparable(json));
      }
    });
  }
});

test("a repeated message with the name that Connect's converter gives to map entries is a map", () => {
  const schema = proto3("repeated ConnectDefault2Entry m = 1; message ConnectDefault2Entry { string key = 1; int32 value = 2; }");
  const bytes = joined(field(1, joined(field(1, "a"), field(2, 1))), field(1, joined(field(1, "b"), field(2, 2))));
  expect(valueOf(twins(schema), bytes)).toEqual({ m: { __proto__: null, a: 1, b: 2 } });
});

const maps = lines<Vector>("indexes");

async function decoded(
  schema: string,
  value: Buffer,
  messageIndexes?: "map-entries-counted" | "map-entries-left-out",
  headers: readonly (readonly [string, Buffer])[] = [],
): Promise<CdcEvent> {
  const decoder = createDecoder({
    schemas: { peek: () => ({ id: 1, schemaType: "PROTOBUF", schema }), load: () => Promise.reject(new Error("it is at hand")) },
    ...(messageIndexes === undefined ? {} : { topics: { t: { value: { messageIndexes } } } }),
  });
  const record = recordOf(value, { headers });
  const [event] = [...(await decoder.decode(record)), ...(await decoder.decode(record))].slice(-1); // the second one takes the fast path
  if (event === undefined) {
    throw new Error("no event");
  }
  return event;
}

function rowOf(event: CdcEvent): unknown {
  return event.kind === "row" ? event.row : null;
}

/** The same message as Java's and JavaScript's serializers write it. They do not count the messages of maps. */
function leftOut(value: Buffer): Buffer {
  const copy = Buffer.from(value);
  copy[7] = (copy[7] ?? 0) - 2; // 00, the id, the count of two, 00, then the second index in zig-zag
  return copy;
}

describe("the index of a message that is declared after the maps of the same scope", () => {
  for (const { name, schema, value, json } of maps) {
    const bytes = Buffer.from(value, "base64");
    test(`${name}, counted as Python's serializer does`, async () => {
      expect(comparable(rowOf(await decoded(schema, bytes)))).toEqual(comparable({ ...json, ...numbers(json) }));
    });
    test(`${name}, not counted`, async () => {
      const row = rowOf(await decoded(schema, name === "the order itself" ? bytes : leftOut(bytes)));
      expect(comparable(row)).toEqual(comparable({ ...json, ...numbers(json) }));
    });
  }

  test("is found from the bytes if a registry moved the maps to the front of the text", async () => {
    // Python's descriptor has this order: A, the map, B, another map. Confluent's registry writes fields first.
    const text = proto3(
      "map<string, string> x = 1; map<string, string> y = 2; message A { int64 id = 1; } message B { string note = 1; bool done = 2; }",
    );
    const second = joined(Buffer.from([0, 0, 0, 0, 1, 4, 0, 4]), field(1, "hello"), field(2, 1));
    expect(rowOf(await decoded(text, second))).toEqual({ note: "hello", done: true });
  });

  test.each([
    ["A, counted", "040002", "084d120568656c6c6f", { id: 77, note: "hello" }],
    ["B, counted", "040004", "0a016e1001", { name: "n", done: true }],
    ["A, not counted", "040000", "084d120568656c6c6f", { id: 77, note: "hello" }],
    ["B, not counted", "040002", "0a016e1001", { name: "n", done: true }],
    ["the first message", "00", "1a0208071a020809", { tags: { __proto__: null }, a: null, ids: [{ id: 7 }, { id: 9 }] }],
  ])("is found from the bytes also if Confluent's header has it: %s", async (_, indexes, value, row) => {
    // The counted ones are from confluent-kafka 2.16.1 for Python, with header_schema_id_serializer.
    const fields =
      "map<string, string> tags = 1; message A { int64 id = 1; string note = 2; } message B { string name = 1; bool done = 2; }";
    const schema = proto3(`${fields} A a = 2; repeated C ids = 3; message C { int64 id = 1; }`);
    const header = Buffer.from(`01337fbd7d780342ffac5d1ddacdd841b1${indexes}`, "hex");
    expect(rowOf(await decoded(schema, Buffer.from(value, "hex"), undefined, [["__value_schema_id", header]]))).toEqual(row);
  });

  const twoSimilar = proto3(
    "map<string, string> tags = 1; message A { int64 id = 1; string note = 2; } message B { int64 number = 1; string text = 2; }",
  );
  const sameKind = joined(Buffer.from([0, 0, 0, 0, 1, 4, 0, 2]), field(1, 77), field(2, "hello"));

  test("is reported as ambiguous if the bytes fit both messages, and chosen by the topic's hint", async () => {
    const error: unknown = await decoded(twoSimilar, sameKind).catch((thrown: unknown) => thrown);
    expect(isDecodeError(error) && error.code).toBe("schema-mismatch");
    expect(String(error)).toMatch(/messageIndexes/);
    expect(rowOf(await decoded(twoSimilar, sameKind, "map-entries-counted"))).toEqual({ id: 77, note: "hello" });
    expect(rowOf(await decoded(twoSimilar, sameKind, "map-entries-left-out"))).toEqual({ number: 77, text: "hello" });
  });
});

/** json_format writes integers of 64 bits as text; ours are numbers. */
function numbers(json: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const wide = Object.entries(json).filter(([name]) => name === "id" || name === "cents");
  return Object.fromEntries(wide.map(([name, value]) => [name, Number(value)]));
}
