import { silentLogger } from "@cdckit/consumer";
import { placeOf } from "@cdckit/driver";
import { expect, test, vi } from "vitest";
import { heldPartitions } from "./assignments.ts";
import { HandOver } from "./hand-over.ts";
import type { ClientMessage } from "./low-level-client.ts";
import { PartitionControl } from "./partition-control.ts";
import { PartitionReader, type PartitionReaderParts } from "./partition-reader.ts";

/** A partition of which the records 3 and 4 were read, and which goes on after librdkafka has stopped to fetch it. */
async function goingOn(isStill: () => boolean = () => true) {
  const nextOffsets: bigint[] = [];
  const fail = vi.fn<(error: Error) => void>();
  const assignments = heldPartitions();
  const between: (() => void)[] = [];
  const call = (): void => between.splice(0).forEach((work) => work());
  const consumer = { incrementalAssign() {}, incrementalUnassign() {}, resume() {}, getWatermarkOffsets: () => ({ highOffset: 9 }) };
  const sink = { batch: ({ nextOffset }: { nextOffset: bigint }) => void nextOffsets.push(nextOffset) };
  const loop = { between: (work: () => void) => void between.push(work), afterCall: (work: () => void) => void between.push(work) };
  const control = new PartitionControl({ consumer, assignments, loop, logger: silentLogger } as never); // as much as is asked
  const reader = new PartitionReader({
    consumer,
    sink,
    assignments,
    control,
    handOver: new HandOver({ sink, assignments, control, maxAheadBytes: 1 } as never),
    brokers: { ends: async () => new Map([[placeOf("rows", 0), { low: 0n, high: 9n }]]) },
    subscription: { groupId: "g", logger: silentLogger },
    topicCheck: { look: async () => null, isStill: async () => isStill() },
    quotas: { end() {} },
    fail,
  } as unknown as PartitionReaderParts);
  const [held] = assignments.heldOf(assignments.add([{ topic: "rows", partition: 0 }]));
  if (held === undefined) {
    throw new Error("expected the partition that was assigned");
  }
  const take = (leaderEpoch: number, ...offsets: readonly number[]): void => {
    const ofRecord = { topic: "rows", partition: 0, timestamp: 0, key: null, value: null };
    reader.take(
      offsets.map((offset): ClientMessage => ({ ...ofRecord, offset, leaderEpoch })),
      [],
    );
  };
  control.place(held, 3n);
  call();
  take(1, 3, 4);
  await reader.investigate([held], true);
  call();
  call();
  expect(held).toMatchObject({ next: 5, placedFrom: 4, isPlaced: true });
  return { nextOffsets, fail, take, held, call, control };
}

test("a record that comes again as it was is not handed over again", async () => {
  const { nextOffsets, fail, take } = await goingOn();
  take(1, 4);
  take(2, 5, 6);
  expect(nextOffsets).toEqual([5n, 7n]);
  expect(fail).not.toHaveBeenCalled();
});

test("another record in its place is the first of another log: nothing of it is handed over", async () => {
  const { nextOffsets, fail, take } = await goingOn();
  take(2, 4, 5);
  take(2, 6);
  await vi.waitFor(() => expect(fail).toHaveBeenCalledOnce());
  expect(fail.mock.calls[0]?.[0]).toMatchObject({ code: "offset-out-of-range", lost: { firstMissing: 5n, end: 4n } });
  expect(nextOffsets).toEqual([5n]);
});

test("it is read once more with each report of the client as long as nobody knows the topic", async () => {
  let isKnown = false;
  const { nextOffsets, fail, take, held, call, control } = await goingOn(() => isKnown);
  take(2, 4, 5);
  await vi.waitFor(() => expect(held.isStarting).toBe(true));
  call();
  call();
  expect(held.isPlaced).toBe(false);
  control.retry();
  call();
  call();
  isKnown = true;
  take(2, 4, 5);
  await vi.waitFor(() => expect(fail).toHaveBeenCalledOnce());
  expect(nextOffsets).toEqual([5n]);
});
