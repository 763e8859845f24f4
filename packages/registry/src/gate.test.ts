import { expect, test } from "vitest";
import { Gate } from "./gate.ts";

test("so many tasks run at once, the others in their order, also where one fails", async () => {
  const gate = new Gate(2);
  const started: number[] = [];
  const ends: ((failed: boolean) => void)[] = [];
  const tasks = [0, 1, 2, 3, 4].map((name) =>
    gate
      .run(() => {
        started.push(name);
        return new Promise<void>((resolve, reject) => ends.push((failed) => (failed ? reject(new Error("failed")) : resolve())));
      })
      .catch(() => undefined),
  );
  const settle = async (): Promise<unknown> => new Promise(setImmediate);
  await settle();
  expect(started).toEqual([0, 1]);
  ends[0]?.(true);
  await settle();
  expect(started).toEqual([0, 1, 2]);
  ends[1]?.(false);
  ends[2]?.(false);
  await settle();
  expect(started).toEqual([0, 1, 2, 3, 4]);
  ends[3]?.(false);
  ends[4]?.(false);
  await Promise.all(tasks);
});
