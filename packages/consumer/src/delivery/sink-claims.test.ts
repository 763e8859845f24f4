import { virtualClock } from "@cdckit/testkit";
import { expect, test } from "vitest";
import type { OffsetCommit, PartitionAssignment } from "../driver.ts";
import { resolveFailureOptions } from "../failure/failure-options.ts";
import { silentLogger } from "../observe/logger.ts";
import { Waits } from "../observe/waits.ts";
import type { Sink } from "../sink.ts";
import { Fence } from "./fence.ts";
import { Lease } from "./lease.ts";
import { SinkClaims } from "./sink-claims.ts";

test("the checkpoint of a claim is not kept if its partition went before the answer", async () => {
  const clock = virtualClock();
  const waits = new Waits({ clock, logger: silentLogger });
  let answer: (checkpoints: readonly OffsetCommit[]) => void = () => {};
  const sink: Sink = {
    name: "slow",
    claim: () =>
      new Promise((resolve) => {
        answer = resolve;
      }),
    apply: async () => {},
    close: async () => {},
  };
  const claims = new SinkClaims({
    sinks: [sink],
    groupId: "g",
    from: "earliest",
    hasHandlers: false,
    retry: resolveFailureOptions().retry,
    fence: new Fence(clock, new Lease({ clock, wait: (wait) => waits.open(wait) })),
    holds: () => true,
    random: () => 0,
    logger: silentLogger,
    waits,
    fail: () => {},
  });
  const answered = async (assignment: PartitionAssignment, meanwhile: () => void): Promise<bigint | null> => {
    const starts = claims.startAt([assignment]);
    await clock.advance(0);
    meanwhile();
    answer([{ assignment, offset: 7n }]);
    await starts;
    return claims.checkpointOf(sink, assignment);
  };
  const [kept, gone] = [0, 1].map((partition) => ({ topic: "t", partition, epoch: 1 })) as [PartitionAssignment, PartitionAssignment];
  expect(await answered(kept, () => {})).toBe(7n);
  expect(await answered(gone, () => claims.release([gone]))).toBeNull();
});
