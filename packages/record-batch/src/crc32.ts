// As a whole: a bundle must load where the function is missing.
import * as zlib from "node:zlib";

const reversedPolynomial = 0xedb88320;

/** Node has it from 20.15 and from 22.2 on. */
const inZlib = (zlib as { readonly crc32?: typeof zlib.crc32 }).crc32;

let table: Int32Array | undefined;

/** The CRC-32 of the bytes from `start` to `end`, as an unsigned number: the checksum of the message formats 0 and 1. */
export function crc32(bytes: Uint8Array, start: number, end: number): number {
  return inZlib === undefined ? crc32InScript(bytes, start, end) : inZlib(bytes.subarray(start, end));
}

/** The same by code of this package, for a Node without it. */
export function crc32InScript(bytes: Uint8Array, start: number, end: number): number {
  table ??= Int32Array.from({ length: 256 }, (_, byte) => afterEightBits(byte));
  let crc = -1;
  for (let at = start; at < end; at++) {
    crc = (table[(crc ^ (bytes[at] as number)) & 0xff] as number) ^ (crc >>> 8); // the index is below 256
  }
  return ~crc >>> 0;
}

function afterEightBits(byte: number): number {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) {
    crc = (crc & 1) === 1 ? (crc >>> 1) ^ reversedPolynomial : crc >>> 1;
  }
  return crc;
}
