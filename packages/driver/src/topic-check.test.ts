import { silentLogger } from "@cdckit/consumer";
import { expect, test } from "vitest";
import { Assignments, type HeldPartition } from "./assignments.ts";
import { TopicCheck } from "./topic-check.ts";

test("a broker that is late does not bring a deleted topic back: its partition would be read from the start over and over", async () => {
  const assignments = new Assignments<HeldPartition>({ hold: (held) => held, positionOf: () => null });
  const assign = (id: string): void => {
    assignments.add([{ topic: "t", partition: 0 }]).forEach((assignment) => (assignment.topicId = id));
    assignments.all().forEach((held) => (held.isStarting = false));
  };
  let answer = "new";
  let renewals = 0;
  const check = new TopicCheck({
    brokers: { topicIds: async () => new Map([["t", answer]]) },
    assignments,
    logger: silentLogger,
    recreated: () => {
      renewals++;
      assign("new");
    },
  });
  assign("old");
  expect([await check.look(), renewals]).toEqual([new Map([["t", "new"]]), 1]);
  answer = "old"; // of another broker
  expect([await check.look(), renewals]).toEqual([new Map(), 1]);
});
