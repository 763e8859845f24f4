import { virtualClock } from "@cdckit/testkit";
import { afterEach, describe, expect, test, vi } from "vitest";
import { type Logger, silentLogger } from "./logger.ts";
import { Waits, waitTexts, type WorkInHand } from "./waits.ts";

const refused = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:5432"), { code: "ECONNREFUSED" });

function setUp() {
  const clock = virtualClock();
  const lines: { readonly atMs: number; readonly level: string; readonly message: string; readonly fields: object }[] = [];
  const startMs = clock.nowMs();
  const log = (level: string) => (fields: object, message: string) =>
    void lines.push({ atMs: clock.nowMs() - startMs, level, message, fields });
  const logger: Logger = { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") };
  const waits = new Waits({ clock, logger });
  return { clock, lines, waits, texts: () => waitTexts(waits.report()) };
}

function isEnd(message: string): boolean {
  return message.endsWith("is not waited for any more");
}

/** Counts the collections that are gone through. */
function countWalks(): () => number {
  let walks = 0;
  for (const { prototype } of [Map, Set]) {
    const iterate = prototype[Symbol.iterator];
    vi.spyOn(prototype, Symbol.iterator).mockImplementation(function (this: never) {
      walks++;
      return iterate.call(this);
    });
  }
  return () => walks;
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe("waits", () => {
  test("a failed attempt is shown at once, with what, where, since when and why, and stays shown between the attempts", async () => {
    const { clock, waits, texts } = setUp();
    const wait = waits.open({ what: 'the sink "copy"', host: "127.0.0.1:5432/shop", place: "orders[0]@17", cause: refused });
    const since = new Date(clock.wallMs()).toISOString();
    await clock.advance(2_000);
    expect(texts()).toEqual([
      `the sink "copy" (127.0.0.1:5432/shop) at orders[0]@17 is waited for since ${since} (2 s): 1 failed attempt, the last: connect ECONNREFUSED 127.0.0.1:5432`,
    ]);
    wait.failed(refused);
    expect(waits.report()).toMatchObject([{ failures: 2, forMs: 2_000 }]);
    wait.end();
    wait.failed(refused);
    expect(texts()).toEqual([]);
  });

  test("a wait without an answer is shown within 5 s, and an answer in time is never shown", async () => {
    const { clock, waits, texts } = setUp();
    const brief = waits.open({ what: "schema 7" });
    waits.open({ what: "schema 8", host: "http://127.0.0.1:8081" });
    await clock.advance(1_000);
    brief.end();
    expect(texts()).toEqual([]);
    await clock.advance(4_000);
    expect(texts()).toEqual([
      expect.stringMatching(/^schema 8 \(http:\/\/127\.0\.0\.1:8081\) is waited for since \S+ \(5 s\): no answer yet$/),
    ]);
  });

  test("waits for the same thing in the same place are one wait, which ends with the last of them", async () => {
    const { waits } = setUp();
    const first = waits.open({ what: "schema 7", cause: refused });
    const second = waits.open({ what: "schema 7", cause: refused });
    expect(waits.report()).toMatchObject([{ failures: 2 }]);
    first.end();
    first.end();
    expect(waits.report()).toHaveLength(1);
    second.end();
    expect(waits.report()).toHaveLength(0);
  });

  test("a wait ends with its owner, and no wait is opened after the close", () => {
    const { waits } = setUp();
    const assignment = { topic: "orders", partition: 0, epoch: 1 };
    waits.open({ what: "a handler", place: "orders[0]@17", cause: refused }, assignment);
    waits.open({ what: "a commit", cause: refused });
    waits.endOf(assignment);
    expect(waits.report()).toMatchObject([{ what: "a commit" }]);
    waits.close();
    waits.open({ what: "a commit", cause: refused }).failed(refused);
    expect(waits.report()).toEqual([]);
  });

  test("the log has the end of each wait whose beginning it has, as a warning, too, also if the wait ends with its owner", () => {
    const { waits, lines } = setUp();
    const owner = { partition: 0 };
    waits.open({ what: "a fetch", place: "orders[0]", cause: refused }, owner);
    waits.open({ what: "the leader", place: "orders[0]" }, owner);
    waits.endOf(owner);
    expect(lines.map(({ level, message }) => [level, message])).toEqual([
      ["warn", "a fetch at orders[0] is waited for"],
      ["warn", "a fetch at orders[0] is not waited for any more"],
    ]);
  });

  test("a wait of two owners goes on until the second of them is gone", () => {
    for (const goes of [0, 1]) {
      const { waits } = setUp();
      const owners = [{ partition: 0 }, { partition: 1 }];
      const opened = owners.map((owner) => waits.open({ what: "schema 7", cause: refused }, owner));
      waits.endOf(owners[goes] ?? {});
      opened[goes]?.end();
      expect(waits.report()).toHaveLength(1);
      opened[1 - goes]?.end();
      expect(waits.report()).toEqual([]);
    }
  });

  test("the end of an owner looks at its own waits alone, however many others there are", () => {
    const { waits } = setUp();
    const [owner, other] = [{ partition: 0 }, { partition: 1 }];
    for (let offset = 0; offset < 1_000; offset++) {
      waits.open({ what: "a handler", place: `orders[1]@${offset}`, cause: refused }, other);
    }
    waits.open({ what: "a handler", place: "orders[0]@0", cause: refused }, owner);
    const walks = countWalks();
    waits.endOf(owner);
    expect(walks()).toBeLessThan(10);
    expect(waits.report()).toHaveLength(1_000);
    waits.endOf(other);
    expect(waits.report()).toEqual([]);
  });

  test("the log has the first failure at once, the next lines with growing gaps, and the end", async () => {
    const { clock, waits, lines } = setUp();
    waits.start(() => []);
    const wait = waits.open({ what: "a handler", place: "orders[0]@17", cause: refused });
    for (let i = 0; i < 2_400; i++) {
      await clock.advance(100);
      wait.failed(refused);
    }
    wait.end();
    const reported = lines.filter(({ level, message }) => level === "warn" && !isEnd(message));
    expect(reported.map(({ atMs }) => Math.round(atMs / 1_000))).toEqual([0, 5, 15, 35, 75, 135, 195]);
    expect(reported[0]).toMatchObject({
      message: "a handler at orders[0]@17 is waited for",
      fields: { what: "a handler", place: "orders[0]@17", failures: 1, err: refused },
    });
    expect(lines.at(-1)).toMatchObject({ level: "warn", message: "a handler at orders[0]@17 is not waited for any more" });
    waits.close();
  });

  test("of many waits for one thing the log has ten lines in each gap, says how many were left out, and has their ends", async () => {
    const { clock, waits, lines } = setUp();
    waits.start(() => []);
    const records = Array.from({ length: 1_000 }, (_, partition) =>
      waits.open({ what: "a handler", place: `orders[${partition}]@17`, cause: refused }),
    );
    const other = waits.open({ what: "schema 7", host: "http://127.0.0.1:8081", cause: refused });
    for (let i = 0; i < 600; i++) {
      await clock.advance(1_000);
      records.forEach((record) => record.failed(refused));
    }
    const ofHandlers = lines.filter(({ message }) => message.startsWith("a handler") && !isEnd(message));
    expect(ofHandlers.length).toBeLessThanOrEqual(10 * 14);
    expect(ofHandlers.slice(0, 11).map(({ fields }) => "leftOut" in fields && fields.leftOut)).toEqual([...Array(10).fill(false), 990]);
    other.end();
    records.forEach((record) => record.end());
    const ends = lines.map(({ message }) => message).filter(isEnd);
    expect(ends).toContain("schema 7 (http://127.0.0.1:8081) is not waited for any more");
    expect(ends).toContain("a handler at orders[0]@17 is not waited for any more");
    expect(ends).toHaveLength(11);
    waits.close();
  });

  test("records that fail one after the other and go well the next time do not fill the log", async () => {
    const { clock, waits, lines } = setUp();
    for (let offset = 0; offset < 10_000; offset++) {
      const record = waits.open({ what: "a handler", place: `orders[0]@${offset}`, cause: refused });
      await clock.advance(10);
      record.end();
    }
    expect(lines.filter(({ message }) => !isEnd(message)).length).toBeLessThanOrEqual(50);
    expect(lines.filter(({ message }) => isEnd(message)).length).toBeLessThanOrEqual(50);
    await clock.advance(120_000);
    waits.open({ what: "a handler", place: "orders[0]@10000", cause: refused });
    expect(lines.at(-1)?.message).toBe("a handler at orders[0]@10000 is waited for");
  });

  test("the log says of work that failed that it is tried again, how often, and when", () => {
    const { waits, lines } = setUp();
    const next = { attempt: 1, attempts: 5, delayMs: 99.6 };
    waits.open({ what: "a handler", place: "orders[0]@17" }).failed(refused, next);
    waits.open({ what: "the sink", place: "orders[1]@3" }).failed(refused, { ...next, attempts: null });
    expect(lines).toMatchObject([
      {
        level: "warn",
        message: "a handler at orders[0]@17 failed and is retried: attempt 1 of 5 failed, and the next follows after 100 ms",
        fields: { failures: 1, attempt: 1, attempts: 5, err: refused },
      },
      { message: "the sink at orders[1]@3 failed and is retried: attempt 1 failed, and the next follows after 100 ms" },
    ]);
  });

  test("a wait has begun at the same millisecond in every report, whatever fractions the clocks have", () => {
    let nowMs = 1_000.4;
    let wallMs = 1_700_000_000_000;
    const clock = { ...virtualClock(), nowMs: () => nowMs, wallMs: () => wallMs };
    const waits = new Waits({ clock, logger: silentLogger });
    waits.open({ what: "a handler", cause: refused });
    const began = [0.3, 0.3, 0.3].map((passesMs) => {
      nowMs += passesMs;
      wallMs += Math.round(passesMs * 2);
      return waits.report()[0]?.since;
    });
    expect(began).toEqual([1_700_000_000_000, 1_700_000_000_000, 1_700_000_000_000]);
  });

  test("work in hand is found by looking once a second, and registers nothing while it goes well", async () => {
    const { clock, waits, texts } = setUp();
    let atWork: readonly WorkInHand[] = [];
    waits.start(() => atWork);
    for (let offset = 0; offset < 20; offset++) {
      atWork = [{ what: "a handler", place: `orders[0]@${offset}` }];
      await clock.advance(1_000);
      expect(texts()).toEqual([]);
    }
    await clock.advance(5_000);
    expect(texts()).toEqual([expect.stringMatching(/^a handler at orders\[0\]@19 is waited for since \S+ \(5 s\): no answer yet$/)]);
    atWork = [];
    await clock.advance(1_000);
    expect(texts()).toEqual([]);
    waits.close();
  });

  test("work that hangs and then fails has waited since it began to hang", async () => {
    const { clock, waits } = setUp();
    waits.start(() => [{ what: 'the sink "copy"', place: "orders[0]@17" }]);
    await clock.advance(30_000);
    waits.open({ what: 'the sink "copy"', place: "orders[0]@17", cause: refused });
    expect(waits.report()).toMatchObject([{ failures: 1, forMs: 29_000 }]);
    waits.close();
  });

  test("a report names ten, and says how many more there are", () => {
    const { waits, texts } = setUp();
    for (let partition = 0; partition < 25; partition++) {
      waits.open({ what: "a handler", place: `orders[${partition}]@0`, cause: refused });
    }
    expect(texts()).toHaveLength(11);
    expect(texts().at(-1)).toBe("15 more are waited for");
  });

  test.each([
    ["an application's error, whose message may hold its data", new Error("bad row {secret}"), "Error"],
    ["an error with a code of its own", Object.assign(new Error("bad row"), { code: "23505" }), "Error (23505)"],
    ["a cause of the network behind it", new Error("x", { cause: refused }), "Error: connect ECONNREFUSED 127.0.0.1:5432"],
    [
      "a cause that has a name and nothing else",
      Object.assign(new Error("[unavailable] no answer", { cause: new Error("x") }), { code: "unavailable" }),
      "[unavailable] no answer",
    ],
    ["an answer of HTTP", Object.assign(new Error("x"), { status: 503 }), "Error (503)"],
    ["what is no error", "text", "string"],
    ["credentials in an address", Object.assign(new Error("http://a:b@h failed"), { code: "EPIPE" }), "http://[redacted]@h failed"],
  ])("the cause is shown without data: %s", (_, cause, text) => {
    const { waits } = setUp();
    waits.open({ what: "a handler", cause });
    expect(waits.report()).toMatchObject([{ cause: text }]);
  });

  test("of an error whose getters throw, what can be read is shown", () => {
    const { waits } = setUp();
    const cause = Object.defineProperty(new Error("x"), "code", {
      get: () => {
        throw new Error("no");
      },
    }); // prettier-ignore
    waits.open({ what: "a handler", cause });
    expect(waits.report()).toMatchObject([{ cause: "Error" }]);
  });
});
