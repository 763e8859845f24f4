import { expect, test } from "vitest";
import { advanceTo, epochBefore, type Held, heldPartitions, placeAt } from "./assignments.ts";

/** A partition that starts at offset 10, after a record of the leader epoch 3. */
function started(): Held {
  const assignments = heldPartitions();
  assignments.add([{ topic: "rows", partition: 0 }]);
  const [held] = assignments.all();
  if (held === undefined) {
    throw new Error("expected a partition");
  }
  placeAt(held, 10n, 3);
  return held;
}

test("an offset is committed with the leader epoch of the record before it, and the first fetch names the one of the start", () => {
  const held = started();
  expect([held.lastEpoch, epochBefore(held, 10n)]).toEqual([3, 3]);
  advanceTo(held, 20n, 3);
  advanceTo(held, 30n, 5);
  advanceTo(held, 40n, 5);
  expect([10n, 11n, 20n, 21n, 30n, 40n].map((offset) => epochBefore(held, offset))).toEqual([3, 3, 3, 5, 5, 5]);
});

test("after a move, an offset is not committed with the leader epoch of records that are elsewhere in the log", () => {
  const held = started();
  advanceTo(held, 20n, 3);
  placeAt(held, 90n);
  expect([20n, 90n].map((offset) => epochBefore(held, offset))).toEqual([-1, -1]);
  advanceTo(held, 95n, 8);
  expect([90n, 91n, 95n].map((offset) => epochBefore(held, offset))).toEqual([-1, 8, 8]);
});
