const continues = 0x80;

/** Where the key and the value of a record stand that is written. A length of -1 is null. */
export interface WrittenFields {
  readonly bytes: Uint8Array;
  readonly keyStart: number;
  readonly keyLength: number;
  readonly valueStart: number;
  readonly valueLength: number;
}

/**
 * Writes records of format 2, one after another, without headers.
 * Record => length varint, attributes int8, timestampDelta varlong, offsetDelta varint, keyLength varint, key, valueLength varint, value,
 * headerCount varint. https://kafka.apache.org/documentation/#record
 */
export class RecordWriter {
  count = 0;
  readonly #bytes: Uint8Array;
  #at = 0;

  /** `maxBytes`: what all records take at most. */
  constructor(maxBytes: number) {
    this.#bytes = new Uint8Array(maxBytes);
  }

  write(offsetDelta: number, timestampDelta: bigint, fields: WrittenFields): void {
    const timestamp = BigInt.asUintN(64, (timestampDelta << 1n) ^ (timestampDelta >> 63n)); // zigzag
    const { bytes, keyStart, keyLength, valueStart, valueLength } = fields;
    const fixedBytes = 1 + bytesOfVarlong(timestamp) + bytesOfVarint(offsetDelta) + 1;
    this.#varint(fixedBytes + bytesOfField(keyLength) + bytesOfField(valueLength));
    this.#at++; // the attributes, which are zero
    this.#varlong(timestamp);
    this.#varint(offsetDelta);
    this.#field(bytes, keyStart, keyLength);
    this.#field(bytes, valueStart, valueLength);
    this.#at++; // the number of headers, which is zero
    this.count++;
  }

  /** What was written. It holds at most twice the memory. */
  records(): Uint8Array {
    return this.#at < this.#bytes.length / 2 ? this.#bytes.slice(0, this.#at) : this.#bytes.subarray(0, this.#at);
  }

  #field(bytes: Uint8Array, start: number, length: number): void {
    this.#varint(length);
    if (length > 0) {
      this.#bytes.set(bytes.subarray(start, start + length), this.#at);
      this.#at += length;
    }
  }

  #varint(value: number): void {
    let rest = zigzag(value);
    while (rest >= continues) {
      this.#bytes[this.#at++] = (rest & 0x7f) | continues;
      rest >>>= 7;
    }
    this.#bytes[this.#at++] = rest;
  }

  #varlong(zigzagged: bigint): void {
    let rest = zigzagged;
    while (rest >= continues) {
      this.#bytes[this.#at++] = Number(rest & 0x7fn) | continues;
      rest >>= 7n;
    }
    this.#bytes[this.#at++] = Number(rest);
  }
}

/** What a key or a value of this length takes, with its length. */
function bytesOfField(length: number): number {
  return bytesOfVarint(length) + Math.max(0, length);
}

function bytesOfVarint(value: number): number {
  let bytes = 1;
  for (let rest = zigzag(value); rest >= continues; rest >>>= 7) {
    bytes++;
  }
  return bytes;
}

function bytesOfVarlong(zigzagged: bigint): number {
  let bytes = 1;
  for (let rest = zigzagged; rest >= continues; rest >>= 7n) {
    bytes++;
  }
  return bytes;
}

function zigzag(value: number): number {
  return ((value << 1) ^ (value >> 31)) >>> 0;
}
