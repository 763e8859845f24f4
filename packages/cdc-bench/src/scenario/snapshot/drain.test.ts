import { memory, MemoryBroker } from "@cdckit/testkit";
import { afterEach, expect, test, vi } from "vitest";
import { drain, type Drained } from "./drain.ts";

afterEach(() => void vi.restoreAllMocks());

const records = 10;

/** Drains a topic of ten records that is said to have so many. Half a minute passes at each look after the last record. */
function drainOf(endOffset: bigint): Promise<Drained> {
  const broker = new MemoryBroker({ t: 1 });
  broker.append("t", ...Array.from({ length: records }, (_, id) => ({ value: `{"id":${id}}` })));
  let nowMs = 1_000;
  vi.spyOn(performance, "now").mockImplementation(() => nowMs);
  return drain({
    driver: memory({ broker }),
    schemas: undefined,
    groupId: "g",
    extent: { topic: "t", partitions: [{ partition: 0, startOffset: 0n, endOffset }], maxRecords: endOffset },
    interrupt: new AbortController().signal,
    onProgress: ({ records: soFar }) => {
      nowMs += soFar === records ? 30_000 : 0;
    },
  });
}

test("a drain that brokers end in front of the end is an error: its part of the topic would count as the smallest format", async () => {
  await expect(drainOf(1_000n)).rejects.toMatchObject({
    code: "too-few-messages",
    detail: expect.stringContaining("t gave nothing for 10 s, 990 offsets in front of the end"),
  });
});

test("a drain that ends in front of transaction markers is whole", async () => {
  expect((await drainOf(BigInt(records) + 2n)).reading.records).toBe(records);
});
