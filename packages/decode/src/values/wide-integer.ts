import { hexText } from "./bytes-text.ts";

// Shared by all callers, which is safe because reading calls no other code. Typed arrays use the machine's byte order.
const wide = new BigInt64Array(1);
const halves = new Int32Array(wide.buffer);
const low = isLittleEndian() ? 0 : 1;

export const maxInt64: bigint = 2n ** 63n - 1n;
export const minInt64: bigint = -(2n ** 63n);

export function isInt64(value: bigint): boolean {
  return value >= minInt64 && value <= maxInt64;
}

/**
 * Reads a two's complement integer of any length. Making a BigInt from text costs several times as much as reading its halves, so integers
 * of up to 16 bytes, which hold 38 digits, are read through a typed array.
 */
export function readWideInteger(bytes: Uint8Array, start: number, end: number): bigint {
  const length = end - start;
  if (length > 16) {
    return BigInt.asIntN(length * 8, BigInt(`0x${hexText(bytes, start, end)}`));
  }
  return length > 8 ? (read64(bytes, start, end - 8) << 64n) | BigInt.asUintN(64, read64(bytes, end - 8, end)) : read64(bytes, start, end);
}

function read64(bytes: Uint8Array, start: number, end: number): bigint {
  const sign = ((bytes[start] as number) << 24) >> 31;
  const middle = Math.max(start, end - 4);
  halves[1 - low] = readBehind(sign, bytes, start, middle);
  halves[low] = readBehind(sign, bytes, middle, end);
  return wide[0] as bigint;
}

/** Reads at most four bytes. `sign`, all zeros or all ones, fills the bits that they leave free. */
function readBehind(sign: number, bytes: Uint8Array, start: number, end: number): number {
  let value = sign;
  for (let i = start; i < end; i++) {
    value = (value << 8) | (bytes[i] as number);
  }
  return value;
}

/** Whether the machine is little-endian, because typed arrays use the machine's byte order. */
export function isLittleEndian(): boolean {
  return new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;
}
