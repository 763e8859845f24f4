import { expect, test } from "vitest";
import { lostRangeError } from "./lost-range.ts";

const lost = { topic: "orders", partition: 3, firstMissing: 5n, firstAvailable: 9n, end: 20n };

test("a lost range of the group says to set the group's offset", () => {
  expect(lostRangeError(lost, "g").message).toBe(
    "[offset-out-of-range] orders[3]: the records from 5 to 8 are gone, and group g has not handled them. Decide where to go on, and set the " +
      'group\'s offset (kafka-consumer-groups --reset-offsets); failure.lostRange "earliest" goes on behind what is gone',
  );
});

test("a lost range of a sink says to set its checkpoint: the group's offset would change nothing", () => {
  const { message } = lostRangeError(lost, "g", "sink");
  expect(message).toContain("set the sink's checkpoint, where the partition starts whatever the group's offset is");
  expect(message).not.toContain("reset-offsets");
});
