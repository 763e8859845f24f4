import { randomInt } from "node:crypto";
import { DecodeError } from "../../errors.ts";
import type { ResolvedLimits } from "../../options.ts";
import type { EmbeddedJsonBudget } from "../reader.ts";
import { textRunEnd } from "./text-run.ts";

/** A shorter message has the cost budget of this many bytes. */
const minBytes = 1_048_576;
/** No text with fewer bytes can exceed its budget, so its cost is not counted. */
export const minMeteredBytes = 131_072;

/** What values cost in about nanoseconds, garbage collection included. */
const numberCost = 40;
/** Longer numbers may become a bigint, or are parsed from their text. */
const maxShortNumber = 15;
const longNumberCost = 400;
const textCost = 80;
const escapedTextCost = 600;
/** The cost of a text with characters outside of ASCII. */
const wideTextCost = 200;
const arrayCost = 150;
const objectCost = 400;
const propertyCost = 50;
/**
 * The cost of a name after the first `maxNames` of a message: the runtime interns each one, and keeps a hidden class for each order of
 * names.
 */
const furtherNameCost = 2_200;

/** Names count as different if their first bytes of this number are different. A message cannot have many longer names. */
const hashedNameBytes = 64;

const space = 0x20;
const quote = 0x22;
const comma = 0x2c;
const point = 0x2e;
const colon = 0x3a;
const backslash = 0x5c;

/** The additional costs of a message's values, beyond their text. */
export interface ExtraCost {
  /** For each text and each number. */
  readonly value: number;
  /** For each number with a fraction or an exponent, if its text is kept until a type says what it is. */
  readonly fraction: number;
}

const noExtraCost: ExtraCost = { value: 0, fraction: 0 };

/**
 * Refuses JSON text whose values cost more than its length allows (`limits.maxCostPerByte`), before any of it is read. So the result does
 * not depend on the reader, nor on whether the text can be read at all.
 */
export function checkJsonCost(bytes: Uint8Array, start: number, end: number, limits: ResolvedLimits, extra: ExtraCost = noExtraCost): void {
  const length = end - start;
  if (length < minMeteredBytes) {
    return;
  }
  const budget = limits.maxCostPerByte * Math.max(length, minBytes);
  if (meter.measure(bytes, start, end, budget, extra) > budget) {
    throw tooCostly(meter.counts, limits);
  }
}

/** Counts the JSON texts inside of one message together, because many short texts cost as much as a long one. */
export class EmbeddedJsonCost implements EmbeddedJsonBudget {
  #bytes = 0;
  #cost = 0;

  /** Starts a new message. */
  begin(): void {
    this.#bytes = 0;
    this.#cost = 0;
  }

  check(bytes: Uint8Array, limits: ResolvedLimits): void {
    this.#bytes += bytes.length;
    if (this.#bytes < minMeteredBytes) {
      return;
    }
    const left = limits.maxCostPerByte * Math.max(this.#bytes, minBytes) - this.#cost;
    const cost = meter.measure(bytes, 0, bytes.length, left, noExtraCost);
    this.#cost += cost;
    if (cost > left) {
      throw tooCostly(meter.counts, limits);
    }
  }

  /** Takes another cost of the message, in about nanoseconds, from the same budget. */
  addCost(cost: number, { maxCostPerByte }: ResolvedLimits): void {
    this.#cost += cost;
    if (this.#cost > maxCostPerByte * Math.max(this.#bytes, minBytes)) {
      throw new DecodeError(
        "limit-exceeded",
        `expected a message whose columns have types that cost at most ${maxCostPerByte} ns for each of its bytes, found too many ` +
          "different types; raise limits.maxCostPerByte if the message is valid",
      );
    }
  }
}

function tooCostly(counts: string, { maxCostPerByte }: ResolvedLimits): DecodeError {
  return new DecodeError(
    "limit-exceeded",
    `expected JSON whose values cost at most ${maxCostPerByte} ns for each byte of the message, found a higher cost: ${counts}; raise limits.maxCostPerByte if the message is valid`,
  );
}

/** 1 for each byte that can be part of a number. */
const numberBytes: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => (/[0-9+\-.eE]/.test(String.fromCharCode(byte)) ? 1 : 0));

const noBytes = new Uint8Array(0);

class CostMeter {
  #bytes: Uint8Array = noBytes;
  #end = 0;
  #perValue = 0;
  #perFraction = 0;
  readonly #names = new NameSet();
  #objects = 0;
  #arrays = 0;
  #values = 0;
  #cost = 0;

  /** The counts so far. They help the user to decide whether the message may cost that. */
  get counts(): string {
    const { further } = this.#names;
    const names = further > 0 ? ` and ${further} names beyond the first ${maxNames}` : "";
    return `${this.#objects} objects, ${this.#arrays} lists, ${this.#values} texts and numbers${names} when counting stopped`;
  }

  /** The cost of the text. Counting stops when the cost exceeds `budget`. */
  measure(bytes: Uint8Array, start: number, end: number, budget: number, extra: ExtraCost): number {
    this.#bytes = bytes;
    this.#end = end;
    this.#perValue = extra.value;
    this.#perFraction = extra.fraction;
    this.#names.clear();
    this.#objects = 0;
    this.#arrays = 0;
    this.#values = 0;
    this.#cost = 0;
    let p = start;
    while (p < end && this.#cost <= budget) {
      const byte = bytes[p] as number;
      if (byte === comma || byte === colon) {
        p++;
      } else if (byte === quote) {
        p = this.#text(p + 1);
      } else if (numberBytes[byte] === 1) {
        p = this.#number(p + 1);
      } else {
        this.#other(byte);
        p++;
      }
    }
    this.#bytes = noBytes; // a topic without new messages must not keep its last batch in memory
    return this.#cost;
  }

  #number(first: number): number {
    const bytes = this.#bytes;
    let hasFraction = false;
    let p = first;
    for (; p < this.#end; p++) {
      const byte = bytes[p] as number;
      if (numberBytes[byte] !== 1) {
        break;
      }
      hasFraction ||= byte > 0x39 || byte === point; // above "9" is e or E
    }
    this.#values++;
    const extra = hasFraction ? this.#perValue + this.#perFraction : this.#perValue;
    this.#cost += extra + (p - first < maxShortNumber ? numberCost : longNumberCost);
    return p;
  }

  /** Counts brackets and the words true, false and null. */
  #other(byte: number): void {
    if (byte === 0x7b) {
      this.#objects++;
      this.#cost += objectCost;
    } else if (byte === 0x5b) {
      this.#arrays++;
      this.#cost += arrayCost;
    } else if (byte === 0x74 || byte === 0x6e) {
      this.#cost += numberCost; // true or null; the bytes of "false" pay for it
    }
  }

  /** Counts a name or a text. Returns the position after it and the white space that follows. */
  #text(first: number): number {
    const bytes = this.#bytes;
    const hashEnd = Math.min(this.#end, first + hashedNameBytes);
    let hash = 0;
    let hasEscapes = false;
    let isWide = false;
    let p = first;
    let byte = 0;
    while (p < hashEnd && (byte = bytes[p] as number) !== quote) {
      hash = (Math.imul(hash, hashFactor) + byte) | 0;
      hasEscapes ||= byte === backslash;
      isWide ||= byte > 0x7f;
      p += byte === backslash ? 2 : 1;
    }
    const cost = hasEscapes ? escapedTextCost : isWide ? wideTextCost : textCost;
    const next = spaceEnd(bytes, quoteAt(bytes, p, this.#end) + 1, this.#end);
    if (next < this.#end && bytes[next] === colon) {
      this.#cost += propertyCost + cost - textCost + (this.#names.has(hash) ? 0 : furtherNameCost);
    } else {
      this.#values++;
      this.#cost += this.#perValue + cost;
    }
    return next;
  }
}

/** The position of the quote that ends the text at `p`. */
function quoteAt(bytes: Uint8Array, p: number, end: number): number {
  let close = textRunEnd(bytes, p, end);
  while (close < end && bytes[close] !== quote) {
    close = textRunEnd(bytes, close + (bytes[close] === backslash ? 2 : 1), end); // or a control character
  }
  return close;
}

function spaceEnd(bytes: Uint8Array, p: number, end: number): number {
  while (p < end && (bytes[p] as number) <= space) {
    p++;
  }
  return p;
}

/** An odd random number. A sender who knew it could make up different names with the same hash, which would count as one. */
const hashFactor: number = randomInt(2 ** 20, 2 ** 30) * 2 + 1;
const maxNames = 1_024;
const places = 4_096;

/** The hashes of the names that a message had, at most `maxNames` of them: an open-addressing table in which 0 means an empty place. */
class NameSet {
  readonly #hashes = new Int32Array(places);
  #count = 0;
  further = 0;

  clear(): void {
    if (this.#count > 0) {
      this.#hashes.fill(0);
    }
    this.#count = 0;
    this.further = 0;
  }

  /** Whether the name is known. If there is room, a new name is added and counts as known. */
  has(hash: number): boolean {
    const wanted = hash === 0 ? 1 : hash | 0;
    let place = (wanted ^ (wanted >>> 12)) & (places - 1);
    while (this.#hashes[place] !== 0) {
      if (this.#hashes[place] === wanted) {
        return true;
      }
      place = (place + 1) & (places - 1);
    }
    if (this.#count === maxNames) {
      this.further++;
      return false;
    }
    this.#count++;
    this.#hashes[place] = wanted;
    return true;
  }
}

/** One for all readers. If no instance of the class is alive during a garbage collection, the runtime throws away its optimised code. */
const meter: CostMeter = new CostMeter();
