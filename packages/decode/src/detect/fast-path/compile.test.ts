import { recordOf } from "@cdckit/testkit";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createDecoder, type DecoderOptions } from "../../decoder.ts";
import { isDecodeError } from "../../errors.ts";
import type { KafkaRecord } from "../../record.ts";
import type { RegisteredSchema, SchemaSource } from "../../schema-source.ts";

/**
 * Records that begin like many records before them take a fast path. Their events must be those of a decoder that has seen nothing before.
 */

const enough = 100;

const row = (name: string, type: string): string => JSON.stringify({ type: "record", name, fields: [{ name: "x", type }] });
const nested = 'syntax = "proto3"; message A { map<string, int32> m = 1; message B { int32 x = 1; } message C { int32 x = 1; } }';
const schemas: SchemaSource = {
  peek: (id) => registered[Number(id) - 1],
  load: () => Promise.reject(new Error("no such schema")),
};
const registered: readonly RegisteredSchema[] = [
  { id: 1, schemaType: "AVRO", schema: row("Key", "int") },
  { id: 2, schemaType: "AVRO", schema: row("Row", "int") },
  { id: 3, schemaType: "AVRO", schema: row("Other", "string") },
  { id: 4, schemaType: "PROTOBUF", schema: nested },
  {
    id: 5,
    schemaType: "AVRO",
    schema: JSON.stringify({
      type: "record",
      name: "Timed",
      fields: [{ name: "at", type: { type: "int", "connect.name": "io.debezium.time.Date" } }],
    }),
  },
  { id: 6, schemaType: "PROTOBUF", schema: 'syntax = "proto3"; message Row { int64 at = 1; }' },
  {
    id: 7,
    schemaType: "PROTOBUF",
    schema:
      'syntax = "proto3"; message Envelope { message Row { int32 at = 1; } message Source { string table = 1; } ' +
      "Row before = 1; Row after = 2; Source source = 3; string op = 4; int64 ts_ms = 5; }",
  },
  {
    id: 8,
    schemaType: "AVRO",
    schema: JSON.stringify({
      type: "record",
      name: "Document",
      fields: [{ name: "json", type: { type: "string", "connect.name": "io.debezium.data.Json" } }],
    }),
  },
];

const connect = (payload: string): string =>
  `{"schema":{"type":"struct","optional":false,"fields":[{"type":"int32","optional":true,"field":"x"}]},"payload":${payload}}`;

type Sides = readonly [key: string | null, value: string | null];

async function decodeAll(records: readonly Sides[], options: DecoderOptions = {}): Promise<readonly unknown[]> {
  const decoder = createDecoder({ schemas, ...options });
  const outcomes: unknown[] = [];
  for (const record of records) {
    outcomes.push(await outcomeOf(() => decoder.decode(recordOfSides(record))));
  }
  return outcomes;
}

async function outcomeOf(decode: () => unknown): Promise<unknown> {
  try {
    return ((await decode()) as readonly { toObject(): Record<string, unknown> }[]).map((event) => {
      const { kind, key, row, after, encoding, framing } = event.toObject();
      return { kind, key, row, after, encoding, framing };
    });
  } catch (error) {
    return isDecodeError(error) ? error.code : error;
  }
}

function recordOfSides([key, value]: Sides): KafkaRecord {
  const bytes = (side: string | null): Buffer | null =>
    side === null ? null : /^[0-9a-f]+$/.test(side) ? Buffer.from(side, "hex") : Buffer.from(side);
  return recordOf(bytes(value), { key: bytes(key) });
}

const key = "000000000102";
const fastPathMatch: Sides = [key, "000000000204"];
const inConnect: Sides = [connect('{"x":1}'), connect('{"x":2}')];
const inJson: Sides = ['{"x":1}', '{"x":1,"y":"a"}'];
const keyless: Sides = [null, "000000000204"];
const dated = (days: string): Sides => ["000000000502", `00000000060008${days}`];

const truncate: Sides = ["000000000502", "0000000007001a030a0174220174"];
const create: Sides = ["000000000502", "000000000700120208051a030a0174220163"];

const likeOthers: readonly [what: string, after: Sides, record: Sides][] = [
  ["the value's schema is another", fastPathMatch, [key, "00000000030461"]],
  ["the key's schema is another", fastPathMatch, ["00000000030461", "000000000206"]],
  ["the key is text", fastPathMatch, ["k", "000000000206"]],
  ["there is no key", fastPathMatch, [null, "000000000206"]],
  ["there is no value", fastPathMatch, [key, null]],
  ["the value is JSON", fastPathMatch, [key, '{"x":1}']],
  ["the value ends behind its prefix", fastPathMatch, [key, "0000000002"]],
  ["the value ends in its prefix", fastPathMatch, [key, "00000000"]],
  ["the value ends too early", fastPathMatch, [key, "000000000280"]],
  ["the value goes on", fastPathMatch, [key, "00000000020400"]],
  ["the key goes on", fastPathMatch, [`${key}00`, "000000000204"]],
  ["the payload is null", inConnect, [connect('{"x":1}'), connect("null")]],
  ["the payload is spelled in another way", inConnect, [connect('{"x":1}'), connect('{ "x" : 2 }')]],
  ["the payload is malformed", inConnect, [connect('{"x":1}'), connect('{"x":')]],
  ["the key's payload is malformed, so that it is text", inConnect, [connect('{"x":'), connect('{"x":2}')]],
  ["another document follows", inConnect, [connect('{"x":1}'), `${connect('{"x":2}')}{}`]],
  ["the payload has a column more behind it", inConnect, [connect('{"x":1}'), connect('{"x":2},"y":3')]],
  ["has a key", keyless, fastPathMatch],
  ["the value is null", keyless, [null, null]],
  ["the value is JSON with a column more", inJson, ['{"x":1}', '{"x":1,"y":"a","z":0}']],
  ["the value is JSON with white space", inJson, ['{"x":1}', '{"x":1, "y":"a"}']],
  ["the value is JSON with names in another order", inJson, ['{"x":1}', '{"y":"a","x":1}']],
  ["the value is JSON whose column is of another type", inJson, ['{"x":1}', '{"x":"1","y":{}}']],
  ["the value is JSON that is truncated", inJson, ['{"x":1}', '{"x":1,"y":"a']],
  ["the value is two documents", inJson, ['{"x":1}', '{"x":1,"y":"a"}{"x":1,"y":"a"}']],
  ["the value is no object", inJson, ['{"x":1}', "1"]],
  ["the key is no JSON", inJson, ['{"x":1', '{"x":1,"y":"a"}']],
  ["is a frame of Apicurio's", [null, '{"schemaId":"a","payload":1}'], [null, '{"schemaId":2,"payload":1}']],
  ["the value contradicts what its key teaches", dated("01"), dated("ffffffffffffffff7f")],
  ["its columns mean what its key teaches", truncate, create],
  [
    "its key is too deep, and its value ends too early",
    ['{"x":1}', fastPathMatch[1]],
    [`{"x":${"[".repeat(99)}${"]".repeat(99)}}`, "000000000280"],
  ],
  ["its first bytes may choose two messages, and it fits neither", [null, "00000000040400020801"], [null, "000000000404000208"]],
  ["its first bytes choose a message in one way of counting only", [null, "00000000040400040801"], [null, "000000000404000408"]],
  ["its first bytes may choose two messages, and it fits the second", [null, "00000000040400020801"], [null, "00000000040400020802"]],
];

test.each(likeOthers)("a record that begins like the last one but %s is read as if it were the first", async (_, after, record) => {
  const all = await decodeAll([...Array.from({ length: enough }, () => after), record, after]);
  const [first, warm, reread] = [all[0], ...all.slice(-2)];
  const [cold] = await decodeAll([record]);
  expect(warm).toEqual(cold);
  expect(reread).toEqual(first);
  expect(first).toEqual((await decodeAll([after]))[0]);
});

test("the cost of documents inside of a value is not charged to the next record's key", async () => {
  const document = (objects: number): string => {
    const text = `[${Array.from({ length: objects }, () => "{}").join()}]`;
    const length = Buffer.alloc(4);
    let left = text.length * 2;
    const bytes = length.map(() => {
      const byte = (left & 0x7f) | 0x80;
      left >>>= 7;
      return byte;
    });
    bytes[3] = (bytes[3] as number) & 0x7f;
    return `0000000008${Buffer.from(bytes).toString("hex")}${Buffer.from(text).toString("hex")}`;
  };
  const records: Sides[] = [
    [document(1), document(100_000)],
    [document(20_000), document(1)],
  ];
  const many = [...Array.from({ length: enough }, () => [document(1), document(1)] as const), ...records];
  for (const sequence of [records, many]) {
    expect((await decodeAll(sequence, { values: { json: "parse" } })).slice(-2)).not.toContain("value-invalid");
  }
});

test("a record whose headers announce another framing does not take the fast path", async () => {
  const announced: KafkaRecord = {
    ...recordOfSides(fastPathMatch),
    headers: [["apicurio.value.globalId", Buffer.from("0000000000000003", "hex")]],
  };
  const decoder = createDecoder({ schemas });
  for (let i = 0; i < enough; i++) {
    await decoder.decode(recordOfSides(fastPathMatch));
  }
  const warm = await outcomeOf(() => decoder.decode(announced));
  expect(warm).toEqual(await outcomeOf(() => createDecoder({ schemas }).decode(announced)));
  expect(warm).not.toEqual((await decodeAll([fastPathMatch]))[0]);
});

test.each([
  ["schemas", fastPathMatch, [key, "00000000030461"]],
  ["shapes", inJson, ['{"x":1}', '{"x":1,"z":{}}']],
  ["keys and none", keyless, fastPathMatch],
] as const)("runs of two %s, one after the other, are read as if each record were the first", async (_, one, other) => {
  const runs = [...Array.from({ length: 6 }, (__, i) => Array.from({ length: enough }, () => (i % 2 === 0 ? one : other))).flat()];
  const [coldOne, coldOther] = [(await decodeAll([one]))[0], (await decodeAll([other]))[0]];
  expect(await decodeAll(runs)).toEqual(runs.map((record) => (record === one ? coldOne : coldOther)));
});

test("a record that is longer than its limit is refused, however it begins", async () => {
  const records = [...Array.from({ length: enough }, () => fastPathMatch), [key, `0000000002${"80".repeat(99)}`] as const];
  expect((await decodeAll(records, { limits: { maxMessageBytes: 64 } })).at(-1)).toBe("limit-exceeded");
});

test("records of all these kinds, in any order and in runs of any length, are read as if each were the first", async () => {
  const enoughForAll = 70; // of each kind, so that all have a fast path if they can
  const kindsOf = ([, after, record]: (typeof likeOthers)[number]): readonly Sides[] => [after, record, [after[0], null]];
  const someKinds = fc.uniqueArray(fc.constantFrom(...likeOthers), { minLength: 1, maxLength: 2 }).map((some) => some.flatMap(kindsOf));
  const runs = fc.array(fc.record({ nth: fc.nat(5), length: fc.constantFrom(1, 1, 2, 40) }), { minLength: 1, maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(someKinds, runs, async (kinds, chosen) => {
      const inTurn = Array.from({ length: enoughForAll }, () => [...kinds.keys()]).flat();
      const sequence = [...inTurn, ...chosen.flatMap(({ nth, length }) => Array.from({ length }, () => nth % kinds.length))];
      const cold = await Promise.all(kinds.map(async (kind) => (await decodeAll([kind]))[0]));
      expect(await decodeAll(sequence.map((nth) => kinds[nth] as Sides))).toEqual(sequence.map((nth) => cold[nth]));
    }),
    { numRuns: 40 },
  );
});
