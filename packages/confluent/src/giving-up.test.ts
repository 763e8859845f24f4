import { ProbeSink } from "@cdckit/testkit";
import { expect, test } from "vitest";
import { heldPartitions } from "./assignments.ts";
import { GivingUp } from "./giving-up.ts";
import type { PartitionControl } from "./partition-control.ts";

test("partitions that a refused commit has shown to be lost stay held until the client asks for them, and go back to it then", async () => {
  const assignments = heldPartitions();
  assignments.add([{ topic: "t", partition: 0 }]);
  const sink = new ProbeSink();
  const letGo: string[] = [];
  const control = {
    asked: () => {},
    letGo: (going) => going.forEach(({ assignment: { topic, partition } }) => letGo.push(`${topic}[${partition}]`)),
  } as Pick<PartitionControl, "asked" | "letGo"> as PartitionControl; // as much as is called
  const givingUp = new GivingUp({ sink, assignments, control, isOver: () => false });
  givingUp.all();
  expect(sink.revocations.map(({ how }) => how)).toEqual(["lost"]);
  const held = assignments.at("t", 0);
  expect(held?.isOver).toBe(true);
  await givingUp.some(held === undefined ? [] : [held], "revoked");
  expect(letGo).toEqual(["t[0]"]);
  expect([sink.revocations.length, assignments.all().length]).toEqual([1, 0]);
});
