import { describe, expect, test } from "vitest";
import { DecodeError, isDecodeError } from "./errors.ts";

describe("DecodeError", () => {
  test("begins its message with its code, so that logs show it", () => {
    expect(new DecodeError("truncated", "expected 4 bytes, found 2").message).toBe("[truncated] expected 4 bytes, found 2");
  });

  test("is recognised across copies of the package by its brand, not its class", () => {
    const foreign = Object.assign(new Error("x"), { [Symbol.for("@cdckit/decode/DecodeError")]: true });
    expect(isDecodeError(foreign)).toBe(true);
    expect(isDecodeError(new Error("x"))).toBe(false);
  });

  test("keeps the first coordinates that are set", () => {
    const error = new DecodeError("malformed", "x").locatedAt({ topic: "t", partition: 1, offset: 7n });
    expect(error.at).toEqual({ topic: "t", partition: 1, offset: 7n });
    expect(error.locatedAt({ topic: "u", partition: 2, offset: 8n })).toBe(error);
  });

  test("only an unreachable registry is retriable", () => {
    expect(new DecodeError("schema-unavailable", "x").retriable).toBe(true);
    expect(new DecodeError("schema-not-found", "x").retriable).toBe(false);
  });
});
