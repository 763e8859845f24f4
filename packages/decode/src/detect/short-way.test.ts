import { expect, test } from "vitest";
import { createDecoder, type DecoderOptions } from "../decoder.ts";
import { isDecodeError } from "../errors.ts";
import type { RegisteredSchema, SchemaSource } from "../schema-source.ts";

/** Records that begin as the last one did take a short way: what they mean must be what a decoder says that sees them first. */

const row = (name: string, type: string): string => JSON.stringify({ type: "record", name, fields: [{ name: "x", type }] });
const nested = 'syntax = "proto3"; message A { map<string, int32> m = 1; message B { int32 x = 1; } message C { int32 x = 1; } }';
const schemas: SchemaSource = {
  peek: (id) => registered[Number(id) - 1],
  load: () => expect.unreachable(),
};
const registered: readonly RegisteredSchema[] = [
  { id: 1, schemaType: "AVRO", schema: row("Key", "int") },
  { id: 2, schemaType: "AVRO", schema: row("Row", "int") },
  { id: 3, schemaType: "AVRO", schema: row("Other", "string") },
  { id: 4, schemaType: "PROTOBUF", schema: nested },
];

const connect = (payload: string): string =>
  `{"schema":{"type":"struct","optional":false,"fields":[{"type":"int32","optional":true,"field":"x"}]},"payload":${payload}}`;

type Sides = readonly [key: string | null, value: string | null];

function decodeAll(records: readonly Sides[], options: DecoderOptions = {}): readonly unknown[] {
  const decoder = createDecoder({ schemas, ...options });
  return records.map((record) => outcomeOf(() => decoder.decode(recordOf(record))));
}

function outcomeOf(decode: () => unknown): unknown {
  try {
    return (decode() as readonly { toObject(): Record<string, unknown> }[]).map((event) => {
      const { kind, key, row: columns, encoding, framing } = event.toObject();
      return { kind, key, columns, encoding, framing };
    });
  } catch (error) {
    return isDecodeError(error) ? error.code : error;
  }
}

function recordOf([key, value]: Sides): never {
  const bytes = (side: string | null): Buffer | null =>
    side === null ? null : /^[0-9a-f]+$/.test(side) ? Buffer.from(side, "hex") : Buffer.from(side);
  return { topic: "t", partition: 0, offset: 0n, timestamp: 0n, key: bytes(key), value: bytes(value), headers: [] } as never;
}

const key = "000000000102";
const alike: Sides = [key, "000000000204"];
const inConnect: Sides = [connect('{"x":1}'), connect('{"x":2}')];

test.each<[what: string, after: Sides, record: Sides]>([
  ["the value's schema is another", alike, [key, "00000000030461"]],
  ["the key's schema is another", alike, ["00000000030461", "000000000206"]],
  ["the key is text", alike, ["k", "000000000206"]],
  ["there is no key", alike, [null, "000000000206"]],
  ["there is no value", alike, [key, null]],
  ["the value is JSON", alike, [key, '{"x":1}']],
  ["the value ends behind its prefix", alike, [key, "0000000002"]],
  ["the value ends in its prefix", alike, [key, "00000000"]],
  ["the value ends too early", alike, [key, "000000000280"]],
  ["the value goes on", alike, [key, "00000000020400"]],
  ["the key goes on", alike, [`${key}00`, "000000000204"]],
  ["the payload is null", inConnect, [connect('{"x":1}'), connect("null")]],
  ["the payload is spelled in another way", inConnect, [connect('{"x":1}'), connect('{ "x" : 2 }')]],
  ["the payload is malformed", inConnect, [connect('{"x":1}'), connect('{"x":')]],
  ["the key's payload is malformed, so that it is text", inConnect, [connect('{"x":'), connect('{"x":2}')]],
  ["another document follows", inConnect, [connect('{"x":1}'), `${connect('{"x":2}')}{}`]],
  ["the payload has a column more behind it", inConnect, [connect('{"x":1}'), connect('{"x":2},"y":3')]],
  ["its first bytes may choose two messages, and it fits neither", [null, "00000000040400020801"], [null, "000000000404000208"]],
  ["its first bytes choose a message in one way of counting only", [null, "00000000040400040801"], [null, "000000000404000408"]],
  ["its first bytes may choose two messages, and it fits the second", [null, "00000000040400020801"], [null, "00000000040400020802"]],
])("a record that begins like the last one but %s is read as if it were the first", (_, after, record) => {
  const [, , warm, again] = decodeAll([after, after, record, after]);
  const [cold] = decodeAll([record]);
  expect(warm).toEqual(cold);
  expect(again).toEqual(decodeAll([after])[0]);
});

test("a record that is longer than its limit is refused, however it begins", () => {
  expect(decodeAll([alike, alike, [key, `0000000002${"80".repeat(99)}`]], { limits: { maxMessageBytes: 64 } })[2]).toBe("limit-exceeded");
});
