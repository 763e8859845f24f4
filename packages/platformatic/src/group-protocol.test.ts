import { expect, test } from "vitest";
import { readAssignment, readSubscription, writeAssignment, writeSubscription } from "./group-protocol.ts";

const places = [
  { topic: "a", partition: 0 },
  { topic: "a", partition: 3 },
  { topic: "ä", partition: 1 },
];

test("a subscription and an assignment are read as they were written", () => {
  const subscription = { topics: ["a", "ä"], owned: places, generation: 7 };
  expect(readSubscription(writeSubscription(subscription))).toEqual(subscription);
  expect(readAssignment(writeAssignment(places))).toEqual(places);
  expect(readAssignment(Buffer.alloc(0))).toEqual([]);
});

test("a subscription of version 0 holds nothing and names no generation", () => {
  // version 0, one topic "a", user data of two bytes
  expect(readSubscription(Buffer.from("0000000000010001610000000200ff", "hex"))).toEqual({ topics: ["a"], owned: [], generation: -1 });
});

test("a subscription of version 3, with a rack after what is known, is read", () => {
  // version 3, topic "a", no user data, owned a[2], generation 5, rack "r"
  const bytes = Buffer.from("00030000000100016" + "1ffffffff0000000100016100000001000000020000000500017" + "2", "hex");
  expect(readSubscription(bytes)).toEqual({ topics: ["a"], owned: [{ topic: "a", partition: 2 }], generation: 5 });
});

test("one that is cut, or claims more than it has, is an error and not a part", () => {
  const bytes = writeSubscription({ topics: ["a"], owned: places, generation: 7 });
  for (const length of [1, 5, 8, 20, bytes.length - 30]) {
    expect(() => readSubscription(bytes.subarray(0, length))).toThrow(RangeError);
  }
  const endless = Buffer.from("00017fffffff", "hex");
  expect(() => readSubscription(endless)).toThrow(RangeError);
});
