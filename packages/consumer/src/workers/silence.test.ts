import { expect, test } from "vitest";
import { Silence } from "./silence.ts";

const onTime = { intervalMs: 1_000, lateMs: 0 };

/** After how many intervals a silent thread has failed. */
function looksUntilFailed(silence: Silence, phase: "connecting" | "running", look = onTime): number {
  for (let looks = 1; ; looks++) {
    silence.passed(look);
    if (silence.isTooLong(phase)) {
      return looks;
    }
  }
}

test("a thread that was running has failed after stuckAfterMs, and the error names more than one cause", () => {
  const silence = new Silence(6_000);
  expect(looksUntilFailed(silence, "running")).toBe(7);
  expect(silence.textOf("running")).toBe(
    "has said nothing for 6000 ms while it was running, so its partitions are read by nobody: a handler, or other code on that thread, blocks its " +
      "event loop, or the machine gives the thread too little CPU time; yield in the handler, give the process more CPU time or fewer workers, or " +
      "raise health.stuckAfterMs",
  );
});

test("a thread that was not running yet holds no partition: it has 40 s at least, and no handler is named", () => {
  const silence = new Silence(6_000);
  expect(looksUntilFailed(silence, "connecting")).toBe(41);
  expect(silence.textOf("connecting")).toBe(
    "has said nothing for 40000 ms while it was connecting: code that sets up or connects its consumer blocks its event loop, or the machine gives " +
      "the thread too little CPU time; yield in that code, or give the process more CPU time or fewer workers",
  );
  expect(looksUntilFailed(new Silence(60_000), "connecting")).toBe(61);
});

test("a thread has the time again that the process stood still, and the error says for how long", () => {
  const silence = new Silence(6_000);
  silence.passed({ intervalMs: 1_000, lateMs: 4_000 });
  expect(looksUntilFailed(silence, "running")).toBe(10);
  expect(silence.textOf("running")).toContain(
    "has said nothing for 10000 ms, and for 4000 ms more in which the whole process stood still or had too little CPU time, while it was running",
  );
});

test("a thread fails in the end, also if the thread that watches it is late each time", () => {
  expect(looksUntilFailed(new Silence(6_000), "running", { intervalMs: 1_000, lateMs: 5_000 })).toBe(13);
});

test("a thread that says something has all of its time again", () => {
  const silence = new Silence(6_000);
  expect(looksUntilFailed(silence, "running", { intervalMs: 1_000, lateMs: 500 })).toBeGreaterThan(7);
  silence.heard();
  expect(looksUntilFailed(silence, "running")).toBe(7);
});

test("health names a silence within 5 seconds, and no longer when the thread speaks again", () => {
  const silence = new Silence(40_000);
  const reasons = Array.from({ length: 4 }, () => {
    silence.passed(onTime);
    return silence.reasonIn("running");
  });
  expect(reasons).toEqual([
    null,
    null,
    null,
    "it has said nothing for 4 s while it was running, so its partitions are read by nobody: a handler, or other code on that thread, blocks its " +
      "event loop, or the machine gives the thread too little CPU time",
  ]);
  silence.heard();
  expect(silence.reasonIn("running")).toBeNull();
});

test("health names a thread that loads its module, and for how long", () => {
  const silence = new Silence(40_000);
  Array.from({ length: 12 }, () => silence.passed(onTime));
  expect(silence.reasonIn(null)).toBe(
    "it has been loading its module for 12 s: the module's own code, or the function that makes the consumer, has not ended",
  );
});
