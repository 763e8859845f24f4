import { expect, test } from "vitest";
import { batchesEnd } from "./batches-end.ts";

/** The header of a batch, and as many bytes of records. */
function batch(baseOffset: bigint, lastOffsetDelta: number, leaderEpoch: number, recordBytes = 10): Buffer {
  const bytes = Buffer.alloc(61 + recordBytes);
  bytes.writeBigInt64BE(baseOffset, 0);
  bytes.writeInt32BE(bytes.length - 12, 8);
  bytes.writeInt32BE(leaderEpoch, 12);
  bytes.writeInt8(2, 16);
  bytes.writeInt32BE(lastOffsetDelta, 23);
  return bytes;
}

test("the end is that of the last whole batch, with its leader epoch", () => {
  const bytes = Buffer.concat([batch(5n, 2, 3), batch(9n, 0, 4), batch(10n, 7, 5).subarray(0, 65)]);
  expect(batchesEnd(bytes)).toEqual({ nextOffset: 10n, leaderEpoch: 4 });
});

test.each<[string, (bytes: Buffer) => unknown]>([
  ["an old message format", (bytes) => bytes.writeInt8(1, 16)],
  ["a length that is too small", (bytes) => bytes.writeInt32BE(3, 8)],
  ["a length below zero", (bytes) => bytes.writeInt32BE(-200, 8)],
  ["a last offset before the first", (bytes) => bytes.writeInt32BE(-1, 23)],
])("a header that cannot be right gives no end: %s", (_, damage) => {
  const bytes = batch(5n, 2, 3);
  damage(bytes);
  expect(batchesEnd(bytes)).toBeNull();
});

test("a part of a batch gives no end", () => {
  const bytes = batch(5n, 2, 3);
  expect([0, 8, 60, bytes.length - 1].map((length) => batchesEnd(bytes.subarray(0, length)))).toEqual([null, null, null, null]);
});
