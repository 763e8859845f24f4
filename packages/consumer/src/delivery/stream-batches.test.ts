import { virtualClock } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import type { PartitionAssignment } from "../driver.ts";
import { emptyBatch } from "./empty-batch.ts";
import { Fence } from "./fence.ts";
import { Lease } from "./lease.ts";
import { OffsetLedger } from "./offset-ledger.ts";
import { StreamBatches } from "./stream-batches.ts";
import type { StreamBatch } from "./stream-reader.ts";

const clock = virtualClock();
const lease = new Lease({ clock, wait: () => ({ failed: () => {}, end: () => {} }) });
const ledger = new OffsetLedger();

const [p0, p1, p2] = [0, 1, 2].map((partition) => ({ topic: "t", partition, epoch: 1 })) as [
  PartitionAssignment,
  PartitionAssignment,
  PartitionAssignment,
];

function batchOf(assignment: PartitionAssignment, asked: () => void = () => {}): StreamBatch {
  const batch = Object.defineProperty(emptyBatch(assignment, 0n), "assignment", {
    get: () => {
      asked();
      return assignment;
    },
  });
  return { batch, walk: batch.walk(), ledger, outstanding: 0, isWriting: false, queued: true, fence: new Fence(clock, lease) };
}

function batchesOf(...taken: readonly StreamBatch[]): StreamBatches {
  const batches = new StreamBatches();
  taken.forEach((one) => batches.add(one));
  return batches;
}

/** Takes all batches off the queue, one by one. */
function shiftAll(batches: StreamBatches): readonly StreamBatch[] {
  const shifted: StreamBatch[] = [];
  for (let { head } = batches; head !== undefined; { head } = batches) {
    shifted.push(head);
    batches.shiftHead();
  }
  return shifted;
}

describe("the batches of a stream", () => {
  test("are handed out in the order in which they came, whatever comes meanwhile", () => {
    const taken = Array.from({ length: 5_000 }, () => batchOf(p0));
    const batches = batchesOf(...taken.slice(0, 3_000));
    const shifted = taken.slice(0, 2_500).map(() => {
      const { head } = batches;
      batches.shiftHead();
      return head;
    });
    taken.slice(3_000).forEach((one) => batches.add(one));
    expect([...shifted, ...shiftAll(batches)].map((one) => taken.indexOf(one as StreamBatch))).toEqual([...taken.keys()]);
    expect(batches.count).toBe(5_000);
  });

  test("that are taken off the queue are handed out no more, and the others keep their order", () => {
    const [a, b, c, d, e] = [p0, p1, p0, p2, p1].map((assignment) => batchOf(assignment)) as [
      StreamBatch,
      StreamBatch,
      StreamBatch,
      StreamBatch,
      StreamBatch,
    ];
    const batches = batchesOf(a, b, c, d, e);
    batches.shiftHead();
    expect(batches.dequeue(new Set([p0, p2]))).toEqual([c, d]);
    expect(shiftAll(batches)).toEqual([b, e]);
    expect(batches.dequeue(null)).toEqual([]);
    expect([...batches.all()]).toEqual([a, b, c, d, e]);
  });

  test("leave memory once, and a partition has some until its last one has left", () => {
    const [a, b] = [batchOf(p0), batchOf(p0)];
    const batches = batchesOf(a, b);
    expect([batches.delete(a), batches.delete(a), batches.has(p0), batches.has(p1)]).toEqual([true, false, true, false]);
    expect([batches.delete(b), batches.has(p0), batches.count]).toEqual([true, false, 0]);
  });

  test("are looked at once by a drain, and not at all to say whether a partition has some", () => {
    let asked = 0;
    const taken = Array.from({ length: 1_000 }, (_, i) => batchOf(i % 2 === 0 ? p0 : p1, () => asked++));
    const batches = batchesOf(...taken);
    asked = 0;
    expect([batches.has(p0), batches.has(p1), batches.has(p2)]).toEqual([true, true, false]);
    expect(asked).toBe(0);
    expect(batches.dequeue(new Set([p0]))).toHaveLength(500);
    expect(asked).toBe(1_000);
  });
});
