import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Lanes, laneOfKey } from "./lanes.ts";

interface Task {
  readonly lane: number;
  readonly id: number;
  readonly isBarrier?: boolean;
}

describe("lanes", () => {
  test("tasks of one lane start one after the other, tasks of different lanes at the same time", () => {
    const lanes = new Lanes<Task>(3);
    const [a1, a2, b1] = [
      { lane: 1, id: 1 },
      { lane: 1, id: 2 },
      { lane: 2, id: 3 },
    ];
    for (const task of [a1, a2, b1]) {
      lanes.add(task);
    }
    expect([lanes.next(), lanes.next(), lanes.next()]).toEqual([a1, b1, undefined]);
    lanes.end(a1);
    expect(lanes.next()).toBe(a2);
  });

  test("a task that is over is released, even if its lane never becomes empty", async () => {
    setFlagsFromString("--expose-gc");
    const gc = runInNewContext("gc") as () => void;
    const lanes = new Lanes<Task>(1);
    lanes.add({ lane: 1, id: 0 });
    const over = Array.from({ length: 100 }, (_, id) => {
      lanes.add({ lane: 1, id: id + 1 });
      const task = lanes.next() as Task;
      lanes.end(task);
      return new WeakRef(task);
    });
    await new Promise((resolve) => setImmediate(resolve)); // a reference that was looked at lives until the turn ends
    gc();
    const kept = over.filter((task) => task.deref() !== undefined).length;
    expect(kept).toBeLessThan(over.length / 10); // a collector may find the last one on the stack; lanes that keep them keep all
  });

  test("what waits for barriers takes no more memory the longer that lasts", () => {
    setFlagsFromString("--expose-gc");
    const gc = runInNewContext("gc") as () => void;
    const lanes = new Lanes<Task>(1);
    const task: Task = { lane: 1, id: 0, isBarrier: true };
    const pass = (count: number): number => {
      for (let i = 0; i < count; i++) {
        lanes.add(task);
        lanes.end(lanes.next() as Task);
      }
      gc();
      return process.memoryUsage().heapUsed;
    };
    lanes.add(task);
    lanes.add(task); // one always waits behind another one
    const before = pass(10_000);
    expect(pass(400_000) - before).toBeLessThan(1_500_000); // a place for each would be 3.2 MB
  });

  test("a task that rests keeps its lane waiting and leaves its place to other lanes", () => {
    const lanes = new Lanes<Task>(1);
    const tasks = [
      { lane: 1, id: 1 },
      { lane: 1, id: 2 },
      { lane: 2, id: 3 },
    ] as const;
    for (const task of tasks) {
      lanes.add(task);
    }
    expect(lanes.next()).toBe(tasks[0]);
    lanes.rest();
    expect(lanes.next()).toBe(tasks[2]);
    lanes.end(tasks[2]);
    expect(lanes.next()).toBeUndefined();
    lanes.resume(tasks[0]);
    expect(lanes.next()).toBe(tasks[0]);
    lanes.end(tasks[0]);
    expect(lanes.next()).toBe(tasks[1]);
  });

  test("a barrier waits for all earlier tasks, and later tasks wait for it, also while it rests", () => {
    const lanes = new Lanes<Task>(4);
    const [a1, b2, barrier, a4, c5] = [
      { lane: 1, id: 1 },
      { lane: 2, id: 2 },
      { lane: 3, id: 3, isBarrier: true },
      { lane: 1, id: 4 },
      { lane: 4, id: 5 },
    ] as const;
    for (const task of [a1, b2, barrier, a4, c5]) {
      lanes.add(task);
    }
    expect([lanes.next(), lanes.next(), lanes.next()]).toEqual([a1, b2, undefined]);
    lanes.end(b2);
    lanes.rest();
    expect(lanes.next()).toBeUndefined();
    lanes.resume(a1);
    expect(lanes.next()).toBe(a1);
    lanes.end(a1);
    expect([lanes.next(), lanes.next()]).toEqual([barrier, undefined]);
    lanes.rest();
    expect([lanes.next(), lanes.waiting]).toEqual([undefined, 2]);
    lanes.resume(barrier);
    expect([lanes.next(), lanes.next()]).toEqual([barrier, undefined]);
    lanes.end(barrier);
    expect([lanes.next(), lanes.next(), lanes.next()]).toEqual([a4, c5, undefined]);
  });

  test("each lane keeps its order, no task passes a barrier, no more tasks run than may, and all of them end", () => {
    const command = fc.constantFrom("add", "next", "end", "rest", "resume");
    fc.assert(
      fc.property(
        fc.array(fc.tuple(command, fc.nat(1_000)), { maxLength: 200 }),
        fc.integer({ min: 1, max: 5 }),
        (commands, maxRunning) => {
          const lanes = new Lanes<Task>(maxRunning);
          const ended = new Map<number, number>();
          const running: Task[] = [];
          const resting: Task[] = [];
          const barriers: number[] = [];
          const over = new Set<number>();
          let added = 0;
          const start = (): boolean => {
            const task = lanes.next();
            if (task !== undefined) {
              expect([...running, ...resting].map(({ lane }) => lane)).not.toContain(task.lane);
              expect(task.id).toBeGreaterThan(ended.get(task.lane) ?? -1);
              expect(barriers.filter((id) => id < task.id && !over.has(id))).toEqual([]);
              expect(task.isBarrier ? Math.min(task.id, over.size) : task.id).toBe(task.id); // all ids below a barrier's are over
              running.push(task);
            }
            return task !== undefined;
          };
          const end = (at: number): void => {
            const [task] = running.splice(at, 1);
            if (task !== undefined) {
              ended.set(task.lane, task.id);
              over.add(task.id);
              lanes.end(task);
            }
          };
          for (const [what, number] of commands) {
            if (what === "add") {
              const isBarrier = number % 7 === 0;
              barriers.push(...(isBarrier ? [added] : []));
              lanes.add({ lane: number % 4, id: added++, isBarrier });
            } else if (what === "next") {
              start();
            } else if (what === "end") {
              end(number % Math.max(1, running.length));
            } else if (what === "rest" && running.length > 0) {
              const [task] = running.splice(number % running.length, 1) as [Task];
              resting.push(task);
              lanes.rest();
            } else if (what === "resume" && resting.length > 0) {
              const [task] = resting.splice(number % resting.length, 1) as [Task];
              lanes.resume(task);
            }
            expect(running.length).toBeLessThanOrEqual(maxRunning);
            expect(lanes.running).toBe(running.length);
          }
          for (const task of resting.splice(0)) {
            lanes.resume(task);
          }
          let done = [...ended.values()].length >= 0;
          while (done) {
            done = start();
            if (!done && running.length > 0) {
              end(0);
              done = true;
            }
          }
          expect(lanes.waiting).toBe(0);
          expect(lanes.running).toBe(0);
        },
      ),
    );
  });

  test("equal keys give one lane, whatever else their buffers hold", () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.uint8Array(), (key, before) => {
        const joined = new Uint8Array([...before, ...key]);
        expect(laneOfKey(joined.subarray(before.length))).toBe(laneOfKey(key));
        expect(laneOfKey(key)).toBeGreaterThanOrEqual(0);
      }),
    );
    expect(laneOfKey(null)).toBeLessThan(0);
  });

  test("a thousand keys have nearly a thousand lanes", () => {
    const lanes = Array.from({ length: 1_000 }, (_, i) => laneOfKey(Buffer.from(`{"id":${i}}`)));
    expect(new Set(lanes).size).toBeGreaterThan(995);
  });
});
