import { afterEach, expect, test, vi } from "vitest";
import { startRunTime } from "./run-time.ts";

afterEach(() => {
  vi.useRealTimers();
});

test.each([
  ["back", "2026-11-22T07:00:00Z"],
  ["forward", "2026-11-22T09:00:00Z"],
])("the time of a run stays what it is if the machine's clock is set %s", (_where, clock) => {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-11-22T08:00:00Z") });
  const runTime = startRunTime();
  vi.setSystemTime(new Date(clock));
  const { startedAt, elapsedMs } = runTime();
  expect(startedAt).toBe("2026-11-22T08:00:00.000Z");
  expect(elapsedMs).toBeGreaterThanOrEqual(0);
  expect(elapsedMs).toBeLessThan(60_000);
});
