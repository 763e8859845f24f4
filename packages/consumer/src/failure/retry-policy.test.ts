import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { FailureKind } from "./classify.ts";
import { backOffMs, type PolicyDecision, decideAfter, type DecisionPolicy, type RetryPolicy } from "./retry-policy.ts";

const retry: RetryPolicy = { attempts: 3, initialDelayMs: 100, maxDelayMs: 1_000, factor: 2, jitter: "none" };
const policy: DecisionPolicy = { retry, unknownSchemaGraceMs: 60_000 };

describe("back-off", () => {
  test("grows by the factor, up to its limit", () => {
    expect([1, 2, 3, 4, 5, 6].map((failures) => backOffMs(retry, failures, () => 0.5))).toEqual([100, 200, 400, 800, 1_000, 1_000]);
  });

  test("with full jitter it is between zero and the delay", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2_000 }), fc.double({ min: 0, max: 0.999, noNaN: true }), (failures, random) => {
        const delayMs = backOffMs({ ...retry, jitter: "full" }, failures, () => random);
        expect(delayMs).toBeGreaterThanOrEqual(0);
        expect(delayMs).toBeLessThanOrEqual(backOffMs(retry, failures, () => 0));
      }),
    );
  });
});

describe("what becomes of a failed record", () => {
  test("the delays of an outage grow, whatever else the record has failed with", () => {
    const delays = [1, 2, 3, 30].map((outages) =>
      decideAfter("outage", { failures: 2, outages, firstFailedMs: 0, wait: null }, 0, policy, () => 0),
    );
    expect(delays).toEqual([100, 200, 400, 1_000].map((delayMs) => ({ kind: "retry", delayMs })));
  });

  // Early: the first failure. Late: attempts and grace are used up.
  const table = {
    outage: { early: "retry", late: "retry" },
    "unknown-schema": { early: "retry", late: "poison" },
    permanent: { early: "halt", late: "halt" },
    transient: { early: "retry", late: "halt" },
    unclear: { early: "retry", late: "poison" },
    poison: { early: "poison", late: "poison" },
  } satisfies Record<FailureKind, Record<"early" | "late", PolicyDecision["kind"]>>;

  for (const [kind, { early, late }] of Object.entries(table) as [FailureKind, (typeof table)[FailureKind]][]) {
    test(`${kind}: ${early}, and in the end ${late}`, () => {
      const policyDecision = (failures: number, nowMs: number): string =>
        decideAfter(kind, { failures, outages: failures, firstFailedMs: 0, wait: null }, nowMs, policy, () => 0).kind;
      expect(policyDecision(1, 0)).toBe(early);
      expect(policyDecision(3, 60_000)).toBe(late);
    });
  }
});
