import type { RecordCursor } from "../../record.ts";

/** How many bytes at the start of a message say which schema it has: of a key and of a value. */
export interface HeadBytes {
  readonly key: number;
  readonly value: number;
}

const openingBrace = 0x7b;
const closingBrace = 0x7d;
const comma = 0x2c;

/** How many bytes at each end of a text are searched for the name of the table. */
const searchedBytes = 512;
const maxNameBytes = 64;

/**
 * A number that is the same for most records of one table, and another one for most records of other tables. It is a guess, made of a few bytes:
 * the schema id, or the name of the table in JSON text. 0 if there is nothing to guess from.
 */
export function tableMarkOf(cursor: RecordCursor, headBytes: HeadBytes): number {
  const { keyBytes, keyStart, keyEnd, valueBytes, valueStart, valueEnd } = cursor;
  if (valueBytes !== null) {
    return markIn(valueBytes, valueStart, valueEnd, headBytes.value, tableMember);
  }
  return keyBytes === null ? 0 : ~markIn(keyBytes, keyStart, keyEnd, headBytes.key, schemaName); // a tombstone has a fast path of its own
}

function markIn(bytes: Uint8Array, start: number, end: number, headBytes: number, member: BackwardSearch): number {
  if (start === end || bytes[start] !== openingBrace) {
    return headBytes === 0 ? 0 : hash(bytes, start, Math.min(start + headBytes, end));
  }
  const tail = Math.max(start, end - searchedBytes);
  let nameStart = member.lastEnd(bytes, tail, end);
  if (nameStart === -1) {
    nameStart = member.lastEnd(bytes, start, Math.min(tail, start + searchedBytes));
  }
  return nameStart === -1 ? 0 : hash(bytes, nameStart, nameEnd(bytes, nameStart, end));
}

function hash(bytes: Uint8Array, start: number, end: number): number {
  let hashed = 0x811c9dc5 | 0;
  for (let p = start; p < end; p++) {
    hashed = Math.imul(hashed ^ bytes[p]!, 0x01000193);
  }
  return hashed;
}

function nameEnd(bytes: Uint8Array, start: number, end: number): number {
  const limit = Math.min(end, start + maxNameBytes);
  let p = start;
  while (p < limit && bytes[p] !== comma && bytes[p] !== closingBrace) {
    p++;
  }
  return p;
}

/**
 * Finds the last place of a word (Horspool's algorithm, from the end). `Buffer.lastIndexOf` cannot be bound to the bytes of one message. No byte
 * may stand in the word twice.
 */
class BackwardSearch {
  readonly #word: Buffer;
  /** By the byte where the word could begin: how far before that it may begin if it does not begin there. */
  readonly #shifts: Uint8Array;

  constructor(word: string) {
    this.#word = Buffer.from(word);
    this.#shifts = new Uint8Array(256).fill(this.#word.length);
    for (let i = 1; i < this.#word.length; i++) {
      this.#shifts[this.#word[i]!] = i;
    }
  }

  /** The position after the last place of the word from `start` to `end`; -1 if there is none. */
  lastEnd(bytes: Uint8Array, start: number, end: number): number {
    const word = this.#word;
    const shifts = this.#shifts;
    const { length } = word;
    for (let p = end - length; p >= start; p -= shifts[bytes[p]!]!) {
      let i = 0;
      while (i < length && bytes[p + i] === word[i]) {
        i++;
      }
      if (i === length) {
        return p + length;
      }
    }
    return -1;
  }
}

/** What the names of members that hold the name of a table end in: "table" of most envelopes, "__table" of unwrapped rows. */
const tableMember = new BackwardSearch('table":');
/** The member of a Connect schema that names it after its table. */
const schemaName = new BackwardSearch('name":');
