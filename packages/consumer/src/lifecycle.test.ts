import { describe, expect, test } from "vitest";
import { advance, type LifecycleEvent, type LifecycleState, type Phase } from "./lifecycle.ts";

const failure = new Error("first");
const later = new Error("later");

const events = {
  start: { type: "start" },
  connected: { type: "connected" },
  stop: { type: "stop" },
  drained: { type: "drained" },
  fail: { type: "fail", error: failure },
  force: { type: "force", error: failure },
  closed: { type: "closed" },
} as const satisfies Record<LifecycleEvent["type"], LifecycleEvent>;

type Cell = Phase | "unchanged" | `${Phase} with the error`;

// No Partial anywhere: a new phase or event does not compile until every cell is decided.
const table = {
  idle: {
    start: "connecting",
    connected: "unchanged",
    stop: "stopped",
    drained: "unchanged",
    fail: "stopped with the error",
    force: "stopped with the error",
    closed: "unchanged",
  },
  connecting: {
    start: "unchanged",
    connected: "running",
    stop: "closing",
    drained: "unchanged",
    fail: "closing with the error",
    force: "closing with the error",
    closed: "unchanged",
  },
  running: {
    start: "unchanged",
    connected: "unchanged",
    stop: "draining",
    drained: "unchanged",
    fail: "draining with the error",
    force: "closing with the error",
    closed: "unchanged",
  },
  draining: {
    start: "unchanged",
    connected: "unchanged",
    stop: "unchanged",
    drained: "closing",
    fail: "draining with the error",
    force: "closing with the error",
    closed: "unchanged",
  },
  closing: {
    start: "unchanged",
    connected: "unchanged",
    stop: "unchanged",
    drained: "unchanged",
    fail: "closing with the error",
    force: "closing with the error",
    closed: "stopped",
  },
  stopped: {
    start: "unchanged",
    connected: "unchanged",
    stop: "unchanged",
    drained: "unchanged",
    fail: "unchanged",
    force: "unchanged",
    closed: "unchanged",
  },
} satisfies Record<Phase, Record<LifecycleEvent["type"], Cell>>;

describe("the life cycle", () => {
  for (const [phase, row] of Object.entries(table) as [Phase, Record<LifecycleEvent["type"], Cell>][]) {
    for (const [type, cell] of Object.entries(row) as [LifecycleEvent["type"], Cell][]) {
      test(`${type} while ${phase}: ${cell}`, () => {
        const before: LifecycleState = { phase, error: null };
        const after = advance(before, events[type]);
        if (cell === "unchanged") {
          expect(after).toBe(before);
        } else {
          const [expected, ...withError] = cell.split(" ");
          expect(after).toEqual({ phase: expected, error: withError.length > 0 ? failure : null });
        }
      });
    }
  }

  test("the first error is kept, because later ones follow from it", () => {
    const failed = advance({ phase: "running", error: null }, { type: "fail", error: failure });
    expect(advance(failed, { type: "fail", error: later }).error).toBe(failure);
    expect(advance(failed, { type: "force", error: later })).toEqual({ phase: "closing", error: failure });
  });
});
