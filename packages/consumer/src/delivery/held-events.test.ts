import type { CdcEvent } from "@cdckit/decode";
import { RecordArrayBatch, recordOf } from "@cdckit/testkit";
import { expect, test } from "vitest";
import { HeldEvents } from "./held-events.ts";

test("a group of 200,000 records is split into single ones, in its place", () => {
  const records = [recordOf(null, { topic: "t", partition: 0, offset: 0n })];
  const batch = new RecordArrayBatch({ assignment: { topic: "t", partition: 0, epoch: 1 }, records });
  const event = {} as CdcEvent; // nothing of it is read
  const [split, after] = [(): void => {}, (): void => {}];
  const held = new HeldEvents();
  for (let record = 0; record < 200_000; record++) {
    held.add(split, event, batch, record, record + 1);
  }
  held.add(after, event, batch, 200_000, 200_001);
  held.take();
  held.isolate();
  expect(held.take()?.records).toEqual([0]);
  for (let record = 1; record < 200_000; record++) {
    held.take();
  }
  expect(held.current?.records).toEqual([199_999]);
  expect(held.take()?.handle).toBe(after);
});
