import { DecodeError } from "../errors.ts";
import type { ResolvedLimits } from "../options.ts";
import { setProperty } from "../set-property.ts";
import { createWideIntegerReader } from "../values/wide-integer.ts";
import { readText, TextCache } from "./text-cache.ts";

/** Deepest nesting, longest message and so on are a decoder's; so are the texts that its readers remember. */
const textsOf = new WeakMap<ResolvedLimits, TextCache>();

/** What values cost, in nanoseconds or so: what a message may spend is `limits.maxCostPerByte` for each of its bytes. */
const itemCost = 14;
const entryCost = 100;
/** A name beyond those that one message's rows have. */
const furtherNameCost = 5_000;
const maxNames = 256;
const arrayCost = 150;
const objectCost = 160;
const mapCost = 400;
const bufferCost = 450;
const bigintCost = 80;
/** A string's part that states its own length. */
const chunkCost = 90;
/** Making text of an instant, a decimal or a wide integer. */
const convertedCost = 500;
const digitCost = 25;

const noBytes = Buffer.alloc(0); // one for all: there is nothing in it to change
const minMeteredBytes = 1_048_576;
const highWord = 4_294_967_296;
const readWideInteger: ReturnType<typeof createWideIntegerReader> = createWideIntegerReader();

/**
 * Where a reader of a binary encoding without schema stands: all that its bytes can ask for is bounded here, so that readers say what
 * their bytes mean and nothing else.
 */
export class PlainCursor {
  readonly bytes: Buffer;
  readonly end: number;
  position: number;
  readonly #encoding: string;
  readonly #start: number;
  readonly #limits: ResolvedLimits;
  readonly #texts: TextCache;
  readonly #names = new Set<string>();
  #depth: number;
  #budget: number;
  /** Items for which room may be made before they are read: one for each byte, however many lists state them. */
  #places: number;

  constructor(encoding: string, bytes: Buffer, start: number, end: number, limits: ResolvedLimits) {
    this.bytes = bytes;
    this.end = end;
    this.position = start;
    this.#encoding = encoding;
    this.#start = start;
    this.#limits = limits;
    this.#texts = textsFor(limits);
    this.#depth = limits.maxDepth;
    this.#places = end - start;
    this.#budget = limits.maxCostPerByte * Math.max(end - start, minMeteredBytes);
  }

  /** Moves over that many bytes, and returns where they begin. */
  take(length: number): number {
    const { position } = this;
    if (length > this.end - position) {
      throw new DecodeError(
        "truncated",
        `expected ${length} more bytes of a ${this.#encoding} value at byte ${position - this.#start}, found ${this.end - position}; was the message cut?`,
      );
    }
    this.position = position + length;
    return position;
  }

  uint8(): number {
    const { position } = this;
    if (position >= this.end) {
      this.take(1); // the error of it
    }
    this.position = position + 1;
    return this.bytes[position] as number; // it is inside
  }

  uint16(): number {
    return this.bytes.readUInt16BE(this.take(2));
  }

  uint32(): number {
    return this.bytes.readUInt32BE(this.take(4));
  }

  /** Exact: a bigint where a double cannot hold it. */
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
    return readText(this.#texts, this.bytes, start, start + length);
  }

  /** A copy: the batch may be overwritten. */
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

  /** A count of items that take at least so many bytes each. */
  checkCount(count: number | bigint, minBytes: number): number {
    if (count > (this.end - this.position) / minBytes) {
      throw new DecodeError(
        "truncated",
        `expected a ${this.#encoding} value of ${count} items at byte ${this.position - this.#start}, found fewer bytes than those take`,
      );
    }
    return Number(count); // bounded by a number
  }

  /** What is nested in the value at hand; {@link leave} ends it. */
  enter(): void {
    if (this.#depth <= 0) {
      throw new DecodeError("limit-exceeded", `expected values nested no deeper than limits.maxDepth, found them deeper`);
    }
    this.#depth--;
  }

  leave(): void {
    this.#depth++;
  }

  /** That many items. A count that was checked is still the sender's: room is made for as many items as there are bytes, over all lists. */
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

  /** The items before `isEnd`. */
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

  /** The parts of one string before `isEnd`, each given to `take`. */
  chunksUntil(isEnd: IsEnd, take: (cursor: PlainCursor) => void): void {
    while (!isEnd(this)) {
      this.#addCost(chunkCost);
      take(this);
    }
  }

  /** An object of that many entries, or a `Map` where a key is no text; a key that stands twice has its last value. */
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

  /** The same for the entries before `isEnd`. */
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

  /** Adds one entry, and returns what holds all of them from now on. */
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

  /** Rows repeat their names. The runtime remembers each name, and each order of them that objects have, at a price. */
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

  /** Meters a value that is made of bytes by some computation, and its digits where they are more than the bytes say. */
  convert(digits = 0): void {
    this.#addCost(convertedCost + digits * digitCost);
  }

  #addCost(cost: number): void {
    this.#budget -= cost;
    if (this.#budget < 0) {
      throw new DecodeError(
        "limit-exceeded",
        `the values of the message cost more than ${this.#limits.maxCostPerByte} ns for each of its bytes: more of next to no bytes than any message should hold; raise limits.maxCostPerByte if this one may`,
      );
    }
  }

  malformed(found: string): DecodeError {
    return new DecodeError("malformed", `expected ${this.#encoding}, found ${found} before byte ${this.position - this.#start}`);
  }

  invalid(expected: string): DecodeError {
    return new DecodeError(
      "value-invalid",
      `expected ${expected} before byte ${this.position - this.#start} of the ${this.#encoding} message`,
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
/** Whether what is open ends here; what says so is taken then. */
export type IsEnd = (cursor: PlainCursor) => boolean;

function textsFor(limits: ResolvedLimits): TextCache {
  let texts = textsOf.get(limits);
  if (texts === undefined) {
    texts = new TextCache();
    textsOf.set(limits, texts);
  }
  return texts;
}
