import { expect, test } from "vitest";
import { type Held, heldPartitions } from "./assignments.ts";
import { giveUpReplica, mayReadReplica, nodeToRead, preferReplica } from "./read-replica.ts";

function held(): Held {
  const assignments = heldPartitions();
  assignments.add([{ topic: "t", partition: 0 }]);
  return assignments.all()[0] as Held;
}

test("the leader is read until it names a replica, and again when its word is too old", () => {
  const partition = held();
  const nowMs = performance.now();
  expect(nodeToRead(partition, 1, nowMs)).toBe(1);
  preferReplica(partition, 2, 60_000);
  expect(nodeToRead(partition, 1, nowMs)).toBe(2);
  expect(nodeToRead(partition, 1, performance.now() + 60_000)).toBe(1);
  expect(nodeToRead(partition, 1, nowMs)).toBe(1);
});

test("after a replica has failed, the leader is not told the rack for a while: it may name the same replica", () => {
  const partition = held();
  expect(mayReadReplica(partition, performance.now())).toBe(true);
  preferReplica(partition, 2, 60_000);
  giveUpReplica(partition);
  expect(nodeToRead(partition, 1, performance.now())).toBe(1);
  expect(mayReadReplica(partition, performance.now())).toBe(false);
  expect(mayReadReplica(partition, performance.now() + 5_001)).toBe(true);
});
