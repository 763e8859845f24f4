import { virtualClock } from "@cdckit/testkit";
import { expect, test } from "vitest";
import type { Clock } from "../clock.ts";
import type { DriverSession, LogRange, PartitionAssignment } from "../driver.ts";
import { resolveHealthOptions } from "./observe-options.ts";
import { RangeWatch } from "./range-watch.ts";
import { suspicionText } from "./watchdog.ts";

const defaults = resolveHealthOptions();
const { stuckAfterMs, lagIntervalMs } = defaults;
const assignment: PartitionAssignment = { topic: "t", partition: 0, epoch: 1 };

type Answer = (clock: Clock) => Promise<readonly LogRange[]>;

async function watched(answer: Answer, handledTo: bigint, forMs: number, options = defaults): Promise<readonly string[]> {
  const clock = virtualClock();
  const reported: string[] = [];
  const watch = new RangeWatch({
    clock,
    intervalMs: options.lagIntervalMs,
    stuckAfterMs: options.stuckAfterMs,
    partitions: () => [{ assignment, handledTo, startedAt: null, isAtWork: false }],
    onRanges: () => {},
    onSuspicions: (suspicions) => reported.push(...suspicions.map((suspicion) => suspicionText(suspicion))),
  });
  const ranges = (): Promise<readonly LogRange[]> => answer(clock);
  watch.start({ ranges } as Partial<DriverSession> as DriverSession); // nothing else is asked of it
  await clock.advance(forMs);
  expect(watch.suspicions).toHaveLength(Math.min(reported.length, 1));
  watch.stop();
  await clock.advance(forMs);
  expect(watch.suspicions).toEqual([]);
  return reported;
}

test("a partition that does not move is reported within a minute, and again while nothing helps", async () => {
  const stuck = (): Promise<readonly LogRange[]> => Promise.resolve([{ assignment, start: 0n, end: 9n }]);
  expect(await watched(stuck, 5n, 39_000)).toEqual([]);
  expect(await watched(stuck, 5n, 60_000)).toHaveLength(1);
  const reported = await watched(stuck, 5n, 10 * stuckAfterMs);
  expect(reported.length).toBeGreaterThanOrEqual(5);
  expect(reported.length).toBeLessThanOrEqual(10);
  expect(reported[0]).toMatch(/^t\[0\] has 4 records to read/);
});

test.each([
  { stuckAfterMs: 15_000, lagIntervalMs: 10_000 },
  { stuckAfterMs: 40_000, lagIntervalMs: 25_000 },
  { stuckAfterMs: 40_000, lagIntervalMs: 60_000 },
])("so is one with looks that are far apart: $lagIntervalMs ms, and $stuckAfterMs ms until it counts as stuck", async (options) => {
  const stuck = (): Promise<readonly LogRange[]> => Promise.resolve([{ assignment, start: 0n, end: 9n }]);
  const reported = await watched(stuck, 5n, options.stuckAfterMs + 2 * options.lagIntervalMs, options);
  expect(reported[0]).toMatch(/^t\[0\] has 4 records to read/);
});

test("so is one whose brokers answer later than they are asked", async () => {
  const late = (clock: Clock): Promise<readonly LogRange[]> =>
    new Promise((resolve) => clock.after(1.5 * lagIntervalMs, () => resolve([{ assignment, start: 0n, end: 9n }])));
  expect(await watched(late, 5n, 90_000)).toEqual([expect.stringMatching(/^t\[0\] has 4 records to read/)]);
});

test.each<[string, () => Promise<readonly LogRange[]>]>([
  ["never answer", () => new Promise(() => {})],
  ["refuse", () => Promise.reject(new Error("no"))],
])("brokers that %s are reported", async (_name, ranges) => {
  expect(await watched(ranges, 5n, 60_000)).toEqual([expect.stringMatching(/^the brokers have not said for/)]);
});

test("records that are handled while the answer is on its way do not look like a truncated log", async () => {
  const clock = virtualClock();
  let handledTo = 5n;
  const reported: string[] = [];
  const watch = new RangeWatch({
    clock,
    intervalMs: 10,
    stuckAfterMs: 1_000,
    partitions: () => [{ assignment, handledTo, startedAt: null, isAtWork: false }],
    onRanges: () => {},
    onSuspicions: (suspicions) => reported.push(...suspicions.map((suspicion) => suspicionText(suspicion))),
  });
  const ranges = (): Promise<readonly LogRange[]> => {
    const end = handledTo + 1n;
    handledTo += 100n;
    return new Promise((resolve) => clock.after(5, () => resolve([{ assignment, start: 0n, end }])));
  };
  watch.start({ ranges } as Partial<DriverSession> as DriverSession); // nothing else is asked of it
  await clock.advance(100);
  watch.stop();
  expect(reported).toEqual([]);
});
