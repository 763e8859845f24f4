import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { DriverError } from "./errors.ts";
import { MissingTopics } from "./missing-topics.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** What the brokers answer about `orders`, one after the other; the last one stays. `null`: there is none. `undefined`: no answer. */
function setUp(answers: readonly (string | null | undefined)[], isAwaited = true) {
  const events: string[] = [];
  const reported: string[] = [];
  const left = [...answers];
  let questions = 0;
  const topicIds = async () => {
    questions++;
    const id = left.length > 1 ? left.shift() : left[0];
    if (id === undefined) {
      throw new Error("no broker answers");
    }
    return new Map([["orders", id]]);
  };
  const waiting = ({ what, place }: { readonly what: string; readonly place?: string | null }) => {
    events.push(`${what} ${place}`);
    return { failed: (cause: unknown) => events.push((cause as DriverError).code), end: () => events.push("ended") };
  };
  const missing = new MissingTopics({
    brokers: { topicIds },
    asked: () => ["orders"],
    awaited: new Set(isAwaited ? ["orders"] : []),
    answered: (missingNow) => reported.push([...missingNow].join()),
    sink: { waiting },
    host: "b:1",
    intervalMs: 60_000,
    makeError: (code, detail) => new DriverError(code, detail),
  });
  return { missing, events, reported, questions: () => questions };
}

test("a topic that two answers do not have is waited for until there is one of its name again", async () => {
  const { missing, events, questions } = setUp([null, null, null, "new"]);
  missing.look();
  await vi.advanceTimersByTimeAsync(900);
  expect(events.splice(0)).toEqual([]);
  await vi.advanceTimersByTimeAsync(1_100);
  expect(events.splice(0)).toEqual(["the topic orders", "topic-missing", "topic-missing"]);
  await vi.advanceTimersByTimeAsync(30_000);
  expect([events.splice(0), questions()]).toEqual([["ended"], 4]);
  missing.stop();
});

test("an answer of a broker that is late begins no wait, and no answer ends none", async () => {
  const { missing, events } = setUp([null, "old", null, null, undefined]);
  missing.look();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(events).toEqual([]);
  missing.look();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(events.splice(0)).toEqual(["the topic orders", "topic-missing"]);
  missing.stop();
  expect(events).toEqual(["ended"]);
});

test("the brokers are asked at the interval as long as nothing is missing, and no more after the end", async () => {
  const { missing, questions } = setUp(["id"]);
  missing.start();
  await vi.advanceTimersByTimeAsync(125_000);
  expect(questions()).toBe(2);
  missing.stop();
  await vi.advanceTimersByTimeAsync(125_000);
  expect(questions()).toBe(2);
});

test("it is reported what to leave out from the second answer on, and of what is there again", async () => {
  const { missing, reported } = setUp([null, null, null, "new"]);
  missing.look();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(reported).toEqual(["", "orders", "orders", ""]);
  missing.stop();
});

test("a topic that nobody named may go for good: it is no wait, and asked about as seldom as before", async () => {
  const { missing, events, reported, questions } = setUp([null], false);
  missing.look();
  await vi.advanceTimersByTimeAsync(30_000);
  expect([events, reported, questions()]).toEqual([[], ["", "orders"], 2]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(questions()).toBe(3);
  missing.stop();
});
