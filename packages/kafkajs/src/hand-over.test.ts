import type { DriverSink, FetchedBatch } from "@cdckit/consumer";
import { expect, onTestFinished, test, vi } from "vitest";
import { HeldPartitions } from "./assignments.ts";
import type { Fetched } from "./fetched.ts";
import { HandOver } from "./hand-over.ts";
import { PartitionControl } from "./partition-control.ts";

/** One partition, whose batches are named by the consumer when it gets them, and handled when the test says so. */
function setUp({ resumes = () => {} }: { readonly resumes?: () => void } = {}) {
  const begun: string[] = [];
  const failures: unknown[] = [];
  const calls: string[] = [];
  let finish = (): void => {};
  const assignments = new HeldPartitions();
  const [assignment] = assignments.renew({ t: [0] });
  const held = assignment === undefined ? undefined : assignments.held(assignment);
  if (held === undefined) {
    throw new Error("expected the partition that was assigned");
  }
  held.isStarting = false;
  const consumer = {
    pause: () => calls.push("pause"),
    resume: () => {
      calls.push("resume");
      resumes();
    },
  };
  const control = new PartitionControl(consumer as never, assignments);
  control.joined();
  const sink = {
    batch: (batch: FetchedBatch) => {
      begun.push(batch as unknown as string);
      return new Promise<void>((resolve) => (finish = resolve));
    },
  } as unknown as DriverSink; // as much as is asked
  const handOver = new HandOver({
    sink,
    assignments,
    control,
    patienceMs: 1,
    maxAheadBytes: 100,
    failed: (error) => void failures.push(error),
  });
  const finished = async (): Promise<void> => {
    finish();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { begun, failures, calls, held, control, handOver, finished };
}

/** What one fetch holds: the consumer gets one batch after the other. */
function fetchOf(batches: string[], keep: () => void = () => {}): Fetched {
  return { byteLength: 1, keep, next: () => batches.shift() ?? null } as unknown as Fetched; // as much as is asked
}

test("a pause holds back the rest of a fetch whose batches are handled one after another, until the partition is resumed", async () => {
  const { begun, held, control, handOver, finished } = setUp();
  void handOver.take(fetchOf(["first", "second", "third"]), held);
  control.setPaused([held.assignment], true);
  await finished();
  expect(begun).toEqual(["first"]);
  control.setPaused([held.assignment], false);
  handOver.resume([held.assignment]);
  expect(begun).toEqual(["first", "second"]);
  await finished();
  expect(begun).toEqual(["first", "second", "third"]);
});

test("a fetch of a partition whose handler was slow lets go of what it shares before it is handed over", async () => {
  let nowMs = 0;
  const now = vi.spyOn(performance, "now").mockImplementation(() => nowMs);
  onTestFinished(() => now.mockRestore());
  const { begun, held, handOver, finished } = setUp();
  const kept: string[] = [];
  const shared = (batch: string): Fetched => fetchOf([batch], () => kept.push(`${batch} after ${begun.length}`));
  void handOver.take(shared("first"), held);
  nowMs += 2; // longer than the patience
  await finished();
  void handOver.take(shared("second"), held);
  await finished();
  void handOver.take(shared("third"), held);
  expect([begun, kept]).toEqual([["first", "second", "third"], ["second after 1"]]);
});

test("what fails after a batch was handled is reported, and ends no process", async () => {
  const broken = new Error("broken");
  const { failures, held, handOver, finished } = setUp({
    resumes: () => {
      throw broken;
    },
  });
  void handOver.take(fetchOf(["first"]), held);
  expect(handOver.hasRoom(held, 1_000)).toBe(true);
  void handOver.take(fetchOf([]), held);
  await finished();
  await finished();
  expect(failures).toEqual([broken]);
});

test.each(["isGoing", "isOver"] as const)("the fetches of a partition are not resumed when it %s", async (why) => {
  const { calls, held, control, handOver, finished } = setUp();
  void handOver.take(fetchOf(["first"]), held);
  control.hold(held, true);
  held[why] = true;
  await finished();
  handOver.resume([held.assignment]);
  expect(calls).toEqual(["pause"]);
});

test("of hundreds of partitions that are all slow, the last one gets its turn after seconds", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const patienceMs = 500;
  const assignments = new HeldPartitions();
  const partitions = Array.from({ length: 300 }, (_, i) => i);
  const held = assignments.renew({ t: partitions }).map((assignment) => assignments.held(assignment));
  let begun = 0;
  const sink = { batch: () => new Promise<void>(() => void begun++) } as unknown as DriverSink; // as much as is asked
  const control = new PartitionControl({ pause: () => {}, resume: () => {} } as never, assignments);
  const handOver = new HandOver({ sink, assignments, control, patienceMs, maxAheadBytes: 100, failed: () => {} });
  const startedMs = Date.now();
  for (const one of held) {
    if (one === undefined) throw new Error("expected the partition that was assigned");
    one.isStarting = false;
    let isWaited = true;
    const taken = handOver.take(fetchOf(["rows"]), one)?.then(() => (isWaited = false));
    while (isWaited && taken !== undefined) {
      await vi.advanceTimersByTimeAsync(1);
    }
  }
  expect(begun).toBe(300);
  expect(Date.now() - startedMs).toBeLessThan(10 * patienceMs);
});
