import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Terminal } from "../terminal.ts";
import { createLiveScreen } from "./live-screen.ts";
import type { Observation, Observer } from "./observer.ts";
import { createTerminalObserver } from "./terminal-observer.ts";

/** A terminal that does what VT100 does with what is written here, so that a test sees what its user sees. */
class FakeTerminal {
  columns: number;
  rows = 24;
  /** Everything that was written, in order. */
  readonly written: string[] = [];
  #lines: string[] = [""];
  #row = 0;
  #column = 0;

  constructor(columns: number) {
    this.columns = columns;
  }

  write(text: string): boolean {
    this.written.push(text);
    // oxlint-disable-next-line no-control-regex -- a terminal reads control characters
    for (const [, up, erase, color, other] of text.matchAll(/\u001b\[(?:(\d+)A|(J)|([\d;]*)m)|([\s\S])/gu)) {
      if (up !== undefined) {
        this.#row = Math.max(0, this.#row - Number(up));
      } else if (erase !== undefined) {
        this.#lines = [...this.#lines.slice(0, this.#row), (this.#lines[this.#row] ?? "").slice(0, this.#column)];
      } else if (color === undefined) {
        this.#put(other ?? "");
      }
    }
    return true;
  }

  #put(character: string): void {
    if (character === "\r") {
      this.#column = 0;
    } else if (character === "\n") {
      this.#row++;
      this.#column = 0;
      this.#lines[this.#row] ??= "";
    } else {
      if (this.#column === this.columns) {
        this.#put("\n");
      }
      const characters = [...(this.#lines[this.#row] ?? "")];
      characters[this.#column++] = character;
      this.#lines[this.#row] = characters.join("");
    }
  }

  /** As terminals do it: what is too long for the new width goes on in the next row. */
  narrow(columns: number): void {
    this.columns = columns;
    const cursor = this.#lines.length - 1;
    this.#lines = this.#lines.flatMap((line) => line.match(new RegExp(`.{1,${columns}}`, "gu")) ?? [""]);
    expect(cursor).toBe(this.#row); // the cursor stands at the end
    this.#row = this.#lines.length - 1;
    this.#column = (this.#lines[this.#row] ?? "").length;
  }

  get shown(): readonly string[] {
    return this.#lines.map((line) => line.trimEnd());
  }
}

let nowMs: number;
const now = (): number => nowMs;

beforeEach(() => {
  nowMs = 0;
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function liveObserver(
  columns: number,
  env: Terminal["env"] = {},
): { readonly screen: FakeTerminal; readonly observer: Observer; readonly terminal: Terminal } {
  const screen = new FakeTerminal(columns);
  const live = createLiveScreen(screen);
  const { signal: interrupt } = new AbortController();
  const terminal = { stdout: new PassThrough(), stderr: live.stream, liveLine: true, live, env, interrupt };
  return { screen, terminal, observer: createTerminalObserver(terminal, {}, now) };
}

/** Reads a topic of 100,000 records in ten seconds. */
function readTopic(observer: Observer, untilMs: number, more: Partial<Observation> = {}): void {
  for (; nowMs <= untilMs; nowMs += 50) {
    const done = nowMs * 10;
    observer.observe(() => ({ phase: "reading orders", done, total: 100_000, ...more }));
  }
}

const everything: Partial<Observation> = {
  lag: 12_345,
  latencyMs: { p50: 4, p95: 12.5, p99: 1_377 },
  stages: { fetch: 0.25, decode: 0.5, handle: 0.25 },
};

describe("on a terminal", () => {
  test("shows the first observation at once", () => {
    const { screen, observer } = liveObserver(80);
    observer.observe(() => ({ phase: "connecting to a:9092" }));
    expect(screen.shown).toEqual(["connecting to a:9092"]);
    observer.end();
  });

  test("shows rate, sparkline, share, time left, lag, percentiles and stages, redrawn in place", () => {
    const { screen, observer } = liveObserver(80);
    screen.write("$ cdc-bench run\n");
    readTopic(observer, 5_000, everything);
    expect(screen.shown).toEqual([
      "$ cdc-bench run",
      "reading orders  5 s",
      "████████████░░░░░░░░░░░░ 50%  50,000 of 100,000 records  5 s left",
      expect.stringMatching(/^10,000 records\/s {2}█{8,10}$/),
      "lag 12,345   latency p50 4.00 ms, p95 12.5 ms, p99 1.38 s",
      "fetch 25%  decode 50%  handle 25%",
    ]);
    observer.end();
    expect(screen.shown).toEqual(["$ cdc-bench run", ""]);
  });

  test("a total that counts offsets is said as what there is at most: some have no record", () => {
    const { screen, observer } = liveObserver(80);
    readTopic(observer, 5_000, { countsOffsets: true });
    expect(screen.shown[1]).toBe("████████████░░░░░░░░░░░░ 50%  50,000 of at most 100,000 records  5 s left");
    observer.end();
    const narrow = liveObserver(59);
    narrow.observer.observe(() => ({ phase: "reading orders", done: 20, total: 44, countsOffsets: true }));
    expect(narrow.screen.shown).toEqual(["reading orders, 20 of at most 44 records (45%)"]);
    narrow.observer.end();
  });

  test.each([20, 40, 59, 60, 80, 200])("no line is as wide as a terminal of %i columns", (columns) => {
    const { screen, observer } = liveObserver(columns);
    readTopic(observer, 5_000, { ...everything, phase: `reading ${"a-long-topic-".repeat(20)}` });
    expect(screen.shown.length).toBe(columns < 60 ? 1 : 5);
    expect(Math.max(...screen.shown.map((line) => [...line].length))).toBeLessThanOrEqual(columns - 3);
    observer.end();
  });

  test("leaves nothing when the terminal became narrower while it was drawn", () => {
    const { screen, observer } = liveObserver(120);
    screen.write("$ cdc-bench run\n");
    readTopic(observer, 5_000, everything);
    screen.narrow(30);
    readTopic(observer, 6_000, everything);
    expect(screen.shown).toEqual(["$ cdc-bench run", expect.stringMatching(/^reading orders, 6\d,000/)]);
    observer.end();
    expect(screen.shown).toEqual(["$ cdc-bench run", ""]);
  });

  test("what else goes to stderr stands above the view, whole", () => {
    const { screen, observer, terminal } = liveObserver(80);
    readTopic(observer, 5_000);
    terminal.stderr.write('{"level":40,"msg":"a log line"}\n');
    observer.note("a note");
    expect(screen.shown.slice(0, 3)).toEqual(['{"level":40,"msg":"a log line"}', "a note", "reading orders  5 s"]);
    observer.end();
    expect(screen.shown).toEqual(['{"level":40,"msg":"a log line"}', "a note", ""]);
  });

  test("a Ctrl-C that the terminal shows is taken away with the view", () => {
    const { screen, observer } = liveObserver(80);
    screen.write("$ cdc-bench run\n");
    readTopic(observer, 5_000, { ...everything, phase: "reading ".repeat(20), stages: {} });
    screen.write("^C");
    observer.end();
    expect(screen.shown).toEqual(["$ cdc-bench run", ""]);
  });

  test("the cursor is never hidden", () => {
    const { screen, observer } = liveObserver(80);
    readTopic(observer, 5_000, everything);
    observer.end();
    expect(screen.written.join("")).not.toContain("\u001b[?25l");
  });

  test("a name cannot move the cursor", () => {
    const { screen, observer } = liveObserver(80);
    observer.note("the consumer waits: \u001b[2J\u202e");
    observer.observe(() => ({ phase: "reading \u001b[2J\u001b[1;1Hevil\n\u202e" }));
    expect(screen.shown).toEqual(["the consumer waits: ?[2J?", "reading ?[2J?[1;1Hevil?"]);
    observer.end();
  });

  test("is drawn ten times a second at most, and asks for no figures in between", () => {
    const { screen, observer } = liveObserver(80);
    let asked = 0;
    for (; nowMs < 1_000; nowMs++) {
      observer.observe(() => ({ phase: `${asked++}` }));
    }
    expect(asked).toBe(10);
    expect(screen.written.length).toBe(10);
    observer.end();
  });

  test("its clock goes on while nothing is observed", () => {
    const { screen, observer } = liveObserver(80);
    observer.observe(() => ({ phase: "waiting for the snapshot" }));
    nowMs = 42_000;
    vi.advanceTimersByTime(1_000);
    expect(screen.shown).toEqual(["waiting for the snapshot  42 s"]);
    observer.end();
    vi.advanceTimersByTime(5_000);
    expect(screen.shown).toEqual([""]);
  });

  test("has colors, and none with NO_COLOR", () => {
    const colored = liveObserver(80);
    colored.observer.observe(() => ({ phase: "reading" }));
    expect(colored.screen.written.join("")).toContain("\u001b[1m");
    colored.observer.end();
    const plain = liveObserver(80, { NO_COLOR: "1" });
    plain.observer.observe(() => ({ phase: "reading" }));
    expect(plain.screen.written).toEqual(["reading"]);
    plain.observer.end();
  });
});

describe("elsewhere", () => {
  test.each([
    { isQuietAtFirst: false, first: "reading orders, 0 of 100,000 records (0%), lag 5\n" },
    { isQuietAtFirst: true, first: "" },
  ])(
    "is a plain line every five seconds, and one at once unless it is to be quiet at first ($isQuietAtFirst)",
    ({ isQuietAtFirst, first }) => {
      const stderr = new PassThrough();
      const { signal: interrupt } = new AbortController();
      const observer = createTerminalObserver(
        { stdout: new PassThrough(), stderr, liveLine: false, env: {}, interrupt },
        { isQuietAtFirst },
        now,
      );
      readTopic(observer, 11_000, { lag: 5 });
      observer.note("a note\u001b[2J");
      observer.end();
      expect(String(stderr.read())).toBe(
        `${first}reading orders, 50,000 of 100,000 records (50%), 10,000/s, 5 s left, lag 5\n` +
          "reading orders, 100,000 of 100,000 records (100%), 10,000/s, 0 s left, lag 5\n" +
          "a note?[2J\n",
      );
    },
  );

  test("shows a rate of less than one a second", () => {
    const lines = plainLines(() => ({ phase: "comparing", done: Math.floor(nowMs / 4_000), total: 4, unit: "rounds" }));
    expect(lines).toMatch(/comparing, 2 of 4 rounds \(50%\), 0\.\d+\/s/);
  });

  test("shows no rate of seconds that pass", () => {
    const lines = plainLines(() => ({ phase: "soak", done: Math.floor(nowMs / 1_000), total: 30, unit: "s" }));
    expect(lines).toMatch(/^soak, 5 of 30 s \(16%\), \d+ s left$/m);
  });

  /** What is written of eleven seconds. */
  function plainLines(observation: () => Observation): string {
    const stderr = new PassThrough();
    const { signal: interrupt } = new AbortController();
    const observer = createTerminalObserver({ stdout: new PassThrough(), stderr, liveLine: false, env: {}, interrupt }, {}, now);
    for (; nowMs <= 11_000; nowMs += 50) {
      observer.observe(observation);
    }
    observer.end();
    return String(stderr.read());
  }
});
