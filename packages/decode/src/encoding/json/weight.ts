import { randomInt } from "node:crypto";
import { DecodeError } from "../../errors.ts";
import type { ResolvedLimits } from "../../options.ts";
import type { InnerTexts } from "../reader.ts";

/** Where the weights of a message are counted against its length, a short one counts as this long. */
const leastBytes = 1_048_576;
/** Text of fewer bytes costs less than a message may, whatever it says: it is not looked at. */
export const leastWeighedBytes = 131_072;

/** What values cost, in nanoseconds or so, their garbage counted in. */
const numberWeight = 40;
/** A number of more characters may be a bigint, or one that is read by its text. */
const mostShortNumber = 15;
const longNumberWeight = 400;
const textWeight = 80;
const escapedTextWeight = 600;
/** Characters beyond ASCII. */
const wideTextWeight = 200;
const arrayWeight = 150;
const objectWeight = 400;
const propertyWeight = 50;
/** A name beyond those that rows have: the runtime remembers each, and each order of them that objects have. */
const furtherNameWeight = 2_200;

/** Names are told apart by so many bytes: of longer ones there are not many in a message. */
const tellingBytes = 64;

const space = 0x20;
const quote = 0x22;
const comma = 0x2c;
const point = 0x2e;
const colon = 0x3a;
const backslash = 0x5c;

/** What values of a message weigh beyond what their text says. */
export interface ExtraWeight {
  /** Each text and each number. */
  readonly value: number;
  /** Each number that has a fraction or an exponent, where its text is kept until a type says what it is. */
  readonly fraction: number;
}

const noExtraWeight: ExtraWeight = { value: 0, fraction: 0 };

/**
 * Refuses JSON text whose values cost more than its length allows (`limits.maxWeightPerByte`), before any of it is read: whichever reader
 * is to read it, and whether it can be read at all, the answer is the same.
 */
export function checkJsonWeight(
  bytes: Uint8Array,
  start: number,
  end: number,
  limits: ResolvedLimits,
  extra: ExtraWeight = noExtraWeight,
): void {
  const length = end - start;
  if (length < leastWeighedBytes) {
    return;
  }
  const most = limits.maxWeightPerByte * Math.max(length, leastBytes);
  if (scale.weigh(bytes, start, end, most, extra) > most) {
    throw tooHeavy(scale.counts, limits);
  }
}

/** Weighs the JSON texts inside of one message as if they were one: many that are short cost what a long one does. */
export class TextsWeight implements InnerTexts {
  #bytes = 0;
  #weight = 0;

  /** The next texts are another message's. */
  begin(): void {
    this.#bytes = 0;
    this.#weight = 0;
  }

  check(bytes: Uint8Array, limits: ResolvedLimits): void {
    this.#bytes += bytes.length;
    if (this.#bytes < leastWeighedBytes) {
      return;
    }
    const left = limits.maxWeightPerByte * Math.max(this.#bytes, leastBytes) - this.#weight;
    const weight = scale.weigh(bytes, 0, bytes.length, left, noExtraWeight);
    this.#weight += weight;
    if (weight > left) {
      throw tooHeavy(scale.counts, limits);
    }
  }

  /** Takes what something else in the message costs, in nanoseconds or so, from the same allowance. */
  spend(weight: number, { maxWeightPerByte }: ResolvedLimits): void {
    this.#weight += weight;
    if (this.#weight > maxWeightPerByte * Math.max(this.#bytes, leastBytes)) {
      throw new DecodeError(
        "limit-exceeded",
        `expected a message whose columns are of types that cost at most ${maxWeightPerByte} ns for each of its bytes, found too many that ` +
          "are all different; raise limits.maxWeightPerByte if this message may",
      );
    }
  }
}

function tooHeavy(counts: string, { maxWeightPerByte }: ResolvedLimits): DecodeError {
  return new DecodeError(
    "limit-exceeded",
    `expected JSON whose values cost at most ${maxWeightPerByte} ns for each byte of the message, found more: ${counts}; raise limits.maxWeightPerByte if this message may`,
  );
}

/** 1 where a byte can stand in a number. */
const numberBytes: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => (/[0-9+\-.eE]/.test(String.fromCharCode(byte)) ? 1 : 0));

const noBytes = new Uint8Array(0);

class Scale {
  #bytes: Uint8Array = noBytes;
  #end = 0;
  #perValue = 0;
  #perFraction = 0;
  readonly #names = new NameSet();
  #objects = 0;
  #arrays = 0;
  #values = 0;
  #weight = 0;

  /** What was found, for who must decide whether the message may cost that. */
  get counts(): string {
    const { further } = this.#names;
    const names = further > 0 ? ` and ${further} names beyond the first ${mostNames}` : "";
    return `${this.#objects} objects, ${this.#arrays} lists, ${this.#values} texts and numbers${names} when it was given up`;
  }

  /** The weight of all that stands there; of no more than it takes to be above `most`. */
  weigh(bytes: Uint8Array, start: number, end: number, most: number, extra: ExtraWeight): number {
    this.#bytes = bytes;
    this.#end = end;
    this.#perValue = extra.value;
    this.#perFraction = extra.fraction;
    this.#names.clear();
    this.#objects = 0;
    this.#arrays = 0;
    this.#values = 0;
    this.#weight = 0;
    let p = start;
    while (p < end && this.#weight <= most) {
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
    return this.#weight;
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
    this.#weight += extra + (p - first < mostShortNumber ? numberWeight : longNumberWeight);
    return p;
  }

  /** Brackets and the words that JSON has. */
  #other(byte: number): void {
    if (byte === 0x7b) {
      this.#objects++;
      this.#weight += objectWeight;
    } else if (byte === 0x5b) {
      this.#arrays++;
      this.#weight += arrayWeight;
    } else if (byte === 0x74 || byte === 0x6e) {
      this.#weight += numberWeight; // true, null; "false" is long enough
    }
  }

  /** A name or a text, and the space behind it. */
  #text(first: number): number {
    const bytes = this.#bytes;
    const telling = Math.min(this.#end, first + tellingBytes);
    let hash = 0;
    let hasEscapes = false;
    let isWide = false;
    let p = first;
    let byte = 0;
    while (p < telling && (byte = bytes[p] as number) !== quote) {
      hash = (Math.imul(hash, hashFactor) + byte) | 0;
      hasEscapes ||= byte === backslash;
      isWide ||= byte > 0x7f;
      p += byte === backslash ? 2 : 1;
    }
    const weight = hasEscapes ? escapedTextWeight : isWide ? wideTextWeight : textWeight;
    const next = spaceEnd(bytes, quoteAt(bytes, p, this.#end) + 1, this.#end);
    if (next < this.#end && bytes[next] === colon) {
      this.#weight += propertyWeight + weight - textWeight + (this.#names.has(hash) ? 0 : furtherNameWeight);
    } else {
      this.#values++;
      this.#weight += this.#perValue + weight;
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
const mostNames = 1_024;
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
    if (this.#count === mostNames) {
      this.further++;
      return false;
    }
    this.#count++;
    this.#hashes[place] = wanted;
    return true;
  }
}

/** One for all: the runtime throws away the code that it made for a class when a collection finds none of the class alive. */
const scale: Scale = new Scale();
