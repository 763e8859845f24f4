import type { OffsetCommit } from "@cdckit/consumer";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Assignments, type HeldPartition } from "./assignments.ts";
import { Commits } from "./commits.ts";
import { DriverError } from "./errors.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** Two partitions. The first has started, and nobody knows where the second starts. */
function setUp() {
  const assignments = new Assignments<HeldPartition>({ hold: (held) => held, positionOf: () => null });
  const sent: string[] = [];
  const commits = new Commits({
    assignments,
    send: async (offsets) => void sent.push(...offsets.map(({ assignment, offset }) => `${assignment.partition}@${offset}`)),
    transact: async (_, offsets) => void sent.push(...offsets.map(({ assignment, offset }) => `${assignment.partition}@${offset} in one`)),
    makeError: (code, detail, options) => new DriverError(code, detail, options),
  });
  assignments.add([0, 1].map((partition) => ({ topic: "t", partition })));
  const [first, second] = assignments.all() as [HeldPartition, HeldPartition];
  first.isStarting = false;
  let started = (): void => {};
  second.start = new Promise((resolve) => (started = resolve));
  const begin = (): void => {
    second.isStarting = false;
    started();
  };
  const at = (offset: bigint): OffsetCommit[] => [first, second].map(({ assignment }) => ({ assignment, offset }));
  return { commits, sent, at, begin };
}

test("a partition whose start is not known holds up no other: its commit fails, and is done when the start is known", async () => {
  const { commits, sent, at, begin } = setUp();
  const failed = expect(commits.commit(at(3n))).rejects.toMatchObject({ code: "partition-unavailable" });
  expect(sent).toEqual(["0@3"]);
  await vi.advanceTimersByTimeAsync(1_000);
  await failed;
  await expect(commits.commit(at(4n))).rejects.toMatchObject({ code: "partition-unavailable" }); // at once
  await commits.transact([], at(5n).slice(0, 1));
  expect(sent).toEqual(["0@3", "0@4", "0@5 in one"]);
  begin();
  await commits.commit(at(6n));
  expect(sent.slice(3)).toEqual(["0@6", "1@6"]);
});

test("a partition that starts within a second is committed by the commit that has waited for it", async () => {
  const { commits, sent, at, begin } = setUp();
  const committed = commits.commit(at(3n));
  await vi.advanceTimersByTimeAsync(900);
  expect(sent).toEqual(["0@3"]);
  begin();
  await committed;
  expect(sent).toEqual(["0@3", "1@3"]);
  expect(vi.getTimerCount()).toBe(0);
});
