import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RegistryError } from "./errors.ts";
import { pauseMs, withRetry } from "./retry.ts";
import { readRetryAfterMs } from "./retry-after.ts";
import { TestClock } from "./registry-server.contract.ts";

const policy = { attempts: 5, baseDelayMs: 100, maxDelayMs: 1_000 };
const mayPass = new RegistryError("unavailable", "x");

describe("the pause before asking again", () => {
  test("is a random part of a bound that doubles up to the longest", () => {
    const pauses = [1, 2, 3, 4, 5, 6].map((attempt) => pauseMs(policy, attempt, mayPass, () => 1));
    expect(pauses).toEqual([100, 200, 400, 800, 1_000, 1_000]);
    expect(pauseMs(policy, 3, mayPass, () => 0)).toBe(0);
  });

  test("is never longer than the longest, and never shorter than what was asked for within it", () => {
    const part = fc.double({ min: 0, max: 1, noNaN: true });
    const property = fc.property(fc.integer({ min: 1, max: 2_000 }), fc.nat(10_000_000), part, (attempt, retryAfterMs, random) => {
      const pause = pauseMs(policy, attempt, new RegistryError("unavailable", "x", { retryAfterMs }), () => random);
      expect(pause).toBeLessThanOrEqual(policy.maxDelayMs);
      expect(pause).toBeGreaterThanOrEqual(Math.min(retryAfterMs, policy.maxDelayMs));
    });
    fc.assert(property);
  });
});

describe("asking again", () => {
  const tools = () => ({
    clock: new TestClock(),
    random: () => 0.5,
    closed: new AbortController().signal,
    onPause: () => undefined,
    onRetry: () => undefined,
  });

  test("ends with the first success", async () => {
    let asked = 0;
    const answer = await withRetry(policy, tools(), async () => (++asked < 4 ? Promise.reject(mayPass) : "there"));
    expect([answer, asked]).toEqual(["there", 4]);
  });

  test("does not happen to what is final, nor to a fault of our own", async () => {
    for (const error of [new RegistryError("refused", "x"), new RegistryError("not-found", "x"), new TypeError("bug")]) {
      let asked = 0;
      const asking = withRetry(policy, tools(), async () => {
        asked++;
        throw error;
      });
      await expect(asking).rejects.toBe(error);
      expect(asked).toBe(1);
    }
  });
});

describe("Retry-After", () => {
  const wallMs = Date.UTC(2026, 0, 1);

  test.each([
    ["120", undefined, 120_000],
    [" 0 ", undefined, 0],
    ["Thu, 01 Jan 2026 00:01:00 GMT", undefined, 60_000],
    ["Thu, 01 Jan 2026 00:01:00 GMT", "Thu, 01 Jan 2026 00:00:59 GMT", 1_000],
    ["Wed, 31 Dec 2025 00:00:00 GMT", undefined, 0],
    ["-5", undefined, undefined],
    ["soon", undefined, undefined],
    ["", undefined, undefined],
  ])("%j, sent at %j, is %s ms", (retryAfter, date, expected) => {
    const headers = new Headers({ "retry-after": retryAfter, ...(date === undefined ? {} : { date }) });
    const given = readRetryAfterMs(headers, wallMs);
    expect(given).toBe(expected);
  });

  test("that is absent says nothing", () => {
    expect(readRetryAfterMs(new Headers(), wallMs)).toBeUndefined();
  });
});
