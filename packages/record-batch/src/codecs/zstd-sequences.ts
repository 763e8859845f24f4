import { BackwardBits, corrupt } from "./zstd-bits.ts";
import { type FseLimits, type FseTable, fseTableOf, makeFseTable, readFseTable, stateAfter } from "./zstd-fse.ts";

/** What sequences are read with. The next block may use it again. */
export interface SequenceTables {
  readonly literals: FseTable;
  readonly offsets: FseTable;
  readonly matches: FseTable;
}

/** Takes the sequences of a block one after another: so many literals, and then a match. `offset`: its code, which may mean an offset of before. */
export type TakeSequence = (literals: number, offset: number, match: number) => void;

/** The lengths that a code stands for: the lowest, and the number of bits that are added. */
interface Lengths {
  readonly bases: Int32Array;
  readonly bits: Uint8Array;
}

/** One kind of codes: what its tables may be, and the table that need not be described. */
interface Kind extends FseLimits {
  readonly predefined: FseTable;
}

const times = (count: number, value: number): number[] => Array<number>(count).fill(value);
const upTo16 = (from: number): number[] => Array.from({ length: 17 - from }, (_, i) => from + i);
const literalLengths = lengthsOf(0, [...times(16, 0), 1, 1, 1, 1, 2, 2, 3, 3, 4, ...upTo16(6)]);
const matchLengths = lengthsOf(3, [...times(32, 0), 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, ...upTo16(7)]);
const predefinedLiterals = [4, 3, ...times(11, 2), 1, 1, 1, ...times(9, 2), 3, 2, ...times(5, 1), ...times(4, -1)];
const predefinedMatches = [1, 4, 3, ...times(6, 2), ...times(37, 1), ...times(7, -1)];
const predefinedOffsets = [...times(6, 1), 2, 2, 2, ...times(15, 1), ...times(5, -1)];

/** In the order in which their tables are written. https://www.rfc-editor.org/rfc/rfc8878#section-3.1.1.3.2 */
const kinds: Readonly<Record<keyof SequenceTables, Kind>> = {
  literals: { maxAccuracy: 9, maxSymbol: 35, predefined: makeFseTable(predefinedLiterals, 6) },
  offsets: { maxAccuracy: 8, maxSymbol: 31, predefined: makeFseTable(predefinedOffsets, 5) },
  matches: { maxAccuracy: 9, maxSymbol: 52, predefined: makeFseTable(predefinedMatches, 6) },
};

function lengthsOf(lowest: number, bits: readonly number[]): Lengths {
  let next = lowest;
  const bases = bits.map((count) => {
    const base = next;
    next += 1 << count;
    return base;
  });
  return { bases: Int32Array.from(bases), bits: Uint8Array.from(bits) };
}

/** Sequences_Section => count, [modes, tables, stream]?. Returns the tables that hold after the block. */
export function readSequences(
  bytes: Buffer,
  start: number,
  end: number,
  known: SequenceTables | null,
  take: TakeSequence,
): SequenceTables | null {
  const byte = (at: number): number => {
    if (at >= end) {
      throw corrupt("sequences end too early");
    }
    return bytes[at] as number;
  };
  const first = byte(start);
  const countBytes = first < 128 ? 1 : first < 255 ? 2 : 3;
  const count =
    countBytes === 1
      ? first
      : countBytes === 2
        ? ((first - 128) << 8) + byte(start + 1)
        : byte(start + 1) + (byte(start + 2) << 8) + 0x7f_00;
  if (count === 0) {
    if (start + countBytes !== end) {
      throw corrupt("a block does not end with its sequences");
    }
    return known;
  }
  const modes = byte(start + countBytes);
  const read = readTables(bytes, start + countBytes + 1, end, modes, known);
  readStream(read.tables, new BackwardBits(bytes, read.end, end), count, take);
  return read.tables;
}

function readTables(
  bytes: Buffer,
  start: number,
  end: number,
  modes: number,
  known: SequenceTables | null,
): { readonly tables: SequenceTables; readonly end: number } {
  let at = start;
  const tableOf = (kind: keyof SequenceTables, mode: number): FseTable => {
    const read = readTable(bytes, at, end, mode, kinds[kind], known?.[kind] ?? null);
    at = read.end;
    return read.table;
  };
  // The order of these is that of the bytes.
  const literals = tableOf("literals", modes >> 6);
  const offsets = tableOf("offsets", (modes >> 4) & 3);
  const matches = tableOf("matches", (modes >> 2) & 3);
  if ((modes & 3) !== 0) {
    throw corrupt("a block uses what zstd has reserved");
  }
  return { tables: { literals, offsets, matches }, end: at };
}

const predefinedMode = 0;
const rleMode = 1;
const fseCompressedMode = 2;

function readTable(
  bytes: Buffer,
  start: number,
  end: number,
  mode: number,
  kind: Kind,
  known: FseTable | null,
): { readonly table: FseTable; readonly end: number } {
  if (mode === fseCompressedMode) {
    return readFseTable(bytes, start, end, kind);
  }
  if (mode === rleMode) {
    const symbol = start < end ? (bytes[start] as number) : kind.maxSymbol + 1;
    if (symbol > kind.maxSymbol) {
      throw corrupt("a table has a symbol that there is not");
    }
    return { table: fseTableOf(symbol), end: start + 1 };
  }
  const table = mode === predefinedMode ? kind.predefined : known;
  if (table === null) {
    throw corrupt("a block repeats a table that no block before it has");
  }
  return { table, end: start };
}

/** Bits that are missing are noticed at once: a few bytes may claim a hundred thousand sequences. */
function readStream({ literals, offsets, matches }: SequenceTables, stream: BackwardBits, count: number, take: TakeSequence): void {
  let literal = stream.read(literals.accuracy);
  let offset = stream.read(offsets.accuracy);
  let match = stream.read(matches.accuracy);
  for (let i = 1; ; i++) {
    const offsetCode = offsets.symbols[offset] as number;
    const matchCode = matches.symbols[match] as number;
    const literalCode = literals.symbols[literal] as number;
    const distance = 2 ** offsetCode + stream.readLong(offsetCode);
    const matchLength = (matchLengths.bases[matchCode] as number) + stream.read(matchLengths.bits[matchCode] as number);
    const literalLength = (literalLengths.bases[literalCode] as number) + stream.read(literalLengths.bits[literalCode] as number);
    if (stream.left < 0) {
      throw corrupt("sequences end too early");
    }
    take(literalLength, distance, matchLength);
    if (i === count) {
      break;
    }
    literal = stateAfter(literals, literal, stream);
    match = stateAfter(matches, match, stream);
    offset = stateAfter(offsets, offset, stream);
  }
  if (stream.left !== 0) {
    throw corrupt("sequences do not end with their stream");
  }
}
