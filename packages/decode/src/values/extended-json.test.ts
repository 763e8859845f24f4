import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { resolveValueOptions } from "../options.ts";
import { extendedJson } from "./extended-json.ts";

const options = resolveValueOptions();

/** A MongoDB value in canonical Extended JSON, and the value that users see. */
type Pair = readonly [written: unknown, seen: unknown];

const leaf: fc.Arbitrary<Pair> = fc.oneof(
  fc.string().map((text): Pair => [text, text]),
  fc.boolean().map((flag): Pair => [flag, flag]),
  fc.constant<Pair>([null, null]),
  fc.integer().map((int): Pair => [{ $numberInt: String(int) }, int]),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((long): Pair => [{ $numberLong: String(long) }, safe(long)]),
  fc.double().map((double): Pair => [{ $numberDouble: Object.is(double, -0) ? "-0.0" : String(double) }, double]),
  fc.uint8Array().map((bytes): Pair => [{ $binary: { base64: Buffer.from(bytes).toString("base64"), subType: "00" } }, Buffer.from(bytes)]),
  fc
    .uuid()
    .map((uuid): Pair => [{ $binary: { base64: Buffer.from(uuid.replaceAll("-", ""), "hex").toString("base64"), subType: "04" } }, uuid]),
  fc.date({ min: new Date("1970-01-01T00:00:00Z"), max: new Date("9999-12-31T23:59:59.999Z"), noInvalidDate: true }).chain((date) => {
    const seen = date
      .toISOString()
      .replace(/\.?0*Z$/, "Z")
      .replace(/T(\d\d:\d\d:\d\d)$/, "T$1Z");
    return fc.constantFrom<Pair>([{ $date: { $numberLong: String(date.getTime()) } }, seen], [{ $date: date.toISOString() }, seen]);
  }),
);

const { value: pairs } = fc.letrec<{ value: Pair }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.array(tie("value"), { maxLength: 4 }).map((items): Pair => [items.map(([written]) => written), items.map(([, seen]) => seen)]),
    fc
      .uniqueArray(
        fc.tuple(
          fc.string().filter((name) => !name.startsWith("$")),
          tie("value"),
        ),
        { selector: ([name]) => name, maxLength: 4 },
      )
      .map(
        (fields): Pair => [
          Object.fromEntries(fields.map(([name, [written]]) => [name, written])),
          Object.fromEntries(fields.map(([name, [, seen]]) => [name, seen])),
        ],
      ),
  ),
}));

function safe(long: bigint): number | bigint {
  return Number.isSafeInteger(Number(long)) ? Number(long) : long;
}

describe("extendedJson", () => {
  test("gives the value that the canonical form was written from, at any depth", () => {
    fc.assert(
      fc.property(pairs, ([written, seen]) => {
        expect(extendedJson(written, options)).toEqual(seen);
      }),
      { numRuns: 2_000 },
    );
  });

  test("takes any JSON without an error, and leaves values without a dollar sign as they are", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const seen = extendedJson(value, options);
        if (!JSON.stringify(value).includes('"$')) {
          expect(seen).toEqual(value);
        }
      }),
    );
  });

  test("an object that only looks like Extended JSON stays an object", () => {
    const names = [
      "$oid",
      "$numberInt",
      "$numberLong",
      "$numberDouble",
      "$numberDecimal",
      "$date",
      "$uuid",
      "$timestamp",
      "$binary",
      "$regex",
    ];
    const content = fc.oneof(
      fc.string(),
      fc.integer(),
      fc.constant(null),
      fc.dictionary(fc.constantFrom("t", "i", "base64", "subType"), fc.string()),
    );
    fc.assert(
      fc.property(fc.constantFrom(...names), content, (name, held) => {
        const wrapper = { [name]: held, other: 1 };
        expect(extendedJson(wrapper, options)).toEqual(wrapper);
        expect(() => extendedJson({ [name]: held }, options)).not.toThrow();
      }),
    );
  });

  test("a member that is named like a wrapper is a column if there is another column next to it", () => {
    for (const wrapper of [
      { $binary: { base64: "", subType: "0" }, other: 1 },
      { $binary: "", other: 1 },
    ]) {
      expect(extendedJson(wrapper, options)).toEqual(wrapper);
    }
  });

  test("a megabyte of digits is not read as a number", () => {
    const digits = "9".repeat(1_000_000);
    for (const name of ["$numberInt", "$numberLong", "$numberDouble", "$numberDecimal", "$date", "$oid"]) {
      expect(extendedJson({ [name]: digits }, options)).toEqual({ [name]: digits });
    }
  });

  test("a number that its type does not hold is not rounded, and stays as it is", () => {
    for (const written of [
      { $numberDouble: "1e400" },
      { $numberDouble: "-1e400" },
      { $numberInt: "9007199254740993" },
      { $numberInt: 2n ** 53n + 1n },
    ]) {
      expect(extendedJson(written, options)).toEqual(written);
    }
  });

  test("a date that 64 bits do not hold stays as it is", () => {
    for (const $date of [1e300, 2n ** 63n]) {
      expect(extendedJson({ $date }, options)).toEqual({ $date });
    }
  });

  test("a field called __proto__ is plain data", () => {
    const seen = extendedJson(JSON.parse('{"__proto__":{"polluted":{"$numberInt":"1"}}}'), options) as object;
    expect(Object.keys(seen)).toEqual(["__proto__"]);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
});
