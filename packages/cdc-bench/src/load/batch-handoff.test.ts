import { RecordArrayBatch, recordOf } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { BatchHandoff } from "./batch-handoff.ts";

const assignment = { topic: "t", partition: 0, epoch: 0 };
const record = recordOf(null);
const newBatch = (): RecordArrayBatch => new RecordArrayBatch({ assignment, records: [record] });

describe("a handoff", () => {
  test("gives batches in their order, and holds the driver until they are released", async () => {
    const handoff = new BatchHandoff();
    const batches = [newBatch(), newBatch()];
    const taken = batches.map((batch) => handoff.batch(batch));
    const first = await handoff.next();
    expect(first?.batch).toBe(batches[0]);
    first?.release();
    await taken[0];
    expect((await handoff.next())?.batch).toBe(batches[1]);
  });

  test("waits for a batch that has not come yet", async () => {
    const handoff = new BatchHandoff();
    const next = handoff.next();
    const batch = newBatch();
    void handoff.batch(batch);
    expect((await next)?.batch).toBe(batch);
  });

  test("lets go unread of what waits of a partition that is taken away, and of nothing else", async () => {
    const handoff = new BatchHandoff();
    const other = { topic: "t", partition: 1, epoch: 0 };
    const taken = handoff.batch(newBatch());
    const kept = new RecordArrayBatch({ assignment: other, records: [record] });
    void handoff.batch(kept);
    await handoff.revoked([assignment]);
    await taken;
    expect((await handoff.next())?.batch).toBe(kept);
    expect([handoff.holds(assignment), handoff.holds(other)]).toEqual([false, true]);
  });

  test("that is closed wakes its reader and lets the driver go", async () => {
    const handoff = new BatchHandoff();
    const next = handoff.next();
    handoff.close();
    expect(await next).toBeUndefined();
    expect(handoff.batch(newBatch())).toBeUndefined();
  });

  test("that is closed with a batch waiting lets go of it unread", async () => {
    const handoff = new BatchHandoff();
    const taken = handoff.batch(newBatch());
    handoff.close();
    await taken;
    expect(await handoff.next()).toBeUndefined();
  });

  test("hands on what the driver failed with", async () => {
    const handoff = new BatchHandoff();
    const next = handoff.next();
    handoff.failed(new Error("the client gave up"));
    await expect(next).rejects.toThrow("the client gave up");
  });
});
