import { expect, onTestFinished, test, vi } from "vitest";
import { askAgain, type AskingAgain } from "./ask-again.ts";

const answerMs = 100;

/** A question that fails with these, one after the other, and is answered then. Each answer takes 100 ms of a clock that is the test's. */
function setUp(
  failures: readonly unknown[],
  { withinMs = Infinity, ...change }: Partial<AskingAgain> & { readonly withinMs?: number } = {},
) {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const left = [...failures];
  const seen: unknown[] = [];
  let asked = 0;
  const ask = async (): Promise<string> => {
    asked++;
    vi.advanceTimersByTime(answerMs);
    if (left.length > 0) {
      throw left.shift() as Error;
    }
    return "answer";
  };
  const outcome = askAgain(ask, {
    mayPass: (error) => error !== "final",
    deadline: performance.now() + withinMs,
    pauseMs: 1,
    ended: new AbortController().signal,
    failed: (error) => void seen.push(error),
    ...change,
  }).catch((error: unknown) => ({ error }));
  return { outcome, seen, asked: () => asked };
}

test("a question that is answered is asked once, also after the deadline", async () => {
  const { outcome, asked } = setUp([], { withinMs: -1 });
  expect([await outcome, asked()]).toEqual(["answer", 1]);
});

test("a failure that may pass is reported, and the question asked again", async () => {
  const { outcome, seen, asked } = setUp(["first", "second"]);
  expect([await outcome, seen, asked()]).toEqual(["answer", ["first", "second"], 3]);
});

test("a failure that may not pass is the end, and is not reported as one that may", async () => {
  const { outcome, seen, asked } = setUp(["first", "final", "third"]);
  expect([await outcome, seen, asked()]).toEqual([{ error: "final" }, ["first"], 2]);
});

test("a failure after the deadline is the end", async () => {
  const { outcome, seen, asked } = setUp([1, 2, 3, 4], { withinMs: 2.5 * answerMs });
  expect([await outcome, seen, asked()]).toEqual([{ error: 3 }, [1, 2], 3]);
});

test.each([
  ["are the same, if the first one is not given", { pauseMs: 20 }, [20, 20, 20, 20, 20]],
  ["double from the first one up to that", { firstPauseMs: 10, pauseMs: 50 }, [10, 20, 40, 50, 50]],
])("pauses %s", async (_, pauses, expected) => {
  const passed: number[] = [];
  const { outcome, asked } = setUp([1, 2, 3, 4, 5], { ...pauses, pass: async (ms) => passed.push(ms) });
  expect([await outcome, asked(), passed]).toEqual(["answer", 6, expected]);
});

test("nothing is asked again when it is over, whatever is left of the pause", async () => {
  const end = new AbortController();
  const { outcome, asked } = setUp(["first"], { ended: end.signal, pauseMs: 60_000, failed: () => setImmediate(() => end.abort()) });
  expect(await outcome).toMatchObject({ error: { name: "AbortError" } });
  expect(asked()).toBe(1);
});
