/**
 * Packed lists: numbers after one length. There is one function for each kind, which all readers share: a list is a loop, and a loop in
 * code that was generated for one schema is slow until the runtime has compiled it.
 */
import { type Cursor, readBool, readInt32, readInt64, readSint32, readSint64, readUint32, readUint64 } from "./cursor.ts";
import type { ReadInstruction } from "./read-instructions.ts";

/** Reads the values from `p` to `e` into the list, and returns the position after them. */
export type ReadPacked = (at: Cursor, items: unknown[], b: Uint8Array, p: number, e: number) => number;

/** The function that reads packed values of this instruction; null if each value is converted, or has a fixed size. */
export function packedReader(instruction: ReadInstruction): ReadPacked | null {
  switch (instruction.kind) {
    case "int32":
      return instruction.number === null ? packedInt32 : null;
    case "sint32":
      return instruction.number === null ? packedSint32 : null;
    case "uint32":
      return instruction.number === null ? packedUint32 : null;
    case "int64":
      return instruction.number === null && instruction.bigint === null ? packedInt64 : null;
    case "sint64":
      return instruction.number === null && instruction.bigint === null ? packedSint64 : null;
    case "uint64":
      return instruction.number === null && instruction.bigint === null ? packedUint64 : null;
    case "bool":
      return packedBool;
    case "enum":
      return instruction.convert === null ? packedEnum(instruction.names) : null;
    default:
      return null;
  }
}

/** Shorter lists grow while they are filled. */
const minCounted = 64;

/**
 * Makes room for the varints from `p` to `e`, and returns the index of the first one. Without it the list grows and is copied many times.
 * Each varint ends with a byte below 0x80, so counting those bytes counts the varints.
 */
function makeRoom(items: unknown[], b: Uint8Array, p: number, e: number): number {
  const { length } = items;
  if (e - p < minCounted) {
    return length;
  }
  let count = 0;
  for (; p < e; p++) {
    count += b[p]! < 0x80 ? 1 : 0;
  }
  items.length = length + count;
  return length;
}

function packedInt32(at: Cursor, items: unknown[], b: Uint8Array, p: number, e: number): number {
  for (let i = makeRoom(items, b, p, e); p < e; i++) {
    const byte = b[p]!;
    if (byte < 0x80) {
      p++;
      items[i] = byte;
    } else {
      items[i] = readInt32(at, b, p, e);
      p = at.p;
    }
  }
  return p;
}

function packedUint32(at: Cursor, items: unknown[], b: Uint8Array, p: number, e: number): number {
  for (let i = makeRoom(items, b, p, e); p < e; i++) {
    items[i] = readUint32(at, b, p, e);
    p = at.p;
  }
  return p;
}

function packedSint32(at: Cursor, items: unknown[], b: Uint8Array, p: number, e: number): number {
  for (let i = makeRoom(items, b, p, e); p < e; i++) {
    items[i] = readSint32(at, b, p, e);
    p = at.p;
  }
  return p;
}

function packedInt64(at: Cursor, items: unknown[], b: Uint8Array, p: number, e: number): number {
  for (let i = makeRoom(items, b, p, e); p < e; i++) {
    const byte = b[p]!;
    if (byte < 0x80) {
      p++;
      items[i] = byte;
    } else {
      items[i] = readInt64(at, b, p, e);
      p = at.p;
    }
  }
  return p;
}

function packedUint64(at: Cursor, items: unknown[], b: Uint8Array, p: number, e: number): number {
  for (let i = makeRoom(items, b, p, e); p < e; i++) {
    items[i] = readUint64(at, b, p, e);
    p = at.p;
  }
  return p;
}

function packedSint64(at: Cursor, items: unknown[], b: Uint8Array, p: number, e: number): number {
  for (let i = makeRoom(items, b, p, e); p < e; i++) {
    items[i] = readSint64(at, b, p, e);
    p = at.p;
  }
  return p;
}

function packedBool(at: Cursor, items: unknown[], b: Uint8Array, p: number, e: number): number {
  for (let i = makeRoom(items, b, p, e); p < e; i++) {
    const byte = b[p]!;
    if (byte < 0x80) {
      p++;
      items[i] = byte !== 0;
    } else {
      items[i] = readBool(at, b, p, e);
      p = at.p;
    }
  }
  return p;
}

/** Lists repeat a few symbols, so the last one is remembered. */
function packedEnum(names: ReadonlyMap<number, string>): ReadPacked {
  return (at, items, b, p, e) => {
    let last = 0;
    let symbol: string | number = names.get(0) ?? 0;
    for (let i = makeRoom(items, b, p, e); p < e; i++) {
      const value = readInt32(at, b, p, e);
      p = at.p;
      if (value !== last) {
        last = value;
        symbol = names.get(value) ?? value;
      }
      items[i] = symbol;
    }
    return p;
  };
}
