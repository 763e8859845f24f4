import { describe, expect, test } from "vitest";
import { capOf, CapTally } from "./cap-tally.ts";

const record = { events: 1, bytes: 100 };

describe("a batch was closed by", () => {
  test.each([
    ["max-events when it is full", { maxEvents: 10, maxBytes: null }, { events: 10, bytes: 1_000 }, "max-events"],
    ["max-bytes when the next record would pass it", { maxEvents: null, maxBytes: 950 }, { events: 9, bytes: 900 }, "max-bytes"],
    ["max-bytes when a record alone is larger", { maxEvents: 10, maxBytes: 50 }, { events: 1, bytes: 100 }, "max-bytes"],
    ["max-ms when there was room", { maxEvents: 10, maxBytes: 5_000 }, { events: 9, bytes: 900 }, "max-ms"],
    ["max-events when both are met", { maxEvents: 10, maxBytes: 1_000 }, { events: 10, bytes: 1_000 }, "max-events"],
  ] as const)("%s", (_, limits, batch, cap) => {
    expect(capOf(limits, batch, record)).toBe(cap);
  });

  test("max-events in front of a record of many events", () => {
    expect(capOf({ maxEvents: 10, maxBytes: null }, { events: 8, bytes: 800 }, { events: 5, bytes: 100 })).toBe("max-events");
  });
});

test("a tally judges each partition's batches by what follows in it, and the last ones at the end", () => {
  const tally = new CapTally({ maxEvents: 3, maxBytes: 450 });
  tally.add("orders-0", { events: 3, bytes: 300 }, record);
  tally.add("orders-1", { events: 2, bytes: 400 }, { events: 1, bytes: 200 });
  tally.add("orders-0", { events: 2, bytes: 200 }, record);
  tally.add("orders-1", { events: 1, bytes: 100 }, { events: 1, bytes: 100 });
  expect(tally.counts()).toEqual({ "max-events": 1, "max-bytes": 1, "max-ms": 2 });
});
