import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { Latch } from "./latch.ts";

test("work is waited for until it has ended, or the latch is opened", async () => {
  const latch = new Latch();
  await expect(latch.orOpened(Promise.resolve())).resolves.toBeUndefined();
  await expect(latch.orOpened(Promise.reject(new Error("no")))).rejects.toThrow("no");
  const never = new Promise(() => {});
  const waiting = latch.orOpened(never);
  latch.open();
  await expect(waiting).resolves.toBeUndefined();
  await expect(latch.orOpened(never)).resolves.toBeUndefined();
});

test("work that has ended is not kept alive by a latch that stays closed", async () => {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void;
  const latch = new Latch();
  const waits = await Promise.all(
    Array.from({ length: 100 }, async () => {
      const wait = latch.orOpened(Promise.resolve());
      await wait;
      return new WeakRef(wait);
    }),
  );
  await new Promise((resolve) => setImmediate(resolve)); // a reference that was looked at lives until the turn ends
  gc();
  const kept = waits.filter((wait) => wait.deref() !== undefined).length;
  expect(kept).toBeLessThan(10); // a collector may find the last one on the stack; a latch that keeps them keeps all 100
  latch.open();
});
