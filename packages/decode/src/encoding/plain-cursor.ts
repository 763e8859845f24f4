import { DecodeError } from "../errors.ts";
import type { ResolvedLimits } from "../options.ts";
import { setProperty } from "../set-property.ts";
import { readWideInteger } from "../values/wide-integer.ts";
import { readText } from "./utf8-text.ts";

/** What values cost, in about nanoseconds. A message may cost `limits.maxCostPerByte` for each of its bytes. */
const itemCost = 14;
const entryCost = 100;
/** The cost of a name if the message has had `maxNames` other names before. */
const furtherNameCost = 5_000;
const maxNames = 256;
const arrayCost = 150;
const objectCost = 160;
const mapCost = 400;
const bufferCost = 450;
const bigintCost = 80;
/** The cost of a chunk of a string of indefinite length. */
const chunkCost = 90;
/** The cost of making text of an instant, a decimal or a wide integer. */
const convertedCost = 500;
const digitCost = 25;

const noBytes = Buffer.alloc(0); // shared: an empty Buffer has no bytes that a caller could change
const minMeteredBytes = 1_048_576;
const highWord = 4_294_967_296;

/**
 * The position of a reader of a binary encoding without schemas. All limits on what bytes can make the reader do are enforced here, so that
 * the readers only interpret bytes.
 */
export class PlainCursor {
  readonly bytes: Buffer;
  readonly end: number;
  position: number;
  readonly #encoding: string;
  readonly #start: number;
  readonly #limits: ResolvedLimits;
  readonly #names = new Set<string>();
  #depth: number;
  #budget: number;
  /** For how many more items lists may be allocated before the items are read: one for each byte of the message, over all lists. */
  #places: number;

  constructor(encoding: string, bytes: Buffer, start: number, end: number, limits: ResolvedLimits) {
    this.bytes = bytes;
    this.end = end;
    this.position = start;
    this.#encoding = encoding;
    this.#start = start;
    this.#limits = limits;
    this.#depth = limits.maxDepth;
    this.#places = end - start;
    this.#budget = limits.maxCostPerByte * Math.max(end - start, minMeteredBytes);
  }

  /** Moves over this many bytes, and returns their start. */
  take(length: number): number {
    const { position } = this;
    if (length > this.end - position) {
      throw new DecodeError(
        "truncated",
        `expected ${length} more bytes of a ${this.#encoding} value at byte ${position - this.#start}, found ${this.end - position}; check whether the message was cut`,
      );
    }
    this.position = position + length;
    return position;
  }

  uint8(): number {
    const { position } = this;
    if (position >= this.end) {
      this.take(1); // throws: there is no byte left
    }
    this.position = position + 1;
    return this.bytes[position] as number; // position < end
  }

  uint16(): number {
    return this.bytes.readUInt16BE(this.take(2));
  }

  uint32(): number {
    return this.bytes.readUInt32BE(this.take(4));
  }

  /** The result is a number if a double holds it exactly, otherwise a bigint. */
  uint64(): number | bigint {
    return this.#wide(this.uint32(), this.uint32());
  }

  int64(): number | bigint {
    return this.#wide(this.bytes.readInt32BE(this.take(4)), this.uint32());
  }

  #wide(high: number, low: number): number | bigint {
    const value = high * highWord + low;
    if (Number.isSafeInteger(value)) {
      return value;
    }
    this.#addCost(bigintCost);
    const integer = readWideInteger(this.bytes, this.position - 8, this.position);
    return high < 0 ? integer : BigInt.asUintN(64, integer);
  }

  text(length: number): string {
    if (length === 0) {
      return "";
    }
    const start = this.take(length);
    return readText(this.bytes, start, start + length);
  }

  /** A copy, because the batch may be overwritten. */
  buffer(length: number): Buffer {
    const start = this.take(length);
    this.#addCost(bufferCost);
    if (length === 0) {
      return noBytes;
    }
    const copy = Buffer.allocUnsafe(length);
    this.bytes.copy(copy, 0, start, start + length);
    return copy;
  }

  /** Checks a count of items that take at least `minBytes` each. */
  checkCount(count: number | bigint, minBytes: number): number {
    if (count > (this.end - this.position) / minBytes) {
      throw new DecodeError(
        "truncated",
        `expected a ${this.#encoding} value of ${count} items at byte ${this.position - this.#start}, found fewer bytes than those take`,
      );
    }
    return Number(count); // at most the number of bytes left
  }

  /** Enters a nested value; {@link leave} leaves it. */
  enter(): void {
    if (this.#depth <= 0) {
      throw new DecodeError(
        "limit-exceeded",
        `expected values nested at most ${this.#limits.maxDepth} deep, found deeper ones; raise limits.maxDepth if they are valid`,
      );
    }
    this.#depth--;
  }

  leave(): void {
    this.#depth++;
  }

  /**
   * Reads a list of this many items. The sender chooses the count, even if it passed `checkCount`: nested lists could each announce as many
   * items as bytes are left. So lists are allocated for at most as many items as the message has bytes; after that they grow.
   */
  list(count: number, read: ReadValue): unknown[] {
    this.enter();
    this.#addCost(arrayCost + count * itemCost);
    const hasRoom = count <= this.#places;
    this.#places -= hasRoom ? count : 0;
    const items: unknown[] = hasRoom ? new Array<unknown>(count) : [];
    for (let i = 0; i < count; i++) {
      items[i] = read(this);
    }
    this.leave();
    return items;
  }

  /** Reads items until `isEnd`. */
  listUntil(isEnd: IsEnd, read: ReadValue): unknown[] {
    this.enter();
    this.#addCost(arrayCost);
    const items: unknown[] = [];
    while (!isEnd(this)) {
      this.#addCost(itemCost);
      items.push(read(this));
    }
    this.leave();
    return items;
  }

  /** Gives the chunks of one string to `take` until `isEnd`. */
  chunksUntil(isEnd: IsEnd, take: (cursor: PlainCursor) => void): void {
    while (!isEnd(this)) {
      this.#addCost(chunkCost);
      take(this);
    }
  }

  /** Reads this many entries into an object, or into a `Map` if a key is no text. A repeated key keeps its last value. */
  entries(count: number, read: ReadValue): Entries {
    this.enter();
    this.#addCost(objectCost + count * entryCost);
    let entries: Entries = {};
    for (let i = 0; i < count; i++) {
      entries = this.#entry(entries, read);
    }
    this.leave();
    return entries;
  }

  /** Reads entries until `isEnd`. */
  entriesUntil(isEnd: IsEnd, read: ReadValue): Entries {
    this.enter();
    this.#addCost(objectCost);
    let entries: Entries = {};
    while (!isEnd(this)) {
      this.#addCost(entryCost);
      entries = this.#entry(entries, read);
    }
    this.leave();
    return entries;
  }

  /** Adds one entry. Returns the object or `Map` that holds all entries now. */
  #entry(entries: Entries, read: ReadValue): Entries {
    const key = read(this);
    if (entries instanceof Map) {
      entries.set(key, read(this));
      return entries;
    }
    if (typeof key === "string") {
      this.#addNameCost(key);
      setProperty(entries, key, read(this));
      return entries;
    }
    const map = this.#mapOf(entries);
    map.set(key, read(this));
    return map;
  }

  /** Rows repeat their names. New names are expensive: the runtime interns each one, and keeps a hidden class for each order of names. */
  #addNameCost(name: string): void {
    if (!this.#names.has(name)) {
      if (this.#names.size < maxNames) {
        this.#names.add(name);
      } else {
        this.#addCost(furtherNameCost);
      }
    }
  }

  #mapOf(object: Record<string, unknown>): Map<unknown, unknown> {
    this.#addCost(mapCost);
    return new Map<unknown, unknown>(Object.entries(object));
  }

  /** Adds the cost of a value that is computed from bytes. `digits` are those beyond what the bytes pay for. */
  convert(digits = 0): void {
    this.#addCost(convertedCost + digits * digitCost);
  }

  #addCost(cost: number): void {
    this.#budget -= cost;
    if (this.#budget < 0) {
      throw new DecodeError(
        "limit-exceeded",
        `expected a ${this.#encoding} message whose values cost at most ${this.#limits.maxCostPerByte} ns for each of its bytes, found a higher cost: too many values that are (almost) empty; raise limits.maxCostPerByte if the message is valid`,
      );
    }
  }

  malformed(found: string): DecodeError {
    return new DecodeError("malformed", `expected ${this.#encoding}, found ${found} before byte ${this.position - this.#start}`);
  }

  invalid(expected: string): DecodeError {
    return new DecodeError(
      "value-invalid",
      `expected ${expected} before byte ${this.position - this.#start} of the ${this.#encoding} message, found another value`,
    );
  }

  expectEnd(): void {
    if (this.position < this.end) {
      throw new DecodeError(
        "trailing-bytes",
        `expected the ${this.#encoding} value to end the message, found ${this.end - this.position} more bytes after byte ${this.position - this.#start}`,
      );
    }
  }
}

type Entries = Record<string, unknown> | Map<unknown, unknown>;

/** Reads one value of an encoding. */
export type ReadValue = (cursor: PlainCursor) => unknown;
/** Whether a list, map or string of indefinite length ends here. If it does, its end mark is taken. */
export type IsEnd = (cursor: PlainCursor) => boolean;
