import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { resolveLimits } from "../../options.ts";
import { decodePlain, expectedValue, plainOutcome, plainVectors } from "../plain-vectors.contract.ts";
import { messagePack } from "./encoding.ts";

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(" ", ""), "hex");
const decode = (text: string): unknown => decodePlain(messagePack, hex(text));
const outcome = (text: string): string => plainOutcome(messagePack, hex(text));
const vectors = plainVectors("msgpack");

describe("values that PyPI's msgpack wrote", () => {
  test.each(vectors)("$name", ({ base64, value }) => {
    expect(decodePlain(messagePack, Buffer.from(base64, "base64"))).toStrictEqual(expectedValue(value));
  });

  test("cut at any byte is an error", () => {
    for (const { base64 } of vectors) {
      const payload = Buffer.from(base64, "base64");
      for (let length = 0; length < payload.length; length++) {
        expect(plainOutcome(messagePack, payload.subarray(0, length))).toBe("truncated");
      }
    }
  });

  test("with an additional byte is an error", () => {
    for (const { base64 } of vectors) {
      expect(plainOutcome(messagePack, Buffer.concat([Buffer.from(base64, "base64"), Buffer.from([0])]))).toBe("trailing-bytes");
    }
  });

  test("with any byte changed gives a value or a typed error", () => {
    fc.assert(
      fc.property(fc.constantFrom(...vectors), fc.nat(), fc.integer({ min: 0, max: 255 }), ({ base64 }, place, byte) => {
        const payload = Buffer.from(base64, "base64");
        payload[place % payload.length] = byte;
        plainOutcome(messagePack, payload);
      }),
    );
  });
});

describe("rules", () => {
  test.each<[string, string, unknown]>([
    ["integers in more bytes than they need", "cf 0000000000000001", 1],
    ["lengths in more bytes than they need", "db 00000001 61", "a"],
    ["array 32 of one", "dd 00000001 c0", [null]],
    ["map 32 of one", "df 00000001 a161 c0", { a: null }],
    ["a repeated name keeps its last value", "82 a161 01 a161 02", { a: 2 }],
    [
      "a key that is no text makes a Map of all entries, in order",
      "83 a161 01 01 02 a162 03",
      new Map<unknown, unknown>([
        ["a", 1],
        [1, 2],
        ["b", 3],
      ]),
    ],
    ["a timestamp of 96 bits", "c7 0c ff 1dcd6500 ffffffffffffffff", "1969-12-31T23:59:59.5Z"],
    ["a far year", "c7 0c ff 00000000 000000e8d4a51000", "+33658-09-27T01:46:40Z"],
  ])("%s", (_name, bytes, value) => {
    expect(decode(bytes)).toStrictEqual(value);
  });

  test("a Buffer is a copy, because the batch may be overwritten", () => {
    const bytes = hex("c4 02 0102");
    const value = messagePack.parse(bytes, 0, bytes.length, resolveLimits());
    bytes.fill(0);
    expect(value).toEqual(hex("0102"));
  });

  test("__proto__ is a name like any other", () => {
    const value = decode("81 a9 5f5f70726f746f5f5f 81 a1 61 01") as Record<string, unknown>;
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.entries(value)).toEqual([["__proto__", { a: 1 }]]);
  });

  test("any bytes give a value or a typed error", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (payload) => {
        plainOutcome(messagePack, payload);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("hostile bytes", () => {
  const array32 = (count: number, item: string): Buffer => {
    const unit = hex(item);
    const head = hex("dd 00000000");
    head.writeUInt32BE(count, 1);
    return Buffer.concat([head, Buffer.alloc(count * unit.length, unit)]);
  };

  test.each<[string, string, string]>([
    ["the byte that MessagePack never uses", "c1", "malformed"],
    ["no bytes", "", "truncated"],
    ["an array of 2^32 - 1 items", "dd ffffffff", "truncated"],
    ["a map of 2^32 - 1 entries", "df ffffffff", "truncated"],
    ["text of 2^32 - 1 bytes", "db ffffffff 61", "truncated"],
    ["a byte string of 2^32 - 1 bytes", "c6 ffffffff 61", "truncated"],
    ["an extension of 2^32 - 1 bytes", "c9 ffffffff 01 61", "truncated"],
    ["text that is not UTF-8", "a2 c328", "invalid-utf8"],
    ["a lone surrogate", "a3 eda080", "invalid-utf8"],
    ["a name that is not UTF-8", "81 a1ff 01", "invalid-utf8"],
    ["a timestamp of 5 bytes", "c7 05 ff 0000000000", "value-invalid"],
    ["a timestamp of more than a second of nanoseconds", "d7 ff ffffffff 00000000", "value-invalid"],
    ["a timestamp beyond any calendar", "c7 0c ff 00000000 7fffffffffffffff", "value-invalid"],
  ])("%s", (_name, bytes, code) => {
    expect(outcome(bytes)).toBe(code);
  });

  test.each<[string, Buffer]>([
    ["arrays", Buffer.alloc(1_000_000, 0x91)],
    ["maps as values", Buffer.alloc(1_000_000, hex("81a161"))],
    ["maps as keys", Buffer.alloc(1_000_000, 0x81)],
    ["arrays that each announce a million items", Buffer.alloc(5_000_000, hex("dd000f4240"))],
  ])("depth: nested %s exceed the limit", (_name, payload) => {
    expect(plainOutcome(messagePack, payload)).toBe("limit-exceeded");
  });

  test("a value nested as deep as the limit is read", () => {
    const payload = Buffer.concat([Buffer.alloc(64, 0x91), hex("c0")]);
    expect(plainOutcome(messagePack, payload)).toBe("value");
    expect(plainOutcome(messagePack, Buffer.concat([hex("91"), payload]))).toBe("limit-exceeded");
  });

  test.each<[string, Buffer]>([
    ["empty maps", array32(2_000_000, "80")],
    ["empty arrays", array32(2_000_000, "90")],
    ["maps with a key that is no text", array32(1_000_000, "81 01 01")],
    ["empty byte strings", array32(1_000_000, "c400")],
    ["timestamps", array32(300_000, "d6ff00000001")],
    ["extensions of a byte", array32(500_000, "d40100")],
    ["arrays of one", array32(700_000, "9101")],
    ["small maps", array32(350_000, "81 a161 01")],
  ])("one or two MiB of %s exceed the limit", (_name, payload) => {
    expect(plainOutcome(messagePack, payload)).toBe("limit-exceeded");
  });

  test("a MiB of objects exceeds the limit if all have different names, and does not if they repeat their names", () => {
    const objects = (name: (i: number) => string): Buffer => {
      const rows = Array.from({ length: 150_000 }, (_, i) => Buffer.concat([hex("81 a4"), Buffer.from(name(i)), hex("01")]));
      const head = hex("dd 00000000");
      head.writeUInt32BE(rows.length, 1);
      return Buffer.concat([head, ...rows]);
    };
    expect(
      plainOutcome(
        messagePack,
        objects((i) => i.toString(36).padStart(4, "0")),
      ),
    ).toBe("limit-exceeded");
    expect(
      plainOutcome(
        messagePack,
        objects(() => "name"),
      ),
    ).toBe("value");
  });

  test("any number of values with content is read", () => {
    expect(plainOutcome(messagePack, array32(100_000, "01"))).toBe("value");
    expect(plainOutcome(messagePack, array32(1_000_000, "01"))).toBe("value");
    expect(plainOutcome(messagePack, array32(100_000, "92 ca3f800000 ca3f800000"))).toBe("value");
    expect(plainOutcome(messagePack, array32(300_000, "82 a2 6964 cd0100 a4 6e616d65 a5 7768656174"))).toBe("value");
  });

  test("error messages contain no bytes of the payload", () => {
    try {
      decode("81 a6 736563726574 c1");
    } catch (error) {
      expect((error as Error).message).not.toContain("secret");
    }
  });
});
