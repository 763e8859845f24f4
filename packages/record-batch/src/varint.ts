/**
 * Kafka's varints: zigzag, seven bits in a byte, the lowest first. These functions trust their bytes, which `checkRecords` has walked once. The value
 * and the position after it are two functions, because a pair would be an object for each field of each record.
 */

/** The signed value of at most 32 bits. */
export function varintAt(bytes: Uint8Array, at: number): number {
  let byte = bytes[at] as number; // checked
  if (byte < 0x80) {
    return (byte >>> 1) ^ -(byte & 1);
  }
  let value = byte & 0x7f;
  for (let shift = 7; shift < 35 && byte >= 0x80; shift += 7) {
    byte = bytes[++at] as number; // checked
    value |= (byte & 0x7f) << shift;
  }
  return (value >>> 1) ^ -(value & 1);
}

/** The position after a varint of any length. */
export function afterVarint(bytes: Uint8Array, at: number): number {
  while ((bytes[at++] as number) >= 0x80) {
    // the next byte belongs to it
  }
  return at;
}

/** The signed value of at most 64 bits. */
export function varlongAt(bytes: Uint8Array, at: number): bigint {
  const end = afterVarint(bytes, at);
  if (end - at <= 4) {
    return BigInt(varintAt(bytes, at));
  }
  let value = 0n;
  for (let i = end - 1; i >= at; i--) {
    value = (value << 7n) | BigInt((bytes[i] as number) & 0x7f); // checked
  }
  value = BigInt.asUintN(64, value);
  return (value >> 1n) ^ -(value & 1n);
}
