import { expect, test } from "vitest";
import { parseFetchResponse } from "./fetch-response.ts";
import type { ResponseReader } from "./low-level-client.ts";

/** Reads plain bytes as the client's reader does. */
class PlainReader implements ResponseReader {
  readonly buffer: Buffer;
  position = 0;

  constructor(buffer: Buffer) {
    this.buffer = buffer;
  }

  skip(length: number): void {
    this.position += length;
  }
  readInt8(): number {
    return this.buffer.readInt8(this.position++);
  }
  readInt16(): number {
    this.position += 2;
    return this.buffer.readInt16BE(this.position - 2);
  }
  readInt32(): number {
    this.position += 4;
    return this.buffer.readInt32BE(this.position - 4);
  }
  readInt64(): bigint {
    this.position += 8;
    return this.buffer.readBigInt64BE(this.position - 8);
  }
  /** As the client reads it: what does not fit into 32 bits becomes a number below zero. */
  readUnsignedVarInt(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.buffer.readUInt8(this.position++);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) {
        return value;
      }
    }
  }
  readUUID(): string {
    this.position += 16;
    const hex = this.buffer.toString("hex", this.position - 16, this.position);
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
  }
  readString(): string {
    const length = this.readUnsignedVarInt() - 1;
    this.position += length;
    return this.buffer.toString("utf8", this.position - length, this.position);
  }
}

const topicId = "00112233445566778899aabbccddeeff";
const head = "00000000" + "0000" + "00000000";
const int64 = (value: number): string => BigInt.asUintN(64, BigInt(value)).toString(16).padStart(16, "0");
const places = (errorCode: string, aborted: string, records: string, tags: string): string =>
  "00000002" + errorCode + int64(9) + int64(8) + int64(0) + aborted + "ffffffff" + records + tags;

test("a partition is read with the throttle time, its aborted transactions and the bytes of its records, and tags are skipped", () => {
  const aborted = "02" + int64(7) + int64(3) + "00";
  // A tag of the partition that is not known, and a leader's address at the end: tag 0 is another field there.
  const throttled = "000003e8" + head.slice(8);
  const bytes = throttled + "02" + topicId + "02" + places("0000", aborted, "04aabbcc", "0105020102") + "00" + "01000301" + "0203";
  expect(parseFetchResponse(1, 1, 17, new PlainReader(Buffer.from(bytes, "hex")))).toEqual({
    errorCode: 0,
    throttleMs: 1_000,
    partitions: [
      {
        topic: Buffer.from(topicId, "hex").toString("base64url"),
        isByName: false,
        partition: 2,
        errorCode: 0,
        lastStableOffset: 8n,
        abortedTransactions: [{ producerId: 7n, firstOffset: 3n }],
        divergesAt: null,
        preferredReplica: -1,
        bytes: Buffer.from("aabbcc", "hex"),
      },
    ],
  });
});

test("a log that was truncated says where it diverges, and a new leader beside it is skipped", () => {
  const tags = "02" + "000d" + "00000004" + int64(5) + "00" + "0109" + "00000001" + "00000007" + "00";
  const bytes = head + "02" + "0274" + "02" + places("0000", "00", "00", tags) + "00" + "00";
  const [partition] = parseFetchResponse(1, 1, 12, new PlainReader(Buffer.from(bytes, "hex"))).partitions;
  expect([partition?.topic, partition?.isByName, partition?.divergesAt, partition?.bytes.length]).toEqual(["t", true, 5n, 0]);
});

const belowZero = "f6ffffff0f"; // -10
const many = "ffffffff07"; // 2^31 - 1

test.each([
  ["topics that cannot be there", head + many],
  ["fewer topics than none", head + belowZero],
  ["partitions that cannot be there", head + "02" + "0274" + many],
  ["aborted transactions that cannot be there", head + "02" + "0274" + "02" + places("0000", many, "00", "00") + "0000"],
  ["records that go on after the response", head + "02" + "0274" + "02" + places("0000", "00", "7faabb", "00") + "0000"],
  ["records of fewer bytes than none", head + "02" + "0274" + "02" + places("0000", "00", belowZero, "00") + "0000"],
  ["tags that cannot be there", head + "02" + "0274" + "02" + places("0000", "00", "00", many) + "0000"],
  [
    "a tag that leads back to what was read before",
    head + "02" + "0274" + "02" + places("0000", "00", "00", "01" + "09" + belowZero) + "0000",
  ],
])("a response with %s is an error, and is not read in circles", (_, bytes) => {
  expect(() => parseFetchResponse(1, 1, 12, new PlainReader(Buffer.from(bytes, "hex")))).toThrow(/^\[protocol-mismatch\] expected at most/);
});
