import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { bounded, untilAborted } from "./bounded.ts";
import { sharedAbortController } from "./shared-abort-controller.ts";

test("any number of waits may end with one signal, and Node does not warn of them", async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning);
  process.on("warning", onWarning);
  const closed = sharedAbortController();
  const { signal } = closed;
  const never = new Promise<void>(() => {});
  const late = (): Error => new Error("late");
  const waits = Array.from({ length: 20 }, () => [
    bounded(never, 60_000, late, signal),
    untilAborted(never, signal),
    delay(60_000, undefined, { signal }),
  ]);
  closed.abort(new Error("closed"));
  const ends = await Promise.allSettled(waits.flat());
  expect(new Set(ends.map((end) => (end.status === "rejected" ? String(end.reason) : end.status)))).toEqual(
    new Set(["Error: closed", "fulfilled", "AbortError: The operation was aborted"]),
  );
  await new Promise((resolve) => setImmediate(resolve)); // a warning is told of in a later turn
  process.off("warning", onWarning);
  expect(warnings).toEqual([]);
});
