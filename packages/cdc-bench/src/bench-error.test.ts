import { expect, test } from "vitest";
import { BenchError, sentenceOf } from "./bench-error.ts";

test.each([
  [new BenchError("connection", "the broker is away.").message, "the broker is away."],
  [new BenchError("connection", "the broker is away").message, "the broker is away."],
  ["[not-found] there is no t. Did you mean T?", "there is no t. Did you mean T?"],
  ["connect ECONNREFUSED [::1]:9092", "connect ECONNREFUSED [::1]:9092."],
])("%j is said to the user as %j", (message, sentence) => {
  expect(sentenceOf(message)).toBe(sentence);
});
