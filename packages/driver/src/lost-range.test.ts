import { expect, test } from "vitest";
import { DriverError, type MakeDriverError } from "./errors.ts";
import { lostRangeError, resumeOrFail } from "./lost-range.ts";

const makeError: MakeDriverError = (code, detail, options) => new DriverError(code, detail, options);
const lost = { topic: "orders", partition: 3, firstMissing: 5n, firstAvailable: 9n, end: 20n };

test("a lost range of the group says to set the group's offset", () => {
  expect(lostRangeError(makeError, lost, "g").message).toBe(
    "[offset-out-of-range] orders[3]: the records from 5 to 8 are gone, and group g has not handled them. Decide where to continue, and set the " +
      'group\'s offset (kafka-consumer-groups --reset-offsets); with failure.lostRange "earliest" the consumer continues after the lost records',
  );
});

test("a lost range of a sink says to set its checkpoint: the group's offset would change nothing", () => {
  const { message } = lostRangeError(makeError, lost, "g", "sink");
  expect(message).toContain("set the sink's checkpoint, because the partition starts there whatever the group's offset is");
  expect(message).not.toContain("reset-offsets");
});

test("a recreated topic says to set failure.lostRange only if topic ids let the consumer go on", () => {
  const withIds = lostRangeError(makeError, { ...lost, recreated: { from: "old", to: "new" } }, "g").message;
  const withoutIds = lostRangeError(makeError, { ...lost, recreated: { from: null, to: null } }, "g").message;
  expect([withIds, withoutIds].map((message) => message.includes("failure.lostRange"))).toEqual([true, false]);
  expect(withoutIds).toContain("is one of the old topic. To decide by hand, set the group's offset");
  expect([withIds, withoutIds].map((message) => message.includes("copied from another cluster"))).toEqual([true, false]);
});

test.each([
  ["a sink whose checkpoints decide", { startAt: async () => [] }, "set the sink's checkpoint"],
  ["a group alone", {}, "set the group's offset"],
])("a range that is lost amid reading ends the session if nothing else was chosen, with the advice for %s", (_who, starts, advice) => {
  const failures: string[] = [];
  const fail = ({ message }: Error): void => void failures.push(message);
  expect(resumeOrFail(lost, { groupId: "g", ...starts }, makeError, fail)).toBe(null);
  expect(failures).toEqual([expect.stringContaining(advice)]);
  expect(resumeOrFail(lost, { groupId: "g", lostRange: "earliest", ...starts }, makeError, fail)).toBe(9n);
  expect(failures.length).toBe(1);
});
