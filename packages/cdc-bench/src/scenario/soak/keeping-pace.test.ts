import { expect, test } from "vitest";
import { hasCaughtUp, paceNote } from "./keeping-pace.ts";

test.each([
  ["has handled all", 600, 600, true],
  ["lacks what is on its way", 600, 540, true],
  ["lacks seconds of it, from joining its group", 1_800, 300, false],
  ["has nothing to handle yet", 0, 0, false],
])("a consumer that %s has caught up: %4$s", (_, written, handled, isCaughtUp) => {
  expect(hasCaughtUp(written, handled, 300)).toBe(isCaughtUp);
});

test("a consumer of a low rate may lack one record", () => {
  expect([hasCaughtUp(5, 4, 1), hasCaughtUp(5, 3, 1)]).toEqual([true, false]);
});

test("a rate above that of the writer is said to be one of catching up, and one below it not to keep pace", () => {
  expect(paceNote({ title: "Avro", written: 2_318, events: 3_731 }, 300)).toBe(
    "Avro: 2,318 events were written and 3,731 handled: it was behind when the measurement began, and its rate and latencies are those of catching up.",
  );
  expect(paceNote({ title: "Avro", written: 2_318, events: 2_000 }, 300)).toContain("does not keep pace");
  expect(paceNote({ title: "Avro", written: 2_318, events: 2_390 }, 300)).toBe(null); // what was on its way at the begin
  expect(paceNote({ title: "Avro", written: null, events: 2_330 }, 300)).toBe(null);
});
