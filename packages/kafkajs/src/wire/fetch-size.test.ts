import { expect, test } from "vitest";
import { FetchSize } from "./fetch-size.ts";

const MiB = 1_048_576;

const fetchedOf = (bytes: number, offsets: number): { fromOffset: bigint; nextOffset: bigint; bytes: Buffer } => ({
  fromOffset: 2n ** 60n,
  nextOffset: 2n ** 60n + BigInt(offsets),
  bytes: Buffer.alloc(bytes),
});

test.each([
  { what: "small records", fetched: [fetchedOf(200_000, 1_000)], bytes: 1_600_000 },
  { what: "large records", fetched: [fetchedOf(MiB, 400)], bytes: 4 * MiB },
  { what: "records of several partitions", fetched: [fetchedOf(10_000, 100), fetchedOf(30_000, 100)], bytes: 1_600_000 },
  { what: "one record", fetched: [fetchedOf(300, 1)], bytes: 2_400_000 },
  { what: "records that are smaller still", fetched: [fetchedOf(70, 1)], bytes: MiB },
  { what: "a log with large gaps", fetched: [fetchedOf(100, 1_000_000_000)], bytes: MiB },
])("$what: the next fetch, for which kafkajs asks for a mebibyte, asks for $bytes bytes", ({ fetched, bytes }) => {
  const size = new FetchSize(4 * MiB);
  expect(size.ofEachPartition(MiB, 1), "before anything is known").toBe(MiB);
  size.learnFrom(fetched);
  expect(size.ofEachPartition(MiB, 1)).toBe(bytes);
});

test.each([
  { partitions: 3, bytes: Math.floor((4 * MiB) / 3) },
  { partitions: 64, bytes: MiB },
])("the bytes are shared out between $partitions partitions, and none gets less than kafkajs asks for", ({ partitions, bytes }) => {
  const size = new FetchSize(4 * MiB);
  size.learnFrom([fetchedOf(MiB, 400)]);
  expect(size.ofEachPartition(MiB, partitions)).toBe(bytes);
});

test("a response without a whole batch changes nothing", () => {
  const size = new FetchSize(4 * MiB);
  size.learnFrom([fetchedOf(300_000, 1_000)]);
  size.learnFrom([fetchedOf(5_000, 0)]);
  size.learnFrom([]);
  expect(size.ofEachPartition(MiB, 1)).toBe(2_400_000);
});

test("what kafkajs asks for stays if the user has named it", () => {
  const size = new FetchSize(0);
  const fetched = fetchedOf(300_000, 1_000);
  size.learnFrom([fetched]);
  size.learnerOf(fetched.bytes.length)(64 * MiB);
  expect(size.ofEachPartition(1_000, 1)).toBe(1_000);
});

test("a fetch of batches that unpack far asks for fewer bytes, of one partition also for fewer than kafkajs asks for", () => {
  const size = new FetchSize(4 * MiB);
  const fetched = fetchedOf(2 * MiB, 4_000);
  size.learnFrom([fetched]);
  size.learnerOf(fetched.bytes.length)(8 * MiB);
  expect(size.ofEachPartition(MiB, 1), "8 MiB, packed to a quarter").toBe(2 * MiB);
  size.learnerOf(fetched.bytes.length)(64 * MiB);
  expect(
    [1, 2].map((partitions) => size.ofEachPartition(MiB, partitions)),
    "8 MiB, packed to a 32nd",
  ).toEqual([MiB / 4, MiB]);
  size.learnerOf(fetched.bytes.length)(2 * MiB);
  expect(size.ofEachPartition(MiB, 1), "batches that are not compressed any more").toBe(4 * MiB);
  size.learnerOf(fetched.bytes.length)(0);
  expect(size.ofEachPartition(MiB, 1), "a fetch of which no batch was whole").toBe(4 * MiB);
});
