import { expect, test } from "vitest";
import { Assignments, type HeldPartition } from "./assignments.ts";
import { whileHeld } from "./while-held.ts";

function setUp(): { readonly assignments: Assignments<HeldPartition>; readonly held: HeldPartition } {
  const assignments = new Assignments<HeldPartition>({ hold: (one) => one, positionOf: () => null });
  const [held] = assignments.heldOf(assignments.add([{ topic: "t", partition: 0 }]));
  if (held === undefined) {
    throw new Error("expected the partition that was assigned");
  }
  return { assignments, held };
}

test.each<[string, (assignments: Assignments<HeldPartition>, held: HeldPartition) => void]>([
  ["a rebalance has taken the partition", (assignments) => assignments.clear()],
  ["the partition was assigned anew", (assignments) => void assignments.add([{ topic: "t", partition: 0 }])],
  ["the partition was given up", (assignments, held) => assignments.release([held])],
  ["the session has failed", (assignments) => assignments.endReading()],
])("nothing follows a wait during which %s", async (_name, happens) => {
  const { assignments, held } = setUp();
  const done: string[] = [];
  await whileHeld(held, async (still) => {
    done.push(await still(Promise.resolve("before")));
    const asked = Promise.resolve("after");
    happens(assignments, held);
    done.push(await still(asked));
  });
  expect(done).toEqual(["before"]);
});

test("a failure of the work is passed on", async () => {
  const { held } = setUp();
  await expect(whileHeld(held, async (still) => void (await still(Promise.reject(new Error("no answer")))))).rejects.toThrow("no answer");
});
