import type { CdcEvent } from "@cdckit/decode";
import { expect, test } from "vitest";
import { systemClock } from "../clock.ts";
import { UserFunctions } from "../user-code/user-functions.ts";
import { HandlerObserver } from "./handler-observer.ts";

test("a handler is called once, also by telemetry that makes the call later", async () => {
  const late = { run: <T>(call: () => T): T => setImmediate(call) as unknown as T, end: () => {} };
  const observer = new HandlerObserver("g", systemClock, { detach: (start) => start(), begin: () => late }, new UserFunctions());
  let calls = 0;
  const { handle } = observer.around({ kind: "each", handle: () => void calls++ });
  void handle({} as CdcEvent & readonly CdcEvent[]); // nothing of it is read
  expect(calls).toBe(1);
  await new Promise((resolve) => setImmediate(resolve));
  expect(calls).toBe(1);
});

test("a handler that rejects with null has failed, for those who look on", async () => {
  const ends: unknown[] = [];
  const span = { run: <T>(call: () => T): T => call(), end: (_: number, error: unknown) => void ends.push(error) };
  const observer = new HandlerObserver("g", systemClock, { detach: (start) => start(), begin: () => span }, new UserFunctions());
  const event = {} as CdcEvent & readonly CdcEvent[]; // nothing of it is read
  const { handle } = observer.around({ kind: "each", handle: () => Promise.reject(null) });
  await expect(handle(event)).rejects.toBeNull();
  expect(ends).toEqual([expect.any(Error)]);
});
