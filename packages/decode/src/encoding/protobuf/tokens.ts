import { invalidProto } from "./file.ts";

/**
 * A word (a name, with or without dots), a number, the content of a string with one character for each byte, a sign, or the end of the
 * text.
 */
export interface Token {
  readonly kind: "word" | "number" | "text" | "sign" | "end";
  readonly text: string;
}

const space = /\s+/y;
const lineComment = /\/\/[^\n]*/y;
const word = /\.?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*/y;
const number = /\.?\d(?:[eE][+-]?|[\w.])*/y;
const doubleQuoted = /"((?:[^"\\\n]|\\[^\n])*)"/y;
const singleQuoted = /'((?:[^'\\\n]|\\[^\n])*)'/y;
const blank = 0x20;
const quote = 0x22;
const apostrophe = 0x27;
const dot = 0x2e;
const slash = 0x2f;
const firstBeyondAscii = 0x80;
const endToken: Token = { kind: "end", text: "" };

/** Splits a `.proto` text into tokens. */
export class Tokens {
  readonly #text: string;
  #position = 0;
  #next: Token | null = null;

  constructor(text: string) {
    this.#text = text;
  }

  /** The next token, without taking it. */
  peek(): Token {
    this.#next ??= this.#read();
    return this.#next;
  }

  next(): Token {
    const token = this.peek();
    this.#next = null;
    return token;
  }

  /** Takes the next token if it is this word or sign. */
  accept(text: string): boolean {
    const { kind, text: found } = this.peek();
    const isIt = found === text && (kind === "word" || kind === "sign");
    if (isIt) {
      this.#next = null;
    }
    return isIt;
  }

  expect(text: string): void {
    if (!this.accept(text)) {
      throw this.unexpected(`"${text}"`);
    }
  }

  take(kind: "word" | "number" | "text"): string {
    if (this.peek().kind !== kind) {
      throw this.unexpected(kind === "word" ? "a name" : kind === "number" ? "a number" : "a string");
    }
    return this.next().text;
  }

  /** Takes a name of parts joined by dots. Blanks, line ends and comments may stand around each dot, as protoc allows. */
  takePath(): string {
    let path = this.accept(".") ? "." : "";
    path += this.take("word");
    for (;;) {
      if (this.accept(".")) {
        path += `.${this.take("word")}`;
      } else if (this.peek().kind === "word" && this.peek().text.startsWith(".")) {
        path += this.next().text;
      } else {
        return path;
      }
    }
  }

  /** The error for a token that cannot stand here. */
  unexpected(expected: string): Error {
    const line = this.#text.slice(0, this.#position).split("\n").length;
    const { kind, text } = this.peek();
    const found = kind === "end" ? "the end" : kind === "text" ? "a string" : `"${text.slice(0, 40)}"`;
    return invalidProto(`line ${line}: expected ${expected}, found ${found}`);
  }

  #read(): Token {
    this.#skipBlanks();
    if (this.#position >= this.#text.length) {
      return endToken;
    }
    const code = this.#text.charCodeAt(this.#position);
    if (code === dot || isWordStart(code)) {
      const name = this.#match(word);
      if (name !== null) {
        return { kind: "word", text: name };
      }
    }
    if (code === dot || isDigit(code)) {
      const digits = this.#match(number);
      if (digits !== null) {
        return { kind: "number", text: digits };
      }
    }
    if (code === quote && this.#match(doubleQuoted) !== null) {
      return { kind: "text", text: this.#restOfText() };
    }
    if (code === apostrophe && this.#match(singleQuoted) !== null) {
      return { kind: "text", text: this.#restOfText() };
    }
    return { kind: "sign", text: this.#text[this.#position++] ?? "" };
  }

  #lastGroup = "";

  /** Strings side by side are one string. */
  #restOfText(): string {
    const parts = [unescapeText(this.#lastGroup)];
    for (;;) {
      this.#skipBlanks();
      if (this.#match(doubleQuoted) === null && this.#match(singleQuoted) === null) {
        return parts.join("");
      }
      parts.push(unescapeText(this.#lastGroup));
    }
  }

  #skipBlanks(): void {
    const code = this.#text.charCodeAt(this.#position);
    if (code > blank && code !== slash && code < firstBeyondAscii) {
      return; // the most frequent case
    }
    while (this.#match(space) !== null || this.#match(lineComment) !== null || this.#skipBlockComment()) {
      // each call skips one run of blanks, or one comment
    }
  }

  #skipBlockComment(): boolean {
    if (!this.#text.startsWith("/*", this.#position)) {
      return false;
    }
    const end = this.#text.indexOf("*/", this.#position + 2);
    if (end < 0) {
      throw invalidProto("expected the end of a comment, found the end of the text");
    }
    this.#position = end + 2;
    return true;
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.#position;
    const found = pattern.exec(this.#text);
    if (found === null) {
      return null;
    }
    this.#position = pattern.lastIndex;
    this.#lastGroup = found[1] ?? "";
    return found[0];
  }
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function isWordStart(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || code === 0x5f;
}

const escapes = /\\(?:[xX]([0-9a-fA-F]{1,2})|([0-7]{1,3})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([\s\S]))/g;
const named: ReadonlyMap<string, string> = new Map([
  ["a", "\x07"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ["v", "\v"],
]);

/** Resolves C's escapes in a string. The result has one character for each byte; characters outside of ASCII become their UTF-8. */
export function unescapeText(text: string): string {
  const bytes = Buffer.from(text, "utf8").toString("latin1");
  return bytes.replace(escapes, (_, hex?: string, octal?: string, short?: string, long?: string, single?: string) => {
    if (hex !== undefined || octal !== undefined) {
      return String.fromCharCode((hex === undefined ? Number.parseInt(octal ?? "", 8) : Number.parseInt(hex, 16)) & 0xff);
    }
    const point = short ?? long;
    if (point === undefined) {
      return named.get(single ?? "") ?? single ?? "";
    }
    const code = Number.parseInt(point, 16);
    return code > 0x10_ffff ? "" : Buffer.from(String.fromCodePoint(code), "utf8").toString("latin1");
  });
}

/** Decodes UTF-8 whose bytes are the characters of this string. */
export function textOfBytes(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString("utf8");
}
