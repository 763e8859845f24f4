import type { Anatomy, Part } from "./anatomy.ts";
import type { Random } from "./random.ts";

/** The names, values, members and items of a JSON text that stands at the end of the bytes. */
export function jsonAnatomy(bytes: Buffer, start: number): Anatomy {
  const scan = new Scan(bytes, start);
  scan.value(0);
  return { parts: scan.parts, edge: jsonEdge, similar: similarJson };
}

const maxParts = 4_000;
const [quote, backslash, comma, colon, openBrace, closeBrace, openBracket, closeBracket] = [...Buffer.from('"\\,:{}[]')] as [
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
];

/** Reads well-formed JSON; what is not ends the list of parts early. */
class Scan {
  readonly parts: Part[] = [];
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: Buffer, start: number) {
    this.#bytes = bytes;
    this.#at = start;
  }

  value(depth: number): boolean {
    this.#space();
    const start = this.#at;
    const first = this.#bytes[start];
    const isComplete = first === openBrace || first === openBracket ? this.#members(depth, first === openBrace) : this.#scalar(first);
    return isComplete && this.#add(start, this.#at, kindOf(first));
  }

  #add(start: number, end: number, kind: string): boolean {
    this.parts.push({ start, end, kind, inside: null, countedBy: null });
    return this.parts.length < maxParts;
  }

  #members(depth: number, isObject: boolean): boolean {
    const close = isObject ? closeBrace : closeBracket;
    this.#at++;
    this.#space();
    if (this.#bytes[this.#at] === close) {
      this.#at++;
      return true;
    }
    while (depth < 100) {
      this.#space();
      const start = this.#at;
      if (!((!isObject || this.#name()) && this.value(depth + 1))) {
        return false;
      }
      this.#space();
      const isLast = this.#bytes[this.#at] !== comma;
      // With the comma behind it, or the one in front of it: what can be taken out, or stand twice.
      const before = this.#bytes[start - 1] === comma ? start - 1 : start;
      this.#add(isLast ? before : start, isLast ? this.#at : this.#at + 1, "member");
      this.#at++;
      if (isLast) {
        return this.#bytes[this.#at - 1] === close;
      }
    }
    return false;
  }

  #name(): boolean {
    const start = this.#at;
    if (!this.#text()) {
      return false;
    }
    this.#add(start, this.#at, "name");
    this.#space();
    return this.#bytes[this.#at++] === colon;
  }

  #text(): boolean {
    if (this.#bytes[this.#at] !== quote) {
      return false;
    }
    for (this.#at++; this.#at < this.#bytes.length; this.#at++) {
      const byte = this.#bytes[this.#at];
      if (byte === quote) {
        this.#at++;
        return true;
      }
      this.#at += byte === backslash ? 1 : 0;
    }
    return false;
  }

  #scalar(first: number | undefined): boolean {
    if (first === quote) {
      return this.#text();
    }
    const start = this.#at;
    while (isOfWord(this.#bytes[this.#at])) {
      this.#at++;
    }
    return this.#at > start;
  }

  #space(): void {
    for (let byte = this.#bytes[this.#at]; byte === 32 || byte === 10 || byte === 13 || byte === 9; byte = this.#bytes[++this.#at]) {}
  }
}

/** Digits, signs, points and letters. */
function isOfWord(byte: number | undefined): boolean {
  return byte !== undefined && byte > 32 && byte !== comma && byte !== closeBrace && byte !== closeBracket && byte !== colon;
}

function kindOf(first: number | undefined): string {
  switch (first) {
    case openBrace:
      return "object";
    case openBracket:
      return "array";
    case quote:
      return "text";
    default:
      return first !== undefined && (first === 0x2d || (first > 0x2f && first < 0x3a)) ? "number" : "word";
  }
}

function jsonEdge({ kind, start, end }: Part, random: Random, bytes: Buffer): Buffer {
  const found = bytes.subarray(start, end);
  switch (kind) {
    case "member":
      return found; // its commas are those of its place
    case "name":
      return Buffer.from(`"${random.pick(names)}"`);
    case "number":
      return Buffer.from(random.chance(0.8) ? otherNumber(random) : random.pick(values));
    case "text":
      return random.chance(0.65) ? otherQuotedLetter(found, random) : Buffer.from(random.pick(values));
    default:
      return random.chance(0.15) ? nested(found, random) : Buffer.from(random.pick(values));
  }
}

/** Text of the same length, and numbers of the same digits but one. */
function similarJson({ kind, start, end }: Part, random: Random, bytes: Buffer): Buffer {
  const found = bytes.subarray(start, end);
  if (kind === "text") {
    return otherQuotedLetter(found, random);
  }
  const changed = Buffer.from(found);
  const last = changed.length - 1;
  if (kind === "number" && last > 0) {
    changed[last] = 0x30 + random.below(10);
  }
  return changed;
}

function otherNumber(random: Random): string {
  const any = (random.below(2 ** 31) - 2 ** 30) * (random.chance(0.2) ? 4_194_301 : 1);
  return random.chance(0.5) ? String(any) : random.pick(numbers);
}

function otherQuotedLetter(found: Buffer, random: Random): Buffer {
  if (found.length < 3) {
    return Buffer.from('"x"');
  }
  const changed = Buffer.from(found);
  changed[1 + random.below(changed.length - 2)] = 0x61 + random.below(26);
  return changed;
}

function nested(found: Buffer, random: Random): Buffer {
  const depth = 1 + random.below(random.chance(0.3) ? 80 : 4);
  const [open, close] = random.chance(0.5) ? ["[", "]"] : ['{"a":', "}"];
  return Buffer.concat([Buffer.from(open.repeat(depth)), found, Buffer.from(close.repeat(depth))]);
}

const names = (
  "__proto__ constructor toString valueOf toJSON then length op payload schema before after source id data old type ts table database __op __deleted __table ddl " +
  "\\u005f\\u005fproto__ \\ud800 a. $date field_\\u0000 specversion schemaId 1 2 0"
).split(" ");
const numbers = (
  "0 -0 1 -1 1.5 1e2 1E-2 1e400 -1e400 1e-400 9007199254740991 9007199254740992 9007199254740993 -9007199254740993 9223372036854775807 " +
  "-9223372036854775808 9223372036854775808 18446744073709551615 18446744073709551616 2147483648 -2147483649 1723115239782690123 01 - 1-2 .5 " +
  "1. 1e 1e+ +1 0x10 99999999999999999999999 1e15 1.0 123456789012345.5 0.1e1 253402300800000 -62135596800001 1e999999999"
).split(" ");
const values = (
  'null true false "" "x" [] {} [1,"2"] [null] [[["1"]]] {"a":{"b":1}} {"__proto__":1} {"a":1,"a":2} {"__proto__":{"polluted":1}} {"toString":1,"valueOf":1} {"toString":1,"valueOf":1} [{"toString":0,"valueOf":0}] "NaN" "Infinity" ' +
  '"__debezium_unavailable_value" "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ==" ["__debezium_unavailable_value"] "MDk=" "A*==" "AA=" "\\u0000" ' +
  '"\\ud800" "\\udc00\\ud800" "\\x" "\\u12" "é" "c" "d" "r" "t" "m" "BEGIN" "END" "INSERT" {"type":"string"} {"$date":1} {"$oid":"x"} "2017-09-15Z" ' +
  '"24:00:00" "infinity" "-1e400" nul TRUE NaN Infinity undefined'
)
  .split(" ")
  .concat(numbers);
