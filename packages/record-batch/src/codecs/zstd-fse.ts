import { type BackwardBits, corrupt, ForwardBits } from "./zstd-bits.ts";

/** A table of FSE: for each state its symbol, and the state after it, as a base and a number of bits that are added. */
export interface FseTable {
  /** The number of bits of the first state. */
  readonly accuracy: number;
  readonly symbols: Uint8Array;
  readonly bits: Uint8Array;
  readonly bases: Uint16Array;
}

/** What a table may be: a larger one would not be one of zstd's. */
export interface FseLimits {
  readonly maxAccuracy: number;
  readonly maxSymbol: number;
}

const minAccuracy = 5;

/** Reads a table that stands in the bytes as probabilities, and returns where it ends. https://www.rfc-editor.org/rfc/rfc8878#section-4.1.1 */
export function readFseTable(
  bytes: Buffer,
  start: number,
  end: number,
  limits: FseLimits,
): { readonly table: FseTable; readonly end: number } {
  const bits = new ForwardBits(bytes, start, end);
  const accuracy = bits.read(4) + minAccuracy;
  if (accuracy > limits.maxAccuracy) {
    throw corrupt("a table is finer than it may be");
  }
  const probabilities: number[] = [];
  for (let left = 1 << accuracy; left > 0; ) {
    const probability = readProbability(bits, left);
    probabilities.push(probability);
    left -= Math.abs(probability);
    if (probability === 0) {
      addZeros(bits, probabilities, limits.maxSymbol);
    }
    if (left < 0 || probabilities.length > limits.maxSymbol + 1) {
      throw corrupt("a table has more symbols than there are");
    }
  }
  return { table: makeFseTable(probabilities, accuracy), end: bits.nextByte };
}

/** `left`: what all probabilities from here on come to. One of -1 is less than 1, and takes a place all the same. */
function readProbability(bits: ForwardBits, left: number): number {
  const count = 32 - Math.clz32(left + 1);
  const value = bits.read(count);
  const lowMask = (1 << (count - 1)) - 1;
  const short = (1 << count) - 1 - (left + 1);
  if ((value & lowMask) < short) {
    bits.rewind(1);
    return (value & lowMask) - 1;
  }
  return (value > lowMask ? value - short : value) - 1;
}

/** Ends when there are more symbols than there may be: a block of ones would give three zeros for each two of its bits. */
function addZeros(bits: ForwardBits, probabilities: number[], maxSymbol: number): void {
  for (let repeats = 3; repeats === 3 && probabilities.length <= maxSymbol; ) {
    repeats = bits.read(2);
    for (let i = 0; i < repeats; i++) {
      probabilities.push(0);
    }
  }
}

/** `probabilities`: by symbol. Together they come to 2 to the power of `accuracy`. */
export function makeFseTable(probabilities: readonly number[], accuracy: number): FseTable {
  const size = 1 << accuracy;
  const symbols = new Uint8Array(size);
  const next = new Uint16Array(probabilities.length);
  let high = size;
  for (const [symbol, probability] of probabilities.entries()) {
    next[symbol] = Math.abs(probability);
    if (probability === -1) {
      symbols[--high] = symbol;
    }
  }
  const stride = (size >> 1) + (size >> 3) + 3;
  let at = 0;
  for (const [symbol, probability] of probabilities.entries()) {
    for (let i = 0; i < probability; i++) {
      symbols[at] = symbol;
      do {
        at = (at + stride) & (size - 1);
      } while (at >= high);
    }
  }
  return { accuracy, symbols, ...transitionsOf(symbols, next, accuracy) };
}

function transitionsOf(symbols: Uint8Array, next: Uint16Array, accuracy: number): Pick<FseTable, "bits" | "bases"> {
  const size = 1 << accuracy;
  const bits = new Uint8Array(size);
  const bases = new Uint16Array(size);
  for (let state = 0; state < size; state++) {
    const symbol = symbols[state] as number;
    const place = next[symbol] as number;
    next[symbol] = place + 1;
    const count = accuracy - (31 - Math.clz32(place));
    bits[state] = count;
    bases[state] = (place << count) - size;
  }
  return { bits, bases };
}

/** The table of one symbol alone, whose state takes no bits. */
export function fseTableOf(symbol: number): FseTable {
  return { accuracy: 0, symbols: Uint8Array.of(symbol), bits: new Uint8Array(1), bases: new Uint16Array(1) };
}

/** The state after this one. */
export function stateAfter({ bases, bits }: FseTable, state: number, stream: BackwardBits): number {
  return (bases[state] as number) + stream.read(bits[state] as number);
}
