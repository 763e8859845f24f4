import { expect, test } from "vitest";
import { EventClock, spanOf } from "./event-clock.ts";

/** A clock that has counted so many events, a millisecond apart. */
function clockOf(events: number): { readonly clock: EventClock; readonly readings: number } {
  let readings = 0;
  let nowMs = 0;
  const clock = new EventClock(() => {
    readings++;
    return nowMs;
  });
  for (; nowMs < events; nowMs++) {
    clock.count();
  }
  return { clock, readings };
}

test.each([1, 2, 16, 17, 256])("of %i events, the first and the last are timed: a member of few has a rate", (events) => {
  expect(clockOf(events).clock).toMatchObject({ events, firstAtMs: 0, lastAtMs: events - 1 });
});

test("of many events, one in sixteen is timed", () => {
  const { clock, readings } = clockOf(10_000);
  expect(clock.lastAtMs).toBeGreaterThanOrEqual(10_000 - 16);
  expect(readings).toBeLessThan(900);
});

test("several span the time from the first to the last event of any, and to where they were broken off", () => {
  const clocks = [
    { firstEventAtMs: 1_000, lastEventAtMs: 4_000 },
    { firstEventAtMs: 2_000, lastEventAtMs: 6_000 },
    { firstEventAtMs: null, lastEventAtMs: null },
  ];
  expect(spanOf(clocks)).toBe(5_000);
  expect(spanOf(clocks, 31_000)).toBe(30_000);
  expect(spanOf(clocks.slice(2), 31_000)).toBe(0);
});
