import { readFileSync } from "node:fs";
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

const document = readFileSync(new URL("../LIFECYCLE.md", import.meta.url), "utf8");

/** The cells of the document's table whose first header is empty: the transitions. */
function documentedCells(): Map<string, Cell> {
  const lines = document.split("\n").map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  const header = lines.findIndex(([first, second]) => first === "" && second === "start");
  const types = lines[header]?.slice(1) ?? [];
  const cells = new Map<string, Cell>();
  for (const [phase = "", ...row] of lines.slice(header + 2, header + 8)) {
    for (const [i, text] of row.entries()) {
      const cell = text === "=" ? "unchanged" : text.endsWith("!") ? `${text.slice(0, -1)} with the error` : text;
      cells.set(`${phase} ${types[i]}`, cell as Cell);
    }
  }
  return cells;
}

describe("LIFECYCLE.md", () => {
  test("the document's table is the machine's", () => {
    const cells = Object.entries(table).flatMap(([phase, row]) =>
      Object.entries(row).map(([type, cell]): [string, Cell] => [`${phase} ${type}`, cell]),
    );
    expect(Object.fromEntries(documentedCells())).toEqual(Object.fromEntries(cells));
  });

  test("each invariant names a test that there is", () => {
    const invariants = [...document.matchAll(/^\| (L\d+) \| .* \| `([^`]+)`: "(.+)" \|$/gm)];
    expect(invariants.map(([, number]) => number)).toEqual(invariants.map((_match, i) => `L${i + 1}`));
    expect(invariants.length).toBeGreaterThan(10);
    for (const [, number, file, name] of invariants) {
      const source = readFileSync(new URL(file ?? "", import.meta.url), "utf8");
      expect(source.includes(`("${name}"`), `${number}: ${file} has no test ${name}`).toBe(true);
    }
  });
});
