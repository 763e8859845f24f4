import { expect, test } from "vitest";
import { readingEndOf, requireWhole } from "./whole-reading.ts";

test("the end of a reading has no partitions without records", () => {
  const partitions = [
    { partition: 0, startOffset: 5n, endOffset: 9n },
    { partition: 1, startOffset: 7n, endOffset: 7n },
  ];
  expect(readingEndOf({ partitions })).toEqual({ startOffsets: new Map([[0, 5n]]), endOffsets: new Map([[0, 9n]]) });
});

test("a reading that ran dry in front of records ends with exit code 4, and says how many offsets it lacks", () => {
  expect(() => requireWhole(["orders"], { unread: 0 })).not.toThrow();
  expect(() => requireWhole(["orders", "items"], { unread: 1_500 })).toThrow(
    expect.objectContaining({
      code: "too-few-messages",
      exitCode: 4,
      detail: expect.stringMatching(/^orders, items gave nothing for 10 s, 1,500 offsets in front of the end\. Brokers may be slow/),
    }),
  );
  expect(() =>
    requireWhole(["orders"], { unread: 5, waitsFor: { wait: { what: "the topic" }, cause: new Error("there is no topic orders") } }),
  ).toThrow("5 offsets in front of the end. The driver waits: there is no topic orders.");
});
