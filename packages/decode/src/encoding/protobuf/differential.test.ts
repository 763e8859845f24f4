import fc from "fast-check";
import { expect, test } from "vitest";
import { outcomeOf, peerType, plain, readBoth, twins } from "./twins.contract.ts";

/** A field's type, and values that fit it in the form that protobufjs' `fromObject` takes. */
interface Kind {
  readonly type: string;
  readonly value: fc.Arbitrary<unknown>;
}

const edges = [0n, 1n, 127n, 128n, 2n ** 28n, 2n ** 32n, 2n ** 35n, 2n ** 49n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 56n, 2n ** 63n - 1n];
const int64 = fc
  .oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.constantFrom(...edges, ...edges.map((edge) => -edge)))
  .map(String);
const uint64 = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.constantFrom(...edges)).map(String);
const int32 = fc.oneof(fc.integer(), fc.integer({ min: -200, max: 200 }));
const uint32 = fc.nat({ max: 2 ** 32 - 1 });

const kinds: readonly Kind[] = [
  { type: "double", value: fc.double() },
  { type: "float", value: fc.float() },
  { type: "int32", value: int32 },
  { type: "sint32", value: int32 },
  { type: "sfixed32", value: int32 },
  { type: "uint32", value: uint32 },
  { type: "fixed32", value: uint32 },
  { type: "int64", value: int64 },
  { type: "sint64", value: int64 },
  { type: "sfixed64", value: int64 },
  { type: "uint64", value: uint64 },
  { type: "fixed64", value: uint64 },
  { type: "bool", value: fc.boolean() },
  { type: "string", value: fc.oneof(fc.string({ unit: "grapheme" }), fc.string({ minLength: 30, maxLength: 140 })) },
  { type: "bytes", value: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)) },
  { type: "E", value: fc.constantFrom("A", "B", "C") },
  { type: "N", value: fc.record({ x: int32, t: fc.string() }, { requiredKeys: [] }) },
];

interface DrawnField {
  readonly declared: string;
  readonly value: unknown;
}

const drawnField: fc.Arbitrary<DrawnField> = fc.oneof(
  fc.constantFrom(...kinds).chain(({ type, value }) => fc.option(value).map((drawn) => ({ declared: `${type} NAME`, value: drawn }))),
  fc
    .constantFrom(...kinds)
    .chain(({ type, value }) => fc.option(value).map((drawn) => ({ declared: `optional ${type} NAME`, value: drawn }))),
  fc.tuple(fc.constantFrom(...kinds), fc.boolean()).chain(([{ type, value }, packed]) =>
    fc.array(value, { maxLength: 5 }).map((drawn) => ({
      declared: `repeated ${type} NAME`,
      options: packed && !["string", "bytes", "N"].includes(type) ? " [packed = false]" : "",
      value: drawn,
    })),
  ),
  fc
    .constantFrom(...kinds)
    .chain(({ type, value }) =>
      fc
        .dictionary(fc.string({ maxLength: 5 }), value, { maxKeys: 3 })
        .map((drawn) => ({ declared: `map<string, ${type}> NAME`, value: drawn })),
    ),
);

const message = fc
  .uniqueArray(fc.tuple(fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 5_000 })), drawnField), {
    selector: ([number]) => number,
    maxLength: 60,
  })
  .map((fields) => ({
    schema: `syntax = "proto3"; message M { ${fields.map(([number, { declared }]) => `${declared.replace("NAME", `f${number}`)} = ${number};`).join(" ")} }
      message N { int32 x = 1; string t = 2; } enum E { A = 0; B = 1; C = -5; }`,
    value: Object.fromEntries(fields.filter(([, { value }]) => value !== null).map(([number, { value }]) => [`f${number}`, value])),
  }));

const asOurs = { longs: String, enums: String, bytes: Buffer, defaults: true } as const;

test("both readers read what protobufjs writes as protobufjs reads it", () => {
  fc.assert(
    fc.property(message, ({ schema, value }) => {
      const type = peerType(schema, "M");
      const bytes = type.encode(type.fromObject(value)).finish();
      const outcome = readBoth(twins(schema, { values: { int64: "string" } }), bytes);
      expect("value" in outcome ? plain(outcome.value) : outcome).toEqual(plain(type.toObject(type.decode(bytes), asOurs)));
    }),
  );
});

test("both readers give the same result for mutated bytes", () => {
  const kind = fc.constantFrom("set", "cut", "insert", "repeat", "append", "append");
  const change = fc.record({ at: fc.nat(), byte: fc.nat({ max: 255 }), kind });
  let decoded = 0;
  let inputs = 0;
  fc.assert(
    fc.property(message, fc.array(change, { minLength: 1, maxLength: 2 }), ({ schema, value }, changes) => {
      const type = peerType(schema, "M");
      const written = Buffer.from(type.encode(type.fromObject(value)).finish());
      const bytes = changes.reduce((before, { at, byte, kind: how }) => {
        const place = before.length === 0 ? 0 : at % before.length;
        const [head, tail] = [before.subarray(0, place), before.subarray(place)];
        switch (how) {
          case "set":
            return Buffer.concat([head, Buffer.from([byte]), tail.subarray(1)]);
          case "insert":
            return Buffer.concat([head, Buffer.from([byte]), tail]);
          case "repeat":
            return Buffer.concat([head, before]);
          case "append":
            return Buffer.concat([before, written]);
          default:
            return head;
        }
      }, written);
      inputs++;
      if ("value" in readBoth(twins(schema, { values: { int64: "string" } }), bytes)) {
        decoded++;
      }
    }),
  );
  expect(decoded / inputs).toBeGreaterThan(0.2); // a test that mostly compares errors would show little
});

test("deferring and skipping change what is read, and never whether the message is accepted", () => {
  fc.assert(
    fc.property(message, fc.integer({ min: 1, max: 40 }), ({ schema, value }, number) => {
      const type = peerType(schema, "M");
      const bytes = type.encode(type.fromObject(value)).finish();
      const name = `f${number}`;
      const skipping = readBoth(twins(schema, { plan: { defer: null, skip: [name], rows: "self" } }), bytes);
      const whole = outcomeOf(() => twins(schema)[0].read(bytes, 0, bytes.length));
      const without = "value" in whole ? Object.fromEntries(Object.entries(whole.value as object).filter(([key]) => key !== name)) : whole;
      expect("value" in skipping ? skipping.value : skipping).toEqual(without);
    }),
  );
});
