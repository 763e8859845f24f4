import type { TableName } from "@cdckit/decode";
import { expect, test } from "vitest";
import { TableMemo } from "./table-memo.ts";

/** A memo whose answers are numbered in the order in which they are made. */
function numbered(): { readonly memo: TableMemo<number>; readonly made: () => number } {
  let made = 0;
  return { memo: new TableMemo(() => ++made), made: () => made };
}

function inTopic(topic: string) {
  return { record: { topic } };
}

test("an answer is made once for a table, whatever comes between", () => {
  const { memo, made } = numbered();
  const answers = ["a", "b", "a", "a", "b"].map((name) => memo.answerFor({ schema: "s", name }, inTopic("t")));
  expect(answers).toEqual([1, 2, 1, 1, 2]);
  expect(made()).toBe(2);
});

test("tables are told apart whose names have the same letters, and no table has an answer of its own", () => {
  const { memo } = numbered();
  const tables: readonly (TableName | null)[] = [
    { schema: "a", name: "b.c" },
    { schema: "a.b", name: "c" },
    { database: "a", schema: "b", name: "c" },
    { database: "ab", name: "c" },
    { schema: "a\0b", name: "c" },
    { schema: "a", name: "b\0c" },
    { database: null, schema: null, name: null } as never, // of a decoder of the user's
    null,
  ];
  expect(tables.map((table) => memo.answerFor(table, inTopic("t")))).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  expect(tables.map((table) => memo.answerFor(table, inTopic("t")))).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});

test("answers depend on the topic only if that is asked for", () => {
  const table = { schema: "s", name: "a" };
  const { memo } = numbered();
  expect(["t", "u"].map((topic) => memo.answerFor(table, inTopic(topic)))).toEqual([1, 1]);
  const { memo: asking } = numbered();
  asking.askTopics();
  expect(["t", "u", "t"].map((topic) => asking.answerFor(table, inTopic(topic)))).toEqual([1, 2, 1]);
  expect(["t", "u", "t"].map((topic) => asking.answerFor(null, inTopic(topic)))).toEqual([3, 4, 3]);
});

test("the record of an event is not asked for where no answer depends on its topic: it would be made for each event", () => {
  const { memo } = numbered();
  const event = {
    get record(): never {
      throw new Error("the record was asked for");
    },
  };
  expect([memo.answerFor(null, event), memo.answerFor(null, event)]).toEqual([1, 1]);
});

test("names from the wire do not fill the memory: neither many nor long ones are kept", () => {
  const { memo, made } = numbered();
  for (let i = 0; i < 10_001; i++) {
    memo.answerFor({ schema: "s", name: `t${i}` }, inTopic("t"));
  }
  memo.answerFor({ schema: "s", name: "t0" }, inTopic("t"));
  expect(made()).toBe(10_002);

  const long = { schema: "s", name: "x".repeat(1_001) };
  expect(memo.answerFor(long, inTopic("t"))).toBe(memo.answerFor({ ...long }, inTopic("t"))); // it is the last one
  memo.answerFor({ schema: "s", name: "t0" }, inTopic("t"));
  memo.answerFor(long, inTopic("t"));
  expect(made()).toBe(10_004);
});
