import { createRequire } from "node:module";
import { gunzipSync } from "node:zlib";
import type { DecompressOptions } from "@cdckit/record-batch";
import { expect, test } from "vitest";
import { HeldPartitions } from "./assignments.ts";
import { Fetched } from "./fetched.ts";

const load = createRequire(import.meta.url);
interface Encoded {
  readonly buffer: Buffer;
}
const { RecordBatch } = load("kafkajs/src/protocol/recordBatch/v0") as { readonly RecordBatch: (parts: object) => Promise<Encoded> };
const toRecord = load("kafkajs/src/protocol/recordBatch/record/v0") as (parts: object) => Encoded;

const gzip = 1;
const valueBytes = 10_000;

/** Two batches of one record each, as kafkajs writes them. */
async function batchesOf(compression: number): Promise<Buffer> {
  const batches = [0, 1].map((firstOffset) =>
    RecordBatch({ compression, firstOffset, records: [toRecord({ key: Buffer.from("k"), value: Buffer.alloc(valueBytes, "a") })] }),
  );
  return Buffer.concat((await Promise.all(batches)).map(({ buffer }) => buffer));
}

/** What was fetched of a partition: these bytes of a response. */
function fetchedOf(bytes: Buffer, unpackedTo: (byteLength: number) => void = () => {}, decompression: DecompressOptions = {}): Fetched {
  const [assignment] = new HeldPartitions().renew({ t: [0] });
  if (assignment === undefined) {
    throw new Error("expected the partition that was assigned");
  }
  const range = { topic: "t", partition: 0, fromOffset: 0n, nextOffset: 2n, highWatermark: 2n };
  return new Fetched({ ...range, abortedTransactions: [], bytes, unpackedTo }, assignment, decompression);
}

test.each([
  ["compressed batches", gzip],
  ["batches that are not compressed", 0],
])("when %s have been read, it says what they took unpacked", async (_what, compression) => {
  const said: number[] = [];
  const fetched = fetchedOf(await batchesOf(compression), (byteLength) => said.push(byteLength));
  await fetched.prepare();
  for (let batch = fetched.next(); batch !== null; batch = fetched.next()) {
    expect(said, "before the last one has been read").toEqual([]);
  }
  expect(said.length).toBe(1);
  expect(said[0]).toBeGreaterThanOrEqual(2 * valueBytes);
  expect(said[0]).toBeLessThan(2 * valueBytes + 300);
});

test("records are decompressed by a function of the application's own", async () => {
  const limits: number[] = [];
  const gunzip = (bytes: Uint8Array, maxBytes: number): Uint8Array => {
    limits.push(maxBytes);
    return gunzipSync(bytes, { maxOutputLength: maxBytes });
  };
  const batch = fetchedOf(await batchesOf(gzip), undefined, { codecs: { gzip: gunzip } }).next();
  expect([batch?.recordCount, limits.length, (limits[0] ?? 0) > valueBytes]).toEqual([2, 2, true]);
});

test.each([
  ["a few records of a response are handed over without the rest of it", 1, 100, false],
  ["a large part of a response is handed over without a copy", 1, 2, true],
  ["many records of a response are handed over without a copy", 1_000, 10, true],
])("%s", async (_what, times, responses, isShared) => {
  const batches = Buffer.concat(Array<Buffer>(times).fill(await batchesOf(0)));
  const response = Buffer.allocUnsafeSlow(batches.length * responses);
  const walk = fetchedOf(response.subarray(0, batches.copy(response)))
    .next()
    ?.walk();
  expect(walk?.next()).toBe(true);
  expect(walk?.valueBytes?.buffer === response.buffer).toBe(isShared);
  expect(walk?.valueBytes?.buffer.byteLength).toBe(isShared ? response.length : batches.length);
});
