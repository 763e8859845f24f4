import { KafkaJsDriverError } from "../errors.ts";

/** Reads Kafka's primitive types one after another. Throws a `KafkaJsDriverError` where the bytes end too soon. */
export class WireReader {
  readonly bytes: Buffer;
  at: number;

  constructor(bytes: Buffer, at: number) {
    this.bytes = bytes;
    this.at = at;
  }

  int8(): number {
    return this.bytes.readInt8(this.skip(1));
  }

  int16(): number {
    return this.bytes.readInt16BE(this.skip(2));
  }

  int32(): number {
    return this.bytes.readInt32BE(this.skip(4));
  }

  int64(): bigint {
    return this.bytes.readBigInt64BE(this.skip(8));
  }

  /** A text, or null. */
  string(): string | null {
    const length = this.int16();
    return length === -1 ? null : this.bytes.toString("utf8", this.skip(length), this.at);
  }

  /** How many elements follow, each of so many bytes at least. A null array has none. */
  count(elementBytes: number): number {
    const count = this.int32();
    if (count < -1 || count * elementBytes > this.bytes.length - this.at) {
      throw malformed(`an array of at most ${Math.floor((this.bytes.length - this.at) / elementBytes)} elements`, count);
    }
    return Math.max(0, count);
  }

  /** Moves on, and returns where it was. */
  skip(count: number): number {
    const { at } = this;
    if (count < 0 || count > this.bytes.length - at) {
      throw malformed(`a length of at most ${this.bytes.length - at} bytes`, count);
    }
    this.at += count;
    return at;
  }

  /** In flexible versions, a length is a varint, and one more than it counts. Zero is null, which has nothing. */
  compactLength(): number {
    return Math.max(0, this.#uvarint() - 1);
  }

  /** A text of a flexible version. Null is an empty one. */
  compactString(): string {
    const length = this.compactLength();
    return this.bytes.toString("utf8", this.skip(length), this.at);
  }

  skipTags(): void {
    for (let tags = this.#uvarint(); tags > 0; tags--) {
      this.#uvarint();
      this.skip(this.#uvarint());
    }
  }

  #uvarint(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.bytes.readUInt8(this.skip(1));
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) {
        return value;
      }
    }
    throw malformed("a length of at most five bytes", "a longer one");
  }

  end(): void {
    if (this.at !== this.bytes.length) {
      throw malformed("its end", `${this.bytes.length - this.at} bytes`);
    }
  }
}

function malformed(expected: string, found: number | string): KafkaJsDriverError {
  return new KafkaJsDriverError(
    "protocol-mismatch",
    `expected ${expected} in a request or its response, found ${found}. Is there a proxy that changes what Kafka sends?`,
  );
}
