import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { createPipeObserver, type LinePipe, openPipeObserver } from "./observation-pipe.ts";
import { createObserver } from "./observer.ts";

/** A clock that is set by hand, and what was written. */
function world(): { readonly pipe: LinePipe & { isBehind: boolean }; readonly lines: () => readonly unknown[]; clockMs: number } {
  const written: string[] = [];
  return {
    pipe: { write: (line) => void written.push(line), isBehind: false, flush: async () => {} },
    lines: () => written.map((line) => JSON.parse(line) as unknown),
    clockMs: 0,
  };
}

test("an observation is a line, five times a second at most; what was left out comes at the end", () => {
  const at = world();
  const observer = createPipeObserver(at.pipe, () => at.clockMs);
  let asked = 0;
  for (let done = 0; done < 100; done++) {
    at.clockMs = done * 10;
    observer.observe(() => {
      asked++;
      return { phase: "reading", done, total: 100 };
    });
  }
  observer.end();
  const done = at.lines().map((line) => (line as { done: number }).done);
  expect(done).toEqual([0, 20, 40, 60, 80, 99]);
  expect(asked).toBe(6);
  expect(at.lines()[1]).toEqual({ kind: "observation", atMs: 200, phase: "reading", done: 20, total: 100, perSecond: 100 });
});

test("a reader that is behind misses observations, and no note", () => {
  const at = world();
  const observer = createPipeObserver(at.pipe, () => at.clockMs);
  at.pipe.isBehind = true;
  observer.observe(() => ({ phase: "reading" }));
  observer.note("a topic is empty");
  expect(at.lines()).toEqual([{ kind: "note", atMs: 0, text: "a topic is empty" }]);
  at.pipe.isBehind = false;
  observer.observe(() => ({ phase: "reading" }));
  expect(at.lines()).toHaveLength(2);
});

test("what is no pipe is refused by the name of its variable", () => {
  expect(openPipeObserver({})).toBeUndefined();
  expect(() => openPipeObserver({ CDC_BENCH_OBSERVE_FD: "1" })).toThrow("CDC_BENCH_OBSERVE_FD must be a file descriptor");
  expect(() => openPipeObserver({ CDC_BENCH_OBSERVE_FD: "three" })).toThrow("CDC_BENCH_OBSERVE_FD");
  expect(() => openPipeObserver({ CDC_BENCH_OBSERVE_FD: "987" })).toThrow("names no open pipe");
});

test("without the variable, a terminal is observed on stderr", () => {
  const stderr = new PassThrough();
  const observer = createObserver({
    stdout: new PassThrough(),
    stderr,
    liveLine: false,
    env: {},
    interrupt: new AbortController().signal,
  });
  observer.note("a note");
  observer.end();
  expect(String(stderr.read())).toContain("a note");
});
