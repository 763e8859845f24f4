import { afterEach, expect, test, vi } from "vitest";
import { msSince, thisMoment } from "./moment.ts";

afterEach(() => {
  vi.useRealTimers();
});

test("the time for which a machine was suspended counts, and a wall clock that is set back changes nothing", () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const moment = thisMoment();
  vi.setSystemTime(moment.wallMs + 3_600_000);
  expect(msSince(moment)).toBe(3_600_000);
  vi.setSystemTime(moment.wallMs - 3_600_000);
  const ms = msSince(moment);
  expect(ms).toBeGreaterThanOrEqual(0);
  expect(ms).toBeLessThan(3_600_000);
});
