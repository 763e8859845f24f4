import { schemaInvalid } from "./schema-invalid.ts";

/*
 * The regular expressions of JSON Schema (ECMA-262, section 22.2.1), without what only backtracking can match: look-around and back
 * references.
 *
 *   alternation = sequence *( "|" sequence )
 *   sequence    = *( atom [ quantifier ] )
 *   atom        = "(" [ "?:" / "?<" name ">" ] alternation ")" / "[" class "]" / "." / "^" / "$" / "\" escape / character
 *   quantifier  = ( "*" / "+" / "?" / "{" n [ "," [ m ] ] "}" ) [ "?" ]
 */

export type PatternNode =
  | { readonly kind: "set"; readonly has: CharacterTest }
  | { readonly kind: "start" | "end" | "boundary" | "inside" }
  | { readonly kind: "sequence" | "choice"; readonly parts: readonly PatternNode[] }
  | { readonly kind: "repeat"; readonly part: PatternNode; readonly min: number; readonly max: number };

/** Whether a code point belongs to a set. */
export type CharacterTest = (codePoint: number) => boolean;

const deepestGroup = 50;
const longestPattern = 2_000;

/** The structure of a pattern. Throws `schema-invalid` where it is none, or cannot be matched in bounded time. */
export function parsePattern(pattern: string): PatternNode {
  if (pattern.length > longestPattern) {
    throw unusable(`is longer than ${longestPattern} characters`);
  }
  const parser = new PatternParser(pattern);
  const node = parser.alternation(deepestGroup);
  if (!parser.isAtEnd) {
    throw unusable("closes a group that is not open");
  }
  return node;
}

/** A pattern that values cannot be checked against. */
export function unusable(how: string): Error {
  return schemaInvalid(`a pattern ${how}, so that values cannot be checked against it: mend it, or set validation to "off"`);
}

class PatternParser {
  readonly #chars: readonly string[];
  #at = 0;

  constructor(pattern: string) {
    this.#chars = [...pattern]; // code points
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#chars.length;
  }

  alternation(depth: number): PatternNode {
    if (depth <= 0) {
      throw unusable(`has groups nested deeper than ${deepestGroup}`);
    }
    const parts = [this.#sequence(depth)];
    while (this.#takes("|")) {
      parts.push(this.#sequence(depth));
    }
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : { kind: "choice", parts };
  }

  #sequence(depth: number): PatternNode {
    const parts: PatternNode[] = [];
    while (!this.isAtEnd && this.#next !== "|" && this.#next !== ")") {
      parts.push(this.#quantified(this.#atom(depth)));
    }
    return { kind: "sequence", parts };
  }

  get #next(): string | undefined {
    return this.#chars[this.#at];
  }

  #takes(text: string): boolean {
    const found = [...text].every((char, i) => this.#chars[this.#at + i] === char);
    if (found) {
      this.#at += text.length;
    }
    return found;
  }

  #take(): string {
    const char = this.#chars[this.#at++];
    if (char === undefined) {
      throw unusable("ends too early");
    }
    return char;
  }

  #atom(depth: number): PatternNode {
    const char = this.#take();
    switch (char) {
      case "(":
        return this.#group(depth);
      case "[":
        return { kind: "set", has: this.#class() };
      case ".":
        return { kind: "set", has: (code) => code !== 0x0a && code !== 0x0d && code !== 0x2028 && code !== 0x2029 };
      case "^":
        return { kind: "start" };
      case "$":
        return { kind: "end" };
      case "\\":
        return this.#escapedAtom();
      case "*":
      case "+":
      case "?":
        throw unusable("repeats nothing");
      default:
        return characterNode(char);
    }
  }

  #group(depth: number): PatternNode {
    if (this.#takes("?") && !this.#takes(":")) {
      const isNamed = this.#takes("<") && this.#next !== "=" && this.#next !== "!";
      if (!isNamed) {
        throw unusable("looks around, which takes unbounded time");
      }
      while (this.#take() !== ">") {
        // the name says nothing of what matches
      }
    }
    const inner = this.alternation(depth - 1);
    if (!this.#takes(")")) {
      throw unusable("leaves a group open");
    }
    return inner;
  }

  #quantified(part: PatternNode): PatternNode {
    const bounds = this.#bounds();
    if (bounds === null) {
      return part;
    }
    this.#takes("?"); // lazy or not, the same texts match
    return { kind: "repeat", part, ...bounds };
  }

  #bounds(): { readonly min: number; readonly max: number } | null {
    if (this.#takes("*")) {
      return { min: 0, max: Number.POSITIVE_INFINITY };
    }
    if (this.#takes("+")) {
      return { min: 1, max: Number.POSITIVE_INFINITY };
    }
    if (this.#takes("?")) {
      return { min: 0, max: 1 };
    }
    const counted = this.#next === "{" ? /^\{(\d{1,6})(,(\d{0,6}))?\}/.exec(this.#chars.slice(this.#at, this.#at + 16).join("")) : null;
    if (counted === null) {
      return null;
    }
    this.#at += counted[0].length;
    const min = Number(counted[1]);
    const max = counted[2] === undefined ? min : counted[3] === "" ? Number.POSITIVE_INFINITY : Number(counted[3]);
    return { min, max };
  }

  #escapedAtom(): PatternNode {
    const char = this.#take();
    if (char === "b") {
      return { kind: "boundary" };
    }
    if (char === "B") {
      return { kind: "inside" };
    }
    if (/[1-9k]/.test(char)) {
      throw unusable("refers back to a group, which takes unbounded time");
    }
    return { kind: "set", has: this.#namedSet(char) ?? oneOf(this.#escapedCode(char)) };
  }

  /** `\d` and its like; null for a single character. */
  #namedSet(char: string): CharacterTest | null {
    const known = namedSets[char.toLowerCase()];
    if (known !== undefined && /[dws]/i.test(char)) {
      return char === char.toLowerCase() ? known : not(known);
    }
    return char === "p" || char === "P" ? this.#property(char) : null;
  }

  #property(char: string): CharacterTest {
    let name = "";
    if (this.#takes("{")) {
      for (let next = this.#take(); next !== "}"; next = this.#take()) {
        name += next;
      }
    }
    if (!/^[A-Za-z_]{1,40}(?:=[A-Za-z_]{1,40})?$/.test(name)) {
      throw unusable("names a property of characters that there is not");
    }
    const single = unicodeProperty(`\\${char}{${name}}`);
    return (code) => single.test(String.fromCodePoint(code));
  }

  #escapedCode(char: string): number {
    switch (char) {
      case "c":
        return (this.#take().codePointAt(0) ?? 0) & 0x1f;
      case "x":
        return this.#hex(2);
      case "u":
        return this.#takes("{") ? this.#hexUntilBrace() : this.#surrogates(this.#hex(4));
      default:
        return (controls[char] ?? char).codePointAt(0) as number; // one character
    }
  }

  #surrogates(high: number): number {
    const isPair = high >= 0xd800 && high < 0xdc00 && this.#chars[this.#at] === "\\" && this.#chars[this.#at + 1] === "u";
    if (!isPair) {
      return high;
    }
    this.#at += 2;
    return (high - 0xd800) * 0x400 + (this.#hex(4) - 0xdc00) + 0x10000;
  }

  #hex(digits: number): number {
    let text = "";
    for (let i = 0; i < digits; i++) {
      text += this.#take();
    }
    return hexNumber(text);
  }

  #hexUntilBrace(): number {
    let text = "";
    for (let char = this.#take(); char !== "}"; char = this.#take()) {
      text += char;
    }
    return hexNumber(text);
  }

  #class(): CharacterTest {
    const isNegated = this.#takes("^");
    const tests: CharacterTest[] = [];
    while (!this.#takes("]")) {
      tests.push(this.#classPart());
    }
    const has: CharacterTest = (code) => tests.some((test) => test(code));
    return remembered(isNegated ? not(has) : has);
  }

  #classPart(): CharacterTest {
    const from = this.#classCharacter();
    if (typeof from === "function" || this.#next !== "-" || this.#chars[this.#at + 1] === "]") {
      return typeof from === "function" ? from : oneOf(from);
    }
    this.#take();
    const to = this.#classCharacter();
    if (typeof to === "function") {
      return (code) => code === from || code === 0x2d || to(code); // no range: three things beside each other
    }
    if (to < from) {
      throw unusable("has a range that ends before it begins");
    }
    return (code) => code >= from && code <= to;
  }

  #classCharacter(): number | CharacterTest {
    const char = this.#take();
    if (char !== "\\") {
      return char.codePointAt(0) as number; // one character
    }
    const escaped = this.#take();
    return escaped === "b" ? 0x08 : (this.#namedSet(escaped) ?? this.#escapedCode(escaped));
  }
}

function characterNode(char: string): PatternNode {
  return { kind: "set", has: oneOf(char.codePointAt(0) as number) }; // one character
}

function oneOf(wanted: number): CharacterTest {
  return (code) => code === wanted;
}

function not(test: CharacterTest): CharacterTest {
  return (code) => !test(code);
}

/** The answers for ASCII, told in advance: a class may have hundreds of parts. */
function remembered(test: CharacterTest): CharacterTest {
  const ascii = Array.from({ length: 128 }, (_, code) => test(code));
  return (code) => (code < 128 ? (ascii[code] as boolean) : test(code));
}

function unicodeProperty(source: string): RegExp {
  try {
    return new RegExp(`^${source}$`, "u"); // one character against one set: nothing to go back on
  } catch {
    throw unusable("names a property of characters that there is not");
  }
}

function hexNumber(text: string): number {
  const value = /^[0-9a-fA-F]{1,6}$/.test(text) ? Number.parseInt(text, 16) : Number.NaN;
  if (!(value <= 0x10ffff)) {
    throw unusable("has an escape that is none");
  }
  return value;
}

const controls: Readonly<Record<string, string>> = { __proto__: null as never, t: "\t", n: "\n", r: "\r", v: "\v", f: "\f", "0": "\0" };

const namedSets: Readonly<Record<string, CharacterTest>> = {
  d: (code) => code >= 0x30 && code <= 0x39,
  w: isWordCharacter,
  s: remembered((code) => /\s/u.test(String.fromCodePoint(code))),
};

/** What `\w` has: letters, digits and the underscore of ASCII. */
export function isWordCharacter(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || code === 0x5f || (code >= 0x61 && code <= 0x7a);
}
