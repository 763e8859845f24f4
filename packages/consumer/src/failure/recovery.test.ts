import { RecordArrayBatch, recordOf, virtualClock } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { Fence } from "../delivery/fence.ts";
import { Lease } from "../delivery/lease.ts";
import { Counters } from "../observe/counters.ts";
import { silentLogger } from "../observe/logger.ts";
import { Waits } from "../observe/waits.ts";
import { type FailureOptions, resolveFailureOptions } from "./failure-options.ts";
import type { Failure } from "./failure.ts";
import { Recovery } from "./recovery.ts";
import { noTries, type Tries } from "./retry-policy.ts";

function setUp(options: FailureOptions = {}) {
  const clock = virtualClock();
  const waits = new Waits({ clock, logger: silentLogger });
  const fence = new Fence(clock, new Lease({ clock, wait: (wait) => waits.open(wait) }));
  const counters = new Counters();
  const recovery = new Recovery({
    groupId: "g",
    options: resolveFailureOptions(options),
    clock,
    random: () => 1,
    counters,
    logger: silentLogger,
    waits,
    hostOf: () => undefined,
    deadLetters: null,
  });
  return {
    counters,
    fence,
    waits,
    /** What becomes of a handler that failed in this way. */
    failWith: (error: unknown, tries: Tries = noTries()): string =>
      recovery.recover({
        failure: failureWith(error),
        tries,
        fence,
        giveUp: () => "gives up",
        retryAfter: (delayMs) => `retries after ${delayMs} ms`,
        isolate: null,
        setAside: () => "is set aside",
        halt: ({ message }) => `halts: ${message}`,
      }),
  };
}

function failureWith(error: unknown): Failure {
  const assignment = { topic: "t", partition: 0, epoch: 1 };
  const batch = new RecordArrayBatch({ assignment, records: [recordOf(Buffer.from("v"), { topic: "t", partition: 0, offset: 5n })] });
  return { stage: "handle", error, place: { assignment, batch, record: 0, ordinal: 1 }, event: null, sink: null, through: null };
}

describe("failed work", () => {
  test("is retried while attempts are left, and halts the consumer after the last one", () => {
    const { failWith, counters, waits } = setUp({ retry: { attempts: 3, initialDelayMs: 100, jitter: "none" } });
    const tries = noTries();
    const outcomes = [1, 2, 3].map(() => failWith(new Error("no"), tries));
    expect(outcomes).toEqual(["retries after 100 ms", "retries after 200 ms", expect.stringContaining("halts: [handler-failed]")]);
    expect(counters.retries).toBe(2);
    expect(waits.report()).toEqual([]);
  });

  test("has an open wait until its next attempt", () => {
    const { failWith, waits } = setUp();
    failWith(new Error("no"));
    expect(waits.report()).toMatchObject([{ what: "a handler", place: "t[0]@5", failures: 1 }]);
  });

  test("of a record that is to blame is set aside", () => {
    const { failWith } = setUp({ poison: "dead-letter", deadLetterTopic: "dead" });
    expect(failWith(new TypeError("no"))).toBe("is set aside");
  });

  test("is given up if its partition is fenced, before anything is decided or counted", () => {
    const { failWith, fence, counters } = setUp({ poison: "dead-letter", deadLetterTopic: "dead" });
    fence.close();
    const tries = noTries();
    expect([failWith(new TypeError("no"), tries), failWith(new Error("no"), tries)]).toEqual(["gives up", "gives up"]);
    expect([tries.failures, counters.retries]).toEqual([0, 0]);
  });

  test("halts the consumer if the decision itself fails", () => {
    const { failWith } = setUp({
      isRetriable: () => {
        throw new Error("broken");
      },
    });
    expect(failWith(new Error("no"))).toContain("halts: [callback-failed]");
  });
});
