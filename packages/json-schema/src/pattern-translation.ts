import {
  anyInLine,
  anything,
  characterSource,
  codeOf,
  controls,
  hexNumber,
  isCharacterSource,
  nothing,
  noWhitespace,
  propertyName,
  whitespace,
} from "./character-source.ts";
import { patternInvalid } from "./schema-invalid.ts";

/*
 * Translates the regular expressions of JSON Schema (ECMA-262, section 22.2.1) into RE2, without the parts that only backtracking can match:
 * look-around and back references. The two syntaxes look alike and mean different things: in RE2 `.` matches a carriage return, `\s` has no
 * no-break space, `\12` is a character, `[[:alpha:]]` a class, `(?i)` a flag and `\z` the end of the text. So every character is written as
 * its number, every set as its ranges, and nothing is copied.
 */

/** A pattern in the syntax of re2js. */
export interface TranslatedPattern {
  readonly source: string;
  /** The maximum number of instructions to which it is compiled. */
  readonly instructions: number;
  /** The maximum number of steps back that the runtime's matcher makes for each character; null if the pattern may match in many ways. */
  readonly nativeBacktracking: number | null;
}

const maxPatternChars = 2_000;
const maxInstructions = 5_000;
/** The highest count that RE2 accepts. */
const maxCount = 1_000;

/** Translates a pattern into RE2's syntax. Throws `schema-invalid` if it is no pattern, or cannot be matched in linear time. */
export function translatePattern(pattern: string): TranslatedPattern {
  if (pattern.length > maxPatternChars) {
    throw patternInvalid(`is longer than ${maxPatternChars} characters`);
  }
  if (!isPattern(pattern, "u") && !isPattern(pattern, "")) {
    throw patternInvalid("is no regular expression");
  }
  return new PatternTranslator(pattern).translate();
}

/**
 * Whether the runtime accepts the pattern. JSON Schema uses the flag `u`; older schemas have needless escapes that are valid only without
 * it.
 */
function isPattern(pattern: string, flags: string): boolean {
  try {
    return new RegExp(pattern, flags).flags === flags;
  } catch {
    return false;
  }
}

/** The pattern itself or a group, while it is open. */
interface OpenGroup {
  readonly start: number;
  instructions: number;
}

/** What a quantifier repeats: its start in the source, and its number of instructions. */
interface Atom {
  readonly start: number;
  readonly instructions: number;
}

class PatternTranslator {
  readonly #chars: readonly string[];
  #at = 0;
  #source = "";
  readonly #open: OpenGroup[] = [];
  #group: OpenGroup = { start: 0, instructions: 3 };
  #last: Atom = { start: 0, instructions: 0 };
  // Whether the pattern begins at the start of the text, has only single characters, and repeats at most one of them without a fixed count.
  #isStraight = true;
  #variableRepeats = 0;
  #backtracksAfterRepeat = 0;

  constructor(pattern: string) {
    this.#chars = [...pattern]; // splits into code points
    this.#isStraight = this.#chars[0] === "^";
  }

  translate(): TranslatedPattern {
    while (this.#at < this.#chars.length) {
      this.#part(this.#take());
      if (this.#group.instructions > maxInstructions) {
        throw patternInvalid("repeats more than can be checked within bounds");
      }
    }
    const nativeBacktracking = this.#isStraight && this.#variableRepeats <= 1 ? this.#backtracksAfterRepeat : null;
    return { source: this.#source, instructions: this.#group.instructions, nativeBacktracking };
  }

  /** Translates one part of the pattern. The runtime has checked the syntax before. */
  #part(char: string): void {
    switch (char) {
      case "(":
        return this.#openGroup();
      case ")":
        return this.#closeGroup();
      case "|":
        return this.#operator("|");
      case "^":
        return this.#operator("^", this.#at === 1);
      case "$":
        return this.#operator("$", this.#at === this.#chars.length);
      case "*":
        return this.#repeat(0, Number.POSITIVE_INFINITY);
      case "+":
        return this.#repeat(1, Number.POSITIVE_INFINITY);
      case "?":
        return this.#repeat(0, 1);
      case "{":
        return this.#countedOrBrace();
      case "\\":
        return this.#escape(this.#take());
      default:
        return this.#atom(char === "[" ? this.#class() : char === "." ? anyInLine : characterSource(codeOf(char)));
    }
  }

  get #next(): string | undefined {
    return this.#chars[this.#at];
  }

  #take(): string {
    const char = this.#chars[this.#at++];
    if (char === undefined) {
      throw patternInvalid("ends too early");
    }
    return char;
  }

  #takes(text: string): boolean {
    const found = [...text].every((char, i) => this.#chars[this.#at + i] === char);
    if (found) {
      this.#at += text.length;
    }
    return found;
  }

  #atom(source: string): void {
    this.#last = { start: this.#source.length, instructions: 1 };
    this.#source += source;
    this.#group.instructions++;
    this.#backtracksAfterRepeat += this.#variableRepeats;
  }

  #operator(source: string, isStraight = false): void {
    this.#source += source;
    this.#group.instructions += 2; // an empty alternative is an instruction too
    this.#isStraight &&= isStraight;
  }

  #openGroup(): void {
    if (this.#takes("?") && !this.#takes(":")) {
      if (!this.#takes("<") || this.#next === "=" || this.#next === "!") {
        throw patternInvalid("has a look-around or sets flags, which cannot be matched in linear time");
      }
      while (this.#take() !== ">") {
        // a group's name does not change what matches
      }
    }
    this.#isStraight = false;
    this.#open.push(this.#group);
    this.#group = { start: this.#source.length, instructions: 1 };
    this.#source += "(?:";
  }

  #closeGroup(): void {
    const { start, instructions } = this.#group;
    this.#source += ")";
    this.#group = this.#open.pop() ?? this.#group; // the runtime has checked that groups are balanced
    this.#group.instructions += instructions;
    this.#last = { start, instructions };
  }

  #countedOrBrace(): void {
    const counted = /^(\d+)(,(\d*))?\}/.exec(this.#chars.slice(this.#at, this.#at + 24).join(""));
    if (counted === null) {
      return this.#atom(characterSource(codeOf("{")));
    }
    this.#at += counted[0].length;
    const min = Number(counted[1]);
    this.#repeat(min, counted[2] === undefined ? min : counted[3] === "" ? Number.POSITIVE_INFINITY : Number(counted[3]));
  }

  #repeat(min: number, max: number): void {
    this.#takes("?"); // a lazy quantifier matches the same texts
    const { start, instructions } = this.#last;
    const isBounded = max !== Number.POSITIVE_INFINITY;
    const copies = isBounded ? max : Math.max(min, 1);
    this.#group.instructions += instructions * (copies - 1) + (isBounded ? max - min : 1);
    if (copies > maxInstructions) {
      throw patternInvalid("repeats more than can be checked within bounds");
    }
    this.#source = this.#source.slice(0, start) + repeatedSource(this.#source.slice(start), min, max);
    if (min !== max) {
      this.#variableRepeats++;
    } else {
      this.#backtracksAfterRepeat += this.#variableRepeats * min;
    }
  }

  #escape(char: string): void {
    if (char === "b" || char === "B") {
      return this.#operator(`\\${char}`);
    }
    this.#atom(this.#setSource(char) ?? characterSource(this.#escapedCode(char)));
  }

  /** The source of `\d` and similar escapes, which may stand in a class; null for a single character. */
  #setSource(char: string, isInClass = false): string | null {
    switch (char) {
      case "d":
      case "D":
      case "w":
      case "W":
        return `\\${char}`;
      case "s":
        return isInClass ? whitespace : `[${whitespace}]`;
      case "S":
        return isInClass ? noWhitespace : `[${noWhitespace}]`;
      case "p":
      case "P":
        return `\\${char}{${this.#property()}}`;
      default:
        return null;
    }
  }

  #property(): string {
    const [, name] = /^\{([A-Za-z_=]{1,60})\}/.exec(this.#chars.slice(this.#at, this.#at + 64).join("")) ?? [];
    if (name === undefined || !isPattern(`\\p{${name}}`, "u")) {
      throw patternInvalid("names an unknown property of characters");
    }
    this.#at += name.length + 2;
    return propertyName(name);
  }

  #escapedCode(char: string): number {
    switch (char) {
      case "c":
        return codeOf(this.#take()) & 0x1f;
      case "x":
        return this.#hex(2);
      case "u":
        return this.#takes("{") ? this.#hexUntilBrace() : this.#surrogates(this.#hex(4));
      default:
        if (/[1-9k]/.test(char) || (char === "0" && /\d/.test(this.#next ?? ""))) {
          throw patternInvalid("has a back reference, which cannot be matched in linear time");
        }
        return codeOf(controls.get(char) ?? char);
    }
  }

  /** A surrogate pair of escapes is one character. */
  #surrogates(high: number): number {
    const low = /^\\u([dD][c-fC-F][0-9a-fA-F]{2})/.exec(this.#chars.slice(this.#at, this.#at + 6).join(""))?.[1];
    if (high < 0xd800 || high > 0xdbff || low === undefined) {
      return high;
    }
    this.#at += 6;
    return (high - 0xd800) * 0x400 + (hexNumber(low) - 0xdc00) + 0x10000;
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

  #class(): string {
    const isNegated = this.#takes("^");
    let parts = "";
    while (!this.#takes("]")) {
      parts += this.#classPart();
    }
    return parts === "" ? (isNegated ? anything : nothing) : `[${isNegated ? "^" : ""}${parts}]`;
  }

  #classPart(): string {
    const from = this.#classCharacter();
    if (this.#next !== "-" || this.#chars[this.#at + 1] === "]") {
      return from;
    }
    const isSet = !isCharacterSource(from);
    this.#take();
    const to = this.#classCharacter();
    return isSet || !isCharacterSource(to) ? `${from}${characterSource(0x2d)}${to}` : `${from}-${to}`; // a set cannot begin or end a range, so "-" is a character
  }

  #classCharacter(): string {
    const char = this.#take();
    if (char !== "\\") {
      return characterSource(codeOf(char));
    }
    const escaped = this.#take();
    return escaped === "b" ? characterSource(0x08) : (this.#setSource(escaped, true) ?? characterSource(this.#escapedCode(escaped)));
  }
}

/** Repeats a part. RE2 accepts no count above `maxCount`, so a larger one becomes several counts in sequence. */
function repeatedSource(part: string, min: number, max: number): string {
  let source = "";
  let [minLeft, maxLeft] = [min, max];
  while (minLeft > maxCount) {
    source += `${part}{${maxCount}}`;
    minLeft -= maxCount;
    maxLeft -= maxCount;
  }
  while (maxLeft > maxCount && maxLeft !== Number.POSITIVE_INFINITY) {
    source += `${part}{${minLeft},${maxCount}}`;
    minLeft = 0;
    maxLeft -= maxCount;
  }
  return `${source}${part}{${minLeft},${maxLeft === Number.POSITIVE_INFINITY ? "" : maxLeft}}`;
}
