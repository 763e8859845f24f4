import { expect, test } from "vitest";
import { EventClock } from "./event-clock.ts";

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
