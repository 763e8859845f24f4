import { expect, test } from "vitest";
import { Assignments, type HeldPartition } from "./assignments.ts";
import { giveUp } from "./give-up.ts";

/** Two partitions, and what was reported to the consumer. */
function setUp() {
  const assignments = new Assignments<HeldPartition>({ hold: (held) => held, positionOf: () => null });
  assignments.add([0, 1].map((partition) => ({ topic: "t", partition })));
  const reported: string[] = [];
  let letGo = (): void => {};
  const isLetGo = new Promise<void>((resolve) => (letGo = resolve));
  const revoked = (going: readonly { readonly partition: number }[], how: string): Promise<void> => {
    reported.push(`${how} ${going.map(({ partition }) => partition).join()}`);
    return isLetGo;
  };
  return { assignments, reported, letGo, parts: { sink: { revoked }, assignments } };
}

test("a revoked partition is held until the consumer has let go of it, because it still commits", async () => {
  const { assignments, reported, letGo, parts } = setUp();
  const given = giveUp(parts, assignments.all().slice(0, 1), "revoked");
  expect([reported, assignments.current().length]).toEqual([["revoked 0"], 2]);
  letGo();
  await given;
  expect(assignments.current().map(({ partition }) => partition)).toEqual([1]);
});

test("what is lost while the consumer lets go of it is reported again, and what is revoked twice is not", async () => {
  const { assignments, reported, letGo, parts } = setUp();
  const all = assignments.all();
  const given = [giveUp(parts, all.slice(0, 1), "revoked"), giveUp(parts, all, "revoked"), giveUp(parts, all, "lost")];
  expect(reported).toEqual(["revoked 0", "revoked 1", "lost 0,1"]);
  expect(assignments.current()).toEqual([]);
  letGo();
  await Promise.all(given);
});

test("a partition that is assigned again while the consumer lets go of it stays", async () => {
  const { assignments, letGo, parts } = setUp();
  const given = giveUp(parts, assignments.all().slice(0, 1), "revoked");
  const [renewed] = assignments.add([{ topic: "t", partition: 0 }]);
  letGo();
  await given;
  expect(assignments.current()).toContain(renewed);
});
