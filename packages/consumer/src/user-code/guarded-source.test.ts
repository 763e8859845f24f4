import type { SchemaSource } from "@cdckit/decode";
import { expect, test } from "vitest";
import { guardedSource } from "./guarded-decoder.ts";

const source: SchemaSource = { peek: () => undefined, load: () => Promise.reject(new Error("busy")) };

test("a report has what a source of the user's says of its last failure, and nothing if it says nothing or throws", () => {
  const busy = new Error("busy");
  const lastFailureOf = (lastFailure?: () => unknown): unknown =>
    guardedSource(lastFailure === undefined ? source : { ...source, lastFailure }).lastFailure?.(7);
  const throwing = (): never => {
    throw new Error("it lies");
  };
  expect([lastFailureOf(() => busy), lastFailureOf(), lastFailureOf(throwing)]).toEqual([busy, undefined, undefined]);
});
