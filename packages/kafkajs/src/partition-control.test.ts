import type { Consumer } from "kafkajs";
import { expect, test } from "vitest";
import { HeldPartitions } from "./assignments.ts";
import { PartitionControl } from "./partition-control.ts";

/** Two partitions that have started, and what kafkajs was calls of them. Like kafkajs, it throws while it has no group. */
function setUp() {
  const calls: string[] = [];
  let hasGroup = true;
  const tell = (what: string): void => {
    if (!hasGroup) {
      throw new Error("Consumer group was not initialized, consumer#run must be called first");
    }
    calls.push(what);
  };
  const names = (places: readonly { readonly topic: string; readonly partitions: readonly number[] }[]): string =>
    places.map(({ topic, partitions }) => `${topic}[${partitions.join()}]`).join(" ");
  const consumer = {
    pause: (places: never) => tell(`pause ${names(places)}`),
    resume: (places: never) => tell(`resume ${names(places)}`),
    seek: ({ topic, partition, offset }: { topic: string; partition: number; offset: string }) =>
      tell(`seek ${topic}[${partition}] ${offset}`),
  } as unknown as Consumer; // as much as is asked
  const assignments = new HeldPartitions();
  const control = new PartitionControl(consumer, assignments);
  const held = assignments.heldOf(assignments.renew({ t: [0, 1] }));
  for (const one of held) {
    one.isStarting = false;
  }
  return { calls, control, held, loseGroup: () => (hasGroup = false) };
}

test("while kafkajs has no group, nothing is asked of it, and nothing throws", () => {
  const { calls, control, held, loseGroup } = setUp();
  const [first] = held;
  if (first === undefined) {
    throw new Error("expected the partitions that were assigned");
  }
  control.joined();
  control.setPaused([first.assignment], true);
  expect(calls.splice(0)).toEqual(["pause t[0]"]);
  loseGroup();
  control.left();
  control.setPaused([first.assignment], false);
  control.hold(first, true);
  control.holdAll();
  control.refuse({ t: [2] });
  control.start(first, { assignment: first.assignment, offset: 7n, committed: null, skipped: null });
  expect(calls).toEqual([]);
  expect(first).toMatchObject({ isPaused: false, isHeld: true, expected: 7n });
});

test("all partitions are held at once, and a resume of the consumer's does not let them go", () => {
  const { calls, control, held } = setUp();
  control.joined();
  control.holdAll();
  control.setPaused(
    held.map(({ assignment }) => assignment),
    false,
  );
  expect(calls).toEqual(["pause t[0] t[1]", "pause t[0]", "pause t[1]"]);
});
