import process from "node:process";
import { expect, test } from "vitest";
import { bounded } from "./bounded.ts";

test("any number of waits may end with one signal, and Node does not warn of them", async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning);
  process.on("warning", onWarning);
  const closed = new AbortController();
  const late = (): Error => new Error("late");
  const waits = Array.from({ length: 20 }, () => bounded(new Promise(() => {}), 60_000, late, closed.signal));
  closed.abort(new Error("closed"));
  const ends = await Promise.allSettled(waits);
  expect(new Set(ends.map((end) => (end.status === "rejected" ? String(end.reason) : end.status)))).toEqual(new Set(["Error: closed"]));
  await new Promise((resolve) => setImmediate(resolve)); // a warning is told of in a later turn
  process.off("warning", onWarning);
  expect(warnings).toEqual([]);
});
