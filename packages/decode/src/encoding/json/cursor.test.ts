import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { JsonCursor, missed, plainScalarEnd, readInteger, readSimple, skipLong, skipScalar } from "./cursor.ts";

/** What stands after a value: the end of its buffer, more of the record, or bytes of another one. */
const afters = fc.constantFrom("", ",", "}", ',"x":1}', "}12345678", ' "');

/** What the function makes of the text, and where it leaves the cursor. The text stands at any place of a buffer. */
function at<T>(text: string, before: number, after: string, read: (c: JsonCursor) => T): { readonly value: T; readonly moved: number } {
  const bytes = Buffer.from("7".repeat(before) + text + after, "utf8");
  const own = new Uint8Array(bytes); // a buffer that ends where the bytes end
  const length = Buffer.byteLength(text);
  let moved = 0;
  const value = new JsonCursor().read(
    (c) => {
      const made = read(c);
      moved = c.pos === missed ? missed : c.pos - before;
      return made;
    },
    own,
    before,
    before + length + (after.startsWith("}") ? 1 : Buffer.byteLength(after)),
  ) as T;
  return { value, moved };
}

const digits = fc.oneof(
  fc.nat(99).map(String),
  fc.maxSafeNat().map(String),
  fc.bigInt({ min: 2n ** 53n - 3n, max: 2n ** 53n + 3n }).map(String),
  fc.bigInt({ min: 0n, max: 2n ** 70n }).map(String),
);

const strings = fc.oneof(
  fc.string({ maxLength: 60 }),
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.nat(70).map((length) => "x".repeat(length)),
  fc.uuid(),
);

describe("a value of a row", () => {
  test("is the integer that its digits say", () => {
    fc.assert(
      fc.property(fc.boolean(), digits, fc.nat(9), afters, (isNegative, text, before, after) => {
        const signed = isNegative ? `-${text}` : text;
        const exact = BigInt(signed);
        const value = BigInt(Number.MIN_SAFE_INTEGER) <= exact && exact <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(exact) : exact;
        expect(at(signed, before, after, readInteger)).toEqual({ value, moved: signed.length });
        expect(at(signed, before, after, readSimple)).toEqual({ value: signed === "-0" ? -0 : value, moved: signed.length });
        expect(at(signed, before, after, skipScalar).moved).toBe(signed.length);
        const fits = BigInt.asIntN(64, exact) === exact;
        expect(at(signed, before, after, skipLong).moved).toBe(fits ? signed.length : missed);
      }),
    );
  });

  test("is left to the slow reader if it has a fraction, an exponent or a leading zero", () => {
    fc.assert(
      fc.property(digits, fc.constantFrom(".5", "e3", "E3", ".0"), fc.nat(9), afters, (text, more, before, after) => {
        expect(at(text + more, before, after, readSimple).moved).toBe(missed);
        expect(at(`0${text}`, before, after, readSimple).moved).toBe(missed);
        expect(at(`0${text}`, before, after, skipScalar).moved).toBe(missed);
        expect(at("-", before, after, readSimple).moved).toBe(missed);
      }),
    );
  });

  test("is the text that JSON.parse reads", () => {
    fc.assert(
      fc.property(strings, fc.nat(9), afters, (text, before, after) => {
        const written = JSON.stringify(text);
        const moved = Buffer.byteLength(written);
        expect(at(written, before, after, readSimple)).toEqual({ value: JSON.parse(written), moved });
        expect(at(written, before, after, skipScalar).moved).toBe(moved);
        const end = at(written, before, after, (c) => plainScalarEnd(c, c.pos)).value;
        expect([before + moved, missed]).toContain(end);
      }),
    );
  });

  test.each(["true", "false", "null"])("is %s", (word) => {
    expect(at(word, 3, ",", readSimple)).toEqual({ value: JSON.parse(word), moved: word.length });
    expect(at(word, 3, ",", skipScalar).moved).toBe(word.length);
  });

  test.each(['"', '"x', '"xxxxxxxxxxxxxxxx', '"a\u0001b"', '"\\', '"\\q"', "", "nul", "tru", "+1", "x"])("is none: %j", (text) => {
    for (let before = 0; before < 5; before++) {
      expect(at(text, before, "", readSimple).moved).toBe(missed);
      expect(at(text, before, "", skipScalar).moved).toBe(missed);
    }
  });
});
