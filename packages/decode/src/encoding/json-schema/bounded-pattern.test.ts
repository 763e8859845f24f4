import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isDecodeError } from "../../errors.ts";
import { BoundedPattern } from "./bounded-pattern.ts";

const free = (): void => undefined;
const matches = (pattern: string, text: string): boolean => new BoundedPattern(pattern, free).test(text);

const atom = fc.constantFrom(
  ...["a", "b", "c", ".", "é", "🙂", "-", " ", "[ab]", "[^a]", "[a-c]", "[\\d-]", "[^\\W_]", "\\d", "\\D", "\\w", "\\W", "\\s", "\\S"],
  ...["\\.", "\\/", "\\u0061", "\\u{1f642}", "\\x62", "\\p{L}", "\\P{Lu}", "^", "$", "\\b", "\\B"],
);
const times = fc.constantFrom("", "", "*", "+", "?", "{2}", "{1,3}", "{2,}", "*?", "{0}");
const isAssertion = (part: string): boolean => ["^", "$", "\\b", "\\B"].includes(part); // which cannot be repeated

/** Pieces after one another, in alternatives. */
function alternatives(part: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const piece = fc.tuple(part, times).map(([inner, count]) => (isAssertion(inner) ? inner : inner + count));
  const sequence = fc.array(piece, { maxLength: 3 }).map((pieces) => pieces.join(""));
  return fc.array(sequence, { minLength: 1, maxLength: 2 }).map((all) => all.join("|"));
}

/** Patterns of the forms that schemas have. Not deeper: the runtime's own matcher would not come back from them. */
const group = alternatives(atom).chain((inner) => fc.constantFrom(`(${inner})`, `(?:${inner})`));
const pattern = alternatives(fc.oneof(atom, group));

const text = fc.string({ unit: fc.constantFrom("a", "b", "c", "d", "1", "_", "-", ".", " ", "é", "🙂", "\n", "A"), maxLength: 8 });

/**
 * Tried at each character in turn, as ECMA-262 has it: left to search by itself, V8 also tries between the halves of a character, where
 * `\\B` matches in "a🙂a".
 */
function runtimeMatches(source: string, subject: string): boolean {
  const sticky = new RegExp(source, "uy");
  const starts = Array.from(subject.matchAll(/(?=.|$)/gsu), ({ index }) => index);
  return starts.some((at) => {
    sticky.lastIndex = at;
    return sticky.test(subject);
  });
}

describe("patterns", () => {
  test("match what the runtime's own matcher matches", () => {
    fc.assert(
      fc.property(pattern, text, (source, subject) => {
        expect(matches(source, subject)).toBe(runtimeMatches(source, subject));
      }),
      { numRuns: 1_000 },
    );
  });

  test.each<[string, string, boolean]>([
    ["^[A-Z]{2}-\\d{4}$", "AB-1234", true],
    ["^[A-Z]{2}-\\d{4}$", "AB-12345", false],
    ["^(?<year>\\d{4})$", "2024", true],
    ["^[^@]+@[^@]+\\.[a-z]{2,}$", "a.b@c.example", true],
    ["^[\\]]$", "]", true],
    ["^\\cA$", "\u0001", true],
    ["a{,2}", "a{,2}", true],
    ["^\\ud83d\\ude42$", "🙂", true],
    ["^[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", true],
    ["", "", true],
    ["constructor", "constructor", true],
    ["^[a-z]+$", "abc", true],
    ["^[a-z]+$", "abC", false],
    ["^\\-{2}a", "--ab", true],
  ])("%s on %s", (source, subject, expected) => {
    expect(matches(source, subject)).toBe(expected);
  });

  test.each([
    "^a*b",
    "^[ab]*a{50}c$",
    "(a+)+$",
    "(a*)*b",
    "(a|a)*b",
    "(a|aa)+$",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
    "a*a*a*a*a*a*b",
    "(.*)(.*)(.*)(.*)(.*)x",
    "(?:a?){30}a{30}",
  ])("%s takes time in proportion to its text", (source) => {
    let ns = 0;
    const counting = new BoundedPattern(source, (more) => {
      ns += more;
    });
    counting.test("a".repeat(20_000));
    expect(ns).toBeLessThan(20_000 * 1_000);
  });

  test.each([
    "(?=a)",
    "(?!a)",
    "(?<=a)b",
    "(?<!a)b",
    "(a)\\1",
    "\\k<a>",
    "(",
    ")",
    "[",
    "[b-a]",
    "*",

    "(a{1,1000}){1,1000}",
    "(){999999}",
    "\\u{110000}",
    "\\p{No_Such}",
    "\\p{L",
    "(".repeat(100),
    "x".repeat(2_001),
  ])("%s is refused", (source) => {
    let code = "a pattern";
    try {
      new BoundedPattern(source, free);
    } catch (error) {
      code = isDecodeError(error) ? error.code : String(error);
    }
    expect(code).toBe("schema-invalid");
  });
});
