import { describe, expect, test } from "vitest";
import { initialState, type LifecycleState } from "../lifecycle.ts";
import { Counters } from "../observe/counters.ts";
import type { Health } from "../observe/health.ts";
import { joinedHealth, type ThreadReport } from "./joined-health.ts";

const running: LifecycleState = { phase: "running", error: null };

function healthOf(change: Partial<Health>): Health {
  return {
    phase: "running",
    live: true,
    ready: true,
    assigned: [],
    lastProgressAt: null,
    counts: new Counters().snapshot(),
    waits: [],
    reasons: [],
    ...change,
  };
}

function reportOf(health: Health | null, notice: string | null = null): ThreadReport {
  return { health, notice };
}

const refused = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:1"), { code: "ECONNREFUSED" });
const wait = { host: null, place: null, forMs: 5, failures: 0, cause: null };

describe("the health of a consumer with workers", () => {
  test("is that of all threads: sums, the latest progress, all partitions, the oldest wait first", () => {
    const counts = { ...new Counters().snapshot(), records: 2, handled: 1 };
    const filtered = { ...counts.filtered, "table-without-handler": 4 };
    const joined = joinedHealth(
      running,
      [
        healthOf({ counts, lastProgressAt: 7, assigned: [{ topic: "t", partition: 0, lag: 3n, handledTo: 2n ** 60n }] }),
        healthOf({ counts: { ...counts, filtered }, waits: [{ ...wait, what: "schema 7", since: 9 }] }),
        healthOf({
          lastProgressAt: 5,
          waits: [{ ...wait, what: "the sink", since: 8 }],
          assigned: [{ topic: "t", partition: 1, lag: null, handledTo: null }],
        }),
      ].map((health) => reportOf(health)),
      ["the logger failed"],
    );
    expect(joined).toMatchObject({ phase: "running", live: true, ready: true, lastProgressAt: 7, reasons: ["the logger failed"] });
    expect(joined.counts).toMatchObject({ records: 4, handled: 2, filtered: { "table-without-handler": 4 } });
    expect(joined.assigned.map(({ partition }) => partition)).toEqual([0, 1]);
    expect(joined.waits.map(({ what }) => what)).toEqual(["worker 3: the sink", "worker 2: schema 7"]);
    expect(JSON.parse(JSON.stringify(joined)).assigned[0]).toMatchObject({ lag: "3", handledTo: (2n ** 60n).toString() });
  });

  test.each<[string, LifecycleState, readonly (Health | null)[], { live: boolean; ready: boolean; reasons: readonly string[] }]>([
    ["not started", initialState, [null, null], { live: true, ready: false, reasons: ["not started"] }],
    ["one loads", running, [healthOf({}), null], { live: true, ready: false, reasons: ["worker 2: it is loading its module"] }],
    [
      "one joins",
      running,
      [healthOf({}), healthOf({ ready: false, reasons: ["connecting to the brokers"] })],
      { live: true, ready: false, reasons: ["worker 2: connecting to the brokers"] },
    ],
    ["one is stuck", running, [healthOf({ live: false }), healthOf({})], { live: false, ready: true, reasons: [] }],
    [
      "halted",
      { phase: "stopped", error: new Error("why") },
      [healthOf({ live: false, ready: false, reasons: ["stopped"] }), null],
      { live: false, ready: false, reasons: ["stopped", "why"] },
    ],
    [
      "halted by what an error of a handler has for its cause",
      { phase: "stopped", error: new Error("a handler failed", { cause: refused }) },
      [null, null],
      { live: false, ready: false, reasons: ["stopped", "a handler failed: connect ECONNREFUSED 127.0.0.1:1"] },
    ],
  ])("%s", (_name, state, workers, expected) => {
    const { live, ready, reasons } = joinedHealth(
      state,
      workers.map((health) => reportOf(health)),
      [],
    );
    expect({ live, ready, reasons }).toEqual(expected);
  });

  test("names a thread that says nothing, while its own health still says that all is well", () => {
    const { ready, reasons } = joinedHealth(running, [reportOf(healthOf({})), reportOf(healthOf({}), "it has said nothing for 4 s")], []);
    expect({ ready, reasons }).toEqual({ ready: true, reasons: ["worker 2: it has said nothing for 4 s"] });
  });

  test("says of a thread without a health of its own what keeps it", () => {
    const { reasons } = joinedHealth(running, [reportOf(null, "it has been loading its module for 4 s"), reportOf(null)], []);
    expect(reasons).toEqual(["worker 1: it has been loading its module for 4 s", "worker 2: it is loading its module"]);
  });
});
