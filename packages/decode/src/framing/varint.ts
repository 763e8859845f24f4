/** A number, and the position after it. */
export interface Varint {
  readonly value: number;
  readonly next: number;
}

const maxVarintBytes = 10;

/**
 * An unsigned varint: seven bits in each byte, the lowest bits first. Null if it does not end within the bytes, or if it is larger than the
 * integers that a number holds exactly.
 */
export function readVarint(bytes: Uint8Array, at: number, end: number): Varint | null {
  const last = Math.min(end, at + maxVarintBytes);
  let value = 0;
  let scale = 1;
  for (let i = at; i < last; i++) {
    const byte = bytes[i] as number; // the loop stays within the bytes
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) {
      return value <= Number.MAX_SAFE_INTEGER ? { value, next: i + 1 } : null;
    }
    scale *= 128;
  }
  return null;
}

/** A signed varint in Avro's zig-zag order: 0, -1, 1, -2, 2. */
export function readZigZag(bytes: Uint8Array, at: number, end: number): Varint | null {
  const read = readVarint(bytes, at, end);
  if (read === null) {
    return null;
  }
  const { value, next } = read;
  return { value: value % 2 === 0 ? value / 2 : -(value + 1) / 2, next };
}
