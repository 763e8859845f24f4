import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { resolveLimits } from "../../options.ts";
import { decodePlain, expectedValue, plainOutcome, plainVectors } from "../plain-vectors.contract.ts";
import { cbor } from "./encoding.ts";

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(" ", ""), "hex");
const decode = (text: string): unknown => decodePlain(cbor, hex(text));
const outcome = (text: string): string => plainOutcome(cbor, hex(text));
const vectors = plainVectors("cbor");

describe("the examples of RFC 8949, and values that PyPI's cbor2 wrote", () => {
  test.each(vectors)("$name", ({ base64, value }) => {
    expect(decodePlain(cbor, Buffer.from(base64, "base64"))).toStrictEqual(expectedValue(value));
  });

  test("cut at any byte is an error", () => {
    for (const { base64 } of vectors) {
      const payload = Buffer.from(base64, "base64");
      for (let length = 0; length < payload.length; length++) {
        expect(plainOutcome(cbor, payload.subarray(0, length))).toBe("truncated");
      }
    }
  });

  test("with an additional byte is an error", () => {
    for (const { base64 } of vectors) {
      expect(plainOutcome(cbor, Buffer.concat([Buffer.from(base64, "base64"), Buffer.from([0])]))).toBe("trailing-bytes");
    }
  });

  test("with any byte changed gives a value or a typed error", () => {
    fc.assert(
      fc.property(fc.constantFrom(...vectors), fc.nat(), fc.integer({ min: 0, max: 255 }), ({ base64 }, place, byte) => {
        const payload = Buffer.from(base64, "base64");
        payload[place % payload.length] = byte;
        plainOutcome(cbor, payload);
      }),
    );
  });
});

describe("rules", () => {
  test.each<[string, string, unknown]>([
    ["undefined is null", "f7", null],
    ["the least int64 and below", "82 3b7fffffffffffffff 3bffffffffffffffff", [-(2n ** 63n), -(2n ** 64n)]],
    [
      "the least integer that a double holds exactly",
      "82 3b001ffffffffffffe 3b001fffffffffffff",
      [-9_007_199_254_740_991, -9_007_199_254_740_992n],
    ],
    ["a wide integer with a small value", "c2 43 000001", 1],
    ["a wide integer without bytes", "c2 40", 0],
    ["an indefinite map keeps the last value of a repeated name", "bf 6161 01 6161 02 ff", { a: 2 }],
    [
      "a key that is no text makes a Map",
      "a2 6161 01 01 02",
      new Map<unknown, unknown>([
        ["a", 1],
        [1, 2],
      ]),
    ],
    ["text of no chunks", "7f ff", ""],
    ["bytes in chunks", "5f 41 01 40 41 02 ff", hex("0102")],
    ["a tag in a tag", "d9d9f7 d9d9f7 c1 00", "1970-01-01T00:00:00Z"],
    ["an unknown tag leaves its item unchanged", "d8c8 01", 1],
    ["a uuid as text", "d825 6161", "a"],
    ["a big float below one", "c5 82 22 03", "0.375"],
    ["a big float above one", "c5 82 03 20", "-8"],
    ["a big float with an integer value", "c5 82 20 04", "2"],
    ["a decimal fraction of a wide mantissa", "c4 82 21 c2 4a 00ffffffffffffffffff", "47223664828696452136.95"],
    ["an epoch of -0.5", "c1 f9b800", "1969-12-31T23:59:59.5Z"],
    ["an epoch whose microseconds round up to a second", "c1 fb 3fefffffffffffff", "1970-01-01T00:00:01Z"],
    ["a day of the far past", "d864 3a000f423f", "-0768-02-04"],
  ])("%s", (_name, bytes, value) => {
    expect(decode(bytes)).toStrictEqual(value);
  });

  test("a Buffer is a copy, because the batch may be overwritten", () => {
    const bytes = hex("42 0102");
    const value = cbor.parse(bytes, 0, bytes.length, resolveLimits());
    bytes.fill(0);
    expect(value).toEqual(hex("0102"));
  });

  test("__proto__ is a name like any other", () => {
    const value = decode("a1 69 5f5f70726f746f5f5f a1 6161 01") as Record<string, unknown>;
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.entries(value)).toEqual([["__proto__", { a: 1 }]]);
  });

  test("any bytes give a value or a typed error", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (payload) => {
        plainOutcome(cbor, payload);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("hostile bytes", () => {
  const array32 = (count: number, item: string): Buffer => {
    const unit = hex(item);
    const head = hex("9a 00000000");
    head.writeUInt32BE(count, 1);
    return Buffer.concat([head, Buffer.alloc(count * unit.length, unit)]);
  };

  test.each<[string, string, string]>([
    ["no bytes", "", "truncated"],
    ["an array of 2^64 items", "9b ffffffffffffffff", "truncated"],
    ["a map of 2^63 entries", "bb 8000000000000000", "truncated"],
    ["text of 2^53 bytes", "7b 0020000000000000 61", "truncated"],
    ["a reserved argument", "1c", "malformed"],
    ["an integer of indefinite length", "1f", "malformed"],
    ["a tag of indefinite length", "df 00", "malformed"],
    ["a break alone", "ff", "malformed"],
    ["a break in an array of a known length", "81 ff", "malformed"],
    ["a break for a value", "bf 6161 ff", "malformed"],
    ["a chunk of the wrong type", "7f 4161 ff", "malformed"],
    ["a chunk of indefinite length", "7f 7f 6161 ff ff", "malformed"],
    ["a character cut by a chunk", "7f 61c3 61a4 ff", "invalid-utf8"],
    ["a simple value in more bytes than it needs", "f8 14", "malformed"],
    ["an unknown simple value", "f0", "value-invalid"],
    ["an unknown simple value of two bytes", "f8 ff", "value-invalid"],
    ["a reserved simple value", "fc", "malformed"],
    ["text that is not UTF-8", "62 c328", "invalid-utf8"],
    ["a lone surrogate", "63 eda080", "invalid-utf8"],
    ["a wide integer that is text", "c2 6161", "value-invalid"],
    ["a wide integer of 417 bytes", `c2 5901a1 ${"01".repeat(417)}`, "value-invalid"],
    ["a decimal fraction of three parts", "c4 83 01 01 01", "value-invalid"],
    ["a decimal fraction that is no array", "c4 01", "value-invalid"],
    ["a decimal fraction with a fraction in it", "c4 82 f93e00 01", "value-invalid"],
    ["a decimal fraction of 2^32 zeros", "c4 82 1affffffff 01", "value-invalid"],
    ["a big float of 2^64 digits", "c5 82 1bffffffffffffffff 01", "value-invalid"],
    ["an epoch that is text", "c1 6161", "value-invalid"],
    ["an epoch of NaN", "c1 f97e00", "value-invalid"],
    ["an epoch beyond any calendar", "c1 1bffffffffffffffff", "value-invalid"],
    ["days that are a fraction", "d864 f93e00", "value-invalid"],
    ["a uuid of 15 bytes", `d825 4f ${"00".repeat(15)}`, "value-invalid"],
  ])("%s", (_name, bytes, code) => {
    expect(outcome(bytes)).toBe(code);
  });

  test.each<[string, Buffer]>([
    ["arrays", Buffer.alloc(1_000_000, 0x81)],
    ["arrays of indefinite length", Buffer.alloc(1_000_000, 0x9f)],
    ["maps as keys", Buffer.alloc(1_000_000, 0xa1)],
    ["tags", Buffer.alloc(1_000_000, 0xc1)],
    ["arrays that each announce a million items", Buffer.alloc(5_000_000, hex("9a000f4240"))],
  ])("depth: nested %s exceed the limit", (_name, payload) => {
    expect(plainOutcome(cbor, payload)).toBe("limit-exceeded");
  });

  test.each<[string, Buffer]>([
    ["empty maps", array32(2_000_000, "a0")],
    ["empty arrays", array32(2_000_000, "80")],
    ["maps with a key that is no text", array32(1_000_000, "a1 01 01")],
    ["empty byte strings", array32(1_000_000, "40")],
    ["wide integers of a byte", array32(300_000, "c2 41 01")],
    ["big floats of hundreds of digits", array32(200_000, "c5 82 390400 01")],
    ["decimals of thousands of zeros", array32(200_000, "c4 82 393ffe 01")],
    ["dates", array32(500_000, "c1 01")],
    ["empty text chunks", Buffer.concat([hex("7f"), Buffer.alloc(1_000_000, 0x60), hex("ff")])],
    ["empty byte chunks", Buffer.concat([hex("5f"), Buffer.alloc(1_000_000, 0x40), hex("ff")])],
  ])("about a MiB of %s exceeds the limit", (_name, payload) => {
    expect(plainOutcome(cbor, payload)).toBe("limit-exceeded");
  });

  test("any number of values with content is read", () => {
    expect(plainOutcome(cbor, array32(300_000, "a2 62 6964 190100 64 6e616d65 65 7768656174"))).toBe("value");
    expect(plainOutcome(cbor, array32(100_000, "01"))).toBe("value");
    expect(plainOutcome(cbor, array32(1_000_000, "01"))).toBe("value");
    expect(plainOutcome(cbor, array32(55_000, `d825 50 ${"5a".repeat(16)}`))).toBe("value");
    expect(plainOutcome(cbor, array32(60_000, "c4 82 21 1a 0001e240"))).toBe("value");
    expect(
      plainOutcome(
        cbor,
        Buffer.concat([hex("7f"), Buffer.alloc(66 * 15_000, Buffer.concat([hex("7840"), Buffer.alloc(64, "x")])), hex("ff")]),
      ),
    ).toBe("value");
  });

  test("error messages contain no bytes of the payload", () => {
    try {
      decode("a1 66 736563726574 1c");
    } catch (error) {
      expect((error as Error).message).not.toContain("secret");
    }
  });
});
