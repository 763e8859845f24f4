import { randomInt } from "node:crypto";
import { DecodeError } from "../../errors.ts";
import type { ResolvedLimits } from "../../options.ts";
import type { EmbeddedJsonBudget } from "../reader.ts";

/** Where the costs of a message are counted against its length, a short one counts as this long. */
const minBytes = 1_048_576;
/** Text of fewer bytes costs less than a message may, whatever it says: it is not looked at. */
export const minMeteredBytes = 131_072;

/** What values cost, in nanoseconds or so, their garbage counted in. */
const numberCost = 40;
/** A number of more characters may be a bigint, or one that is read by its text. */
const maxShortNumber = 15;
const longNumberCost = 400;
const textCost = 80;
const escapedTextCost = 600;
/** Characters beyond ASCII. */
const wideTextCost = 200;
const arrayCost = 150;
const objectCost = 400;
const propertyCost = 50;
/** A name beyond those that rows have: the runtime remembers each, and each order of them that objects have. */
const furtherNameCost = 2_200;

/** Names are told apart by so many bytes: of longer ones there are not many in a message. */
const hashedNameBytes = 64;

const space = 0x20;
const quote = 0x22;
const comma = 0x2c;
const point = 0x2e;
const colon = 0x3a;
const backslash = 0x5c;

/** What values of a message cost beyond what their text says. */
export interface ExtraCost {
  /** Each text and each number. */
  readonly value: number;
  /** Each number that has a fraction or an exponent, where its text is kept until a type says what it is. */
  readonly fraction: number;
}

const noExtraCost: ExtraCost = { value: 0, fraction: 0 };

/**
 * Refuses JSON text whose values cost more than its length allows (`limits.maxCostPerByte`), before any of it is read: whichever reader
 * is to read it, and whether it can be read at all, the answer is the same.
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

/** Meters the JSON texts inside of one message as if they were one: many that are short cost what a long one does. */
export class EmbeddedJsonCost implements EmbeddedJsonBudget {
  #bytes = 0;
  #cost = 0;

  /** The next texts are another message's. */
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

  /** Takes what something else in the message costs, in nanoseconds or so, from the same budget. */
  addCost(cost: number, { maxCostPerByte }: ResolvedLimits): void {
    this.#cost += cost;
    if (this.#cost > maxCostPerByte * Math.max(this.#bytes, minBytes)) {
      throw new DecodeError(
        "limit-exceeded",
        `expected a message whose columns are of types that cost at most ${maxCostPerByte} ns for each of its bytes, found too many that ` +
          "are all different; raise limits.maxCostPerByte if this message may",
      );
    }
  }
}

function tooCostly(counts: string, { maxCostPerByte }: ResolvedLimits): DecodeError {
  return new DecodeError(
    "limit-exceeded",
    `expected JSON whose values cost at most ${maxCostPerByte} ns for each byte of the message, found more: ${counts}; raise limits.maxCostPerByte if this message may`,
  );
}

/** 1 where a byte can stand in a number. */
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

  /** What was found, for who must decide whether the message may cost that. */
  get counts(): string {
    const { further } = this.#names;
    const names = further > 0 ? ` and ${further} names beyond the first ${maxNames}` : "";
    return `${this.#objects} objects, ${this.#arrays} lists, ${this.#values} texts and numbers${names} when it was given up`;
  }

  /** The cost of all that stands there; of no more than it takes to be above `budget`. */
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
    this.#bytes = noBytes; // what falls silent must not keep its last batch
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
      hasFraction ||= byte > 0x39 || byte === point; // a point or an exponent
    }
    this.#values++;
    const extra = hasFraction ? this.#perValue + this.#perFraction : this.#perValue;
    this.#cost += extra + (p - first < maxShortNumber ? numberCost : longNumberCost);
    return p;
  }

  /** Brackets and the words that JSON has. */
  #other(byte: number): void {
    if (byte === 0x7b) {
      this.#objects++;
      this.#cost += objectCost;
    } else if (byte === 0x5b) {
      this.#arrays++;
      this.#cost += arrayCost;
    } else if (byte === 0x74 || byte === 0x6e) {
      this.#cost += numberCost; // true, null; "false" is long enough
    }
  }

  /** A name or a text, and the space behind it. */
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

/** Where the text that is open at `p` is closed. */
function quoteAt(bytes: Uint8Array, p: number, end: number): number {
  while (p < end) {
    const byte = bytes[p] as number;
    if (byte === quote) {
      return p;
    }
    p += byte === backslash ? 2 : 1;
  }
  return p;
}

function spaceEnd(bytes: Uint8Array, p: number, end: number): number {
  while (p < end && (bytes[p] as number) <= space) {
    p++;
  }
  return p;
}

/** Odd, and not known to a sender, who could else find names that are told to be the same. */
const hashFactor: number = randomInt(2 ** 20, 2 ** 30) * 2 + 1;
const maxNames = 1_024;
const places = 4_096;

/** The names that were met, by their hashes: those that one message's rows have, and not more. */
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

  /** Whether the name is known, or is one of the first ones and known from now on. */
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

/** One for all: the runtime throws away the code that it made for a class when a collection finds none of the class alive. */
const meter: CostMeter = new CostMeter();
