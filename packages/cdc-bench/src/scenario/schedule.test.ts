import fc from "fast-check";
import { expect, test } from "vitest";
import { evenSchedule } from "./schedule.ts";

const rate = fc.double({ min: 0.1, max: 1e6, noNaN: true });

test("times are even and do not drift", () => {
  fc.assert(
    fc.property(rate, fc.nat(10_000_000), (perSecond, index) => {
      const schedule = evenSchedule(perSecond);
      expect(schedule.dueMs(0)).toBe(0);
      expect(Math.abs(schedule.dueMs(index) - (index / perSecond) * 1e3)).toBeLessThanOrEqual(schedule.dueMs(index) * 1e-12);
      expect(schedule.dueMs(index + 1)).toBeGreaterThan(schedule.dueMs(index));
    }),
  );
});

test("what is due by a time are exactly the records whose times have come", () => {
  fc.assert(
    fc.property(rate, fc.double({ min: 0, max: 1e6, noNaN: true }), (perSecond, elapsedMs) => {
      const schedule = evenSchedule(perSecond);
      const due = schedule.dueBy(elapsedMs);
      expect(schedule.dueMs(due)).toBeGreaterThan(elapsedMs);
      expect(due === 0 || schedule.dueMs(due - 1) <= elapsedMs).toBe(true);
    }),
  );
});

test("a second at 5,000 a second has 5,000 records, and the next one begins the next second", () => {
  const schedule = evenSchedule(5_000);
  expect(schedule.dueBy(999.9)).toBe(5_000);
  expect(schedule.dueBy(1_000)).toBe(5_001);
});
