import { BackwardBits, corrupt } from "./zstd-bits.ts";
import { readFseTable, stateAfter } from "./zstd-fse.ts";

/** Codes of Huffman, looked up by as many bits as the longest has. */
export interface HuffmanTable {
  readonly maxBits: number;
  readonly symbols: Uint8Array;
  readonly bits: Uint8Array;
}

const longestCode = 11;
const maxSymbols = 256;
const limits = { maxAccuracy: 6, maxSymbol: longestCode };
/** A description that begins with this byte or a higher one has the weights themselves, in four bits each. */
const directFrom = 128;

/**
 * Reads a description of codes, and returns where it ends. The higher the weight of a symbol is, the shorter is its code.
 * https://www.rfc-editor.org/rfc/rfc8878#section-4.2.1
 */
export function readHuffmanTable(bytes: Buffer, start: number, end: number): { readonly table: HuffmanTable; readonly end: number } {
  const head = start < end ? (bytes[start] as number) : 0;
  const isDirect = head >= directFrom;
  const descriptionEnd = start + 1 + (isDirect ? (head - directFrom + 2) >> 1 : head);
  if (head === 0 || descriptionEnd > end) {
    throw corrupt("codes end too early");
  }
  const weights = isDirect ? directWeights(bytes, start + 1, head - directFrom + 1) : compressedWeights(bytes, start + 1, descriptionEnd);
  return { table: makeTable(weights), end: descriptionEnd };
}

function directWeights(bytes: Buffer, start: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => ((bytes[start + (i >> 1)] as number) >> (i % 2 === 0 ? 4 : 0)) & 15);
}

/** Two states take turns. The stream ends when one of them would need more bits than there are: then the other one has a symbol left. */
function compressedWeights(bytes: Buffer, start: number, end: number): number[] {
  const { table, end: tableEnd } = readFseTable(bytes, start, end, limits);
  const stream = new BackwardBits(bytes, tableEnd, end);
  const weights: number[] = [];
  let state = stream.read(table.accuracy);
  let other = stream.read(table.accuracy);
  while (stream.left >= 0) {
    weights.push(table.symbols[state] as number);
    if (weights.length >= maxSymbols) {
      throw corrupt("codes are of more symbols than there are");
    }
    [state, other] = [other, stateAfter(table, state, stream)];
  }
  weights.push(table.symbols[state] as number);
  return weights;
}

/** The weight of the last symbol is not written: it is what is missing to a power of two. */
function makeTable(written: readonly number[]): HuffmanTable {
  const sum = written.reduce((all, weight) => all + (weight === 0 ? 0 : 1 << (weight - 1)), 0);
  const maxBits = 32 - Math.clz32(sum);
  const missing = (1 << maxBits) - sum;
  if (sum === 0 || maxBits > longestCode || written.length >= maxSymbols || (missing & (missing - 1)) !== 0) {
    throw corrupt("codes contradict each other");
  }
  const weights = [...written, 32 - Math.clz32(missing)];
  const symbols = new Uint8Array(1 << maxBits);
  const bits = new Uint8Array(1 << maxBits);
  let at = 0;
  for (let weight = 1; weight <= maxBits; weight++) {
    for (const [symbol, own] of weights.entries()) {
      if (own === weight) {
        const end = at + (1 << (weight - 1));
        symbols.fill(symbol, at, end);
        bits.fill(maxBits + 1 - weight, at, end);
        at = end;
      }
    }
  }
  return { maxBits, symbols, bits };
}

/** Unpacks one stream into all of `out`. */
export function unpackHuffman({ maxBits, symbols, bits }: HuffmanTable, bytes: Buffer, start: number, end: number, out: Buffer): void {
  const stream = new BackwardBits(bytes, start, end);
  for (let i = 0; i < out.length; i++) {
    const code = stream.peek(maxBits);
    out[i] = symbols[code] as number;
    stream.left -= bits[code] as number;
    if (stream.left < 0) {
      throw corrupt("literals end too early");
    }
  }
  if (stream.left !== 0) {
    throw corrupt("literals do not end with their stream");
  }
}
