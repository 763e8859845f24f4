import { expect, test } from "vitest";
import { FetchSize } from "./fetch-size.ts";

const MiB = 1_048_576;

const fetchedOf = (bytes: number, offsets: number): { fromOffset: bigint; nextOffset: bigint; bytes: Buffer } => ({
  fromOffset: 2n ** 60n,
  nextOffset: 2n ** 60n + BigInt(offsets),
  bytes: Buffer.alloc(bytes),
});

test.each([
  { what: "small records", fetched: [fetchedOf(200_000, 1_000)], minBytes: 1_600_000 },
  { what: "large records", fetched: [fetchedOf(MiB, 400)], minBytes: 4 * MiB },
  { what: "records of several partitions", fetched: [fetchedOf(10_000, 100), fetchedOf(30_000, 100)], minBytes: 1_600_000 },
  { what: "one record", fetched: [fetchedOf(70, 1)], minBytes: 560_000 },
  { what: "a log with large gaps", fetched: [fetchedOf(100, 1_000_000_000)], minBytes: 1 },
])("$what: the next fetch asks for $minBytes bytes at least", ({ fetched, minBytes }) => {
  const size = new FetchSize(4 * MiB);
  expect(size.minBytes, "before anything is known").toBe(0);
  size.learnFrom(fetched);
  expect(size.minBytes).toBe(minBytes);
});

test("a response without a whole batch changes nothing", () => {
  const size = new FetchSize(4 * MiB);
  size.learnFrom([fetchedOf(300_000, 1_000)]);
  size.learnFrom([fetchedOf(5_000, 0)]);
  size.learnFrom([]);
  expect(size.minBytes).toBe(2_400_000);
});

test("what kafkajs asks for stays if the user has named it", () => {
  const size = new FetchSize(0);
  size.learnFrom([fetchedOf(300_000, 1_000)]);
  expect(size.minBytes).toBe(0);
});

test("a fetch of batches that unpack far asks for fewer bytes", () => {
  const size = new FetchSize(4 * MiB);
  const fetched = fetchedOf(3 * MiB, 8_000);
  size.learnFrom([fetched]);
  size.unpacked(fetched, 24 * MiB);
  expect(size.minBytes, "8 MiB, packed to an eighth").toBe(MiB);
  size.unpacked(fetched, 3 * MiB);
  expect(size.minBytes, "batches that are not compressed any more").toBe(3 * MiB);
  size.unpacked(fetched, 0);
  expect(size.minBytes, "a fetch of which no batch was whole").toBe(3 * MiB);
});
