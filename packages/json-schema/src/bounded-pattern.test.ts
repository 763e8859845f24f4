import { isDecodeError } from "@cdckit/decode";
import fc from "fast-check";
import { RE2JS } from "re2js";
import { describe, expect, test } from "vitest";
import { BoundedPattern } from "./bounded-pattern.ts";
import { translatePattern } from "./pattern-translation.ts";

const free = (): void => undefined;
const matches = (pattern: string, text: string): boolean => new BoundedPattern(pattern, free).test(text);

const atom = fc.constantFrom(
  ...["a", "b", "c", ".", "é", "🙂", "-", " ", "[ab]", "[^a]", "[a-c]", "[\\d-]", "[^\\W_]", "\\d", "\\D", "\\w", "\\W", "\\s", "\\S"],
  ...[
    "\\.",
    "\\/",
    "[^\\s]",
    "[\\S\\n]",
    "[.]",
    "[^a-c\\s]",
    "\\u0061",
    "\\u{1f642}",
    "\\x62",
    "\\p{L}",
    "\\P{Lu}",
    "^",
    "$",
    "\\b",
    "\\B",
  ],
);
const times = fc.constantFrom("", "", "*", "+", "?", "{2}", "{1,3}", "{2,}", "*?", "{0}");
const isAssertion = (part: string): boolean => ["^", "$", "\\b", "\\B"].includes(part); // a quantifier cannot follow these

/** Pieces in sequence, in alternatives. */
function alternatives(part: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const piece = fc.tuple(part, times).map(([inner, count]) => (isAssertion(inner) ? inner : inner + count));
  const sequence = fc.array(piece, { maxLength: 3 }).map((pieces) => pieces.join(""));
  return fc.array(sequence, { minLength: 1, maxLength: 2 }).map((all) => all.join("|"));
}

/** Patterns of the forms that schemas have. They are not nested deeper, because the runtime's matcher would take too long. */
const group = alternatives(atom).chain((inner) => fc.constantFrom(`(${inner})`, `(?:${inner})`));
const pattern = alternatives(fc.oneof(atom, group));

const text = fc.string({
  unit: fc.constantFrom("a", "b", "c", "d", "1", "_", "-", ".", " ", "é", "🙂", "\n", "\r", "\u2028", "\u00a0", "\v", "A"),
  maxLength: 8,
});

/**
 * Tries the pattern at each character in turn, as ECMA-262 specifies. V8's own search also tries between the halves of a character, at which
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

  test.each<[string, string, boolean]>([
    ["[[:alpha:]]", ":]", true],
    ["[[:alpha:]]", "b]", false],
    ["^\\z$", "z", true],
    ["^\\A$", "A", true],
    ["^\\Qa.\\E$", "Qa.E", true],
    ["^[\\b]$", "\b", true],
    ["^.{0,2000}b?$", "a".repeat(2_000), true],
    ["^.{0,2000}b?$", "a".repeat(2_001), false],
    ["^a{1500,}b?$", "a".repeat(1_499), false],
    ["^a{1500,}b?$", "a".repeat(1_600), true],
    ["^b{1200,2500}c?$", "b".repeat(2_500), true],
    ["^b{1200,2500}c?$", "b".repeat(2_501), false],
    ["^b{1200,2500}c?$", "b".repeat(1_199), false],
    ["^\\p{Script=Greek}\\p{Uppercase_Letter}\\p{gc=Nd}$", "αA1", true],
    ["^[^]$", "\n", true],
    ["[]", "a", false],
    ["^[\\w-.]+$", "a-.", true],
    ["^\\d{3}\\-\\d{2}$", "123-45", true],
  ])("what RE2 reads otherwise means what ECMAScript says: %s", (source, subject, expected) => {
    expect(matches(source, subject)).toBe(expected);
  });

  test.each([
    "^[ab]*a{50}c$",
    "^[ab]*(?:a{50}c)$",
    "(a+)+$b",
    "(a*)*b",
    "(a|a)*b",
    "(a|aa)+b",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
    "a*a*a*a*a*a*b",
    "(.*)(.*)(.*)(.*)(.*)x",
    "(?:a?){30}a{30}b",
    "[ab]*a[ab]{20}[cd]",
  ])("%s ends on a text that backtracking would not end on", (source) => {
    expect(matches(source, "a".repeat(20_000))).toBe(false);
  });

  test("the maximum cost of a match is spent before it: a step for each instruction and character", () => {
    const spent = (source: string, subject: string): number => {
      let ns = 0;
      const counting = new BoundedPattern(source, (more) => {
        ns += more;
      });
      counting.test(subject);
      return ns;
    };
    const text = "a".repeat(1_000);
    expect(spent("^[a-z]+$", text)).toBeLessThan(2 * text.length);
    expect(spent("^a*a{500}b$", text)).toBeGreaterThan(500 * text.length); // the runtime's matcher goes back over all that it has matched
    expect(spent("(?:a|b)*c", text)).toBeGreaterThan(spent("a|b", text));
    expect(spent("(?:a|b)*c", text + text)).toBeGreaterThan(1.9 * spent("(?:a|b)*c", text));
    const refusing = new BoundedPattern("(?:a+)+b", () => {
      throw new Error("spent");
    });
    expect(() => refusing.test(text)).toThrow("spent");
  });

  test("no pattern has more instructions than its cost was computed from", () => {
    fc.assert(
      fc.property(pattern, (source) => {
        const translated = translatePattern(source);
        expect(RE2JS.compile(translated.source).programSize()).toBeLessThanOrEqual(translated.instructions);
      }),
      { numRuns: 500 },
    );
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
    "(a)\\12",
    "\\01",
    "(?i)a",
    "(?P<x>a)",
    "(?i:a)",
    "(?:a{100}){100}",
    "(a{1,1000}){1,1000}",
    "(){999999}",
    "\\u{110000}",
    "\\p{No_Such}",
    "\\p{L",
    "(".repeat(100),
    "(?:a|b){1500,}",
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
