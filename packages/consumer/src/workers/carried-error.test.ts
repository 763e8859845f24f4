import { DecodeError, isDecodeError } from "@cdckit/decode";
import { describe, expect, test } from "vitest";
import { ConsumerError, isConsumerError } from "../errors.ts";
import { causeText } from "../observe/cause-text.ts";
import { carryError, toCarriedError } from "./carried-error.ts";

/** What the other thread gets. */
const carried = (error: unknown): Error => toCarriedError(structuredClone(carryError(error)));

function revokedList(): unknown {
  const { proxy, revoke } = Proxy.revocable([], {});
  revoke();
  return proxy;
}

describe("an error that crosses to another thread", () => {
  const at = { topic: "orders", partition: 3, offset: 2n ** 60n };

  test("keeps its brand, code, place, stack and causes", () => {
    const cause = new DecodeError("malformed", "a varint without an end", { at, cause: new TypeError("deepest") });
    const error = new ConsumerError("handler-failed", "a handler failed", { cause, at });
    const back = carried(error);
    expect(isConsumerError(back) && back.code).toBe("handler-failed");
    expect([back.name, back.message, back.stack]).toEqual([error.name, error.message, error.stack]);
    expect(isConsumerError(back) && back.at).toEqual(at);
    expect(isDecodeError(back.cause) && [back.cause.code, back.cause.retriable]).toEqual(["malformed", false]);
    expect((back.cause as Error).cause).toMatchObject({ name: "TypeError", message: "deepest" });
  });

  test("has the same JSON form, offsets as text", () => {
    const error = new ConsumerError("handler-failed", "a handler failed", { at });
    expect(JSON.parse(JSON.stringify(carried(error)))).toEqual(JSON.parse(JSON.stringify(error)));
  });

  test("of a client leaves its requests and its functions behind, and keeps its code", () => {
    const error = Object.assign(new Error("refused"), { code: "ECONNREFUSED", request: { password: "secret" }, retry: () => {} });
    expect({ ...carried(error) }).toEqual({ code: "ECONNREFUSED" });
    expect(isConsumerError(carried(error))).toBe(false);
  });

  test.each<[string, unknown]>([
    ["undefined", undefined],
    ["a text", "no error"],
    [
      "nothing to read",
      new Proxy(
        {},
        {
          get: () => {
            throw new Error("trap");
          },
        },
      ),
    ],
    [
      "an own field named like the prototype",
      Object.defineProperty(new Error("x"), "__proto__", { value: { polluted: true }, enumerable: true }),
    ],
    [
      "a getter that throws",
      Object.defineProperty(new Error("x"), "code", {
        get: () => {
          throw new Error("getter");
        },
        enumerable: true,
      }),
    ],
    [
      "a proxy whose members cannot be listed",
      new Proxy(new Error("x"), {
        ownKeys: () => {
          throw new Error("trap");
        },
      }),
    ],
    ["a revoked list of errors", Object.assign(new Error("x"), { errors: revokedList() })],
    ["a field named toJSON", Object.assign(new Error("x"), { toJSON: "no function" })],
  ])("%s arrives as an error, whatever was thrown", (_name, thrown) => {
    const back = carried(thrown);
    expect(back).toBeInstanceOf(Error);
    expect(Object.getPrototypeOf(back)).toBe(Error.prototype);
    expect(typeof back.message).toBe("string");
  });

  test("of a host that refuses on each of its addresses says what causeText reads of it", () => {
    const refused = (address: string): Error => Object.assign(new Error(`connect ECONNREFUSED ${address}`), { code: "ECONNREFUSED" });
    const cause = new AggregateError([refused("127.0.0.1:8081"), refused("::1:8081")], "");
    const error = new ConsumerError("handler-failed", "a handler failed", { cause: new TypeError("fetch failed", { cause }) });
    expect(causeText(carried(error))).toBe(causeText(error));
    expect(causeText(error)).toContain("connect ECONNREFUSED 127.0.0.1:8081");
    const aggregate = ((carried(error).cause as Error).cause as AggregateError).errors as readonly Error[];
    expect(aggregate.map(({ message }) => message)).toEqual(cause.errors.map(({ message }: Error) => message));
  });

  test("that is one of its own errors, many times, is still sent", () => {
    const error = new AggregateError([], "loop");
    error.errors = Array.from({ length: 10_000 }, () => error);
    expect(JSON.stringify(carryError(error)).length).toBeLessThan(1_000_000);
  });

  test("that is its own cause ends somewhere", () => {
    const error = new Error("loop");
    error.cause = error;
    let depth = 0;
    for (let each: unknown = carried(error); each instanceof Error; each = each.cause) {
      depth++;
    }
    expect(depth).toBe(9);
  });
});
