import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type PartitionEvent, type PartitionState, partitionStateAfter } from "./partition-state.ts";

// No Partial anywhere: a new state or event does not compile until every cell is decided.
const table = {
  open: { finish: "finishing", finished: "open", fence: "fenced" },
  finishing: { finish: "finishing", finished: "fenced", fence: "fenced" },
  fenced: { finish: "fenced", finished: "fenced", fence: "fenced" },
} satisfies Record<PartitionState, Record<PartitionEvent, PartitionState>>;

type Row = [PartitionState, Record<PartitionEvent, PartitionState>];
const order: readonly PartitionState[] = ["open", "finishing", "fenced"];

describe("the life of a partition", () => {
  for (const [state, row] of Object.entries(table) as Row[]) {
    for (const [event, after] of Object.entries(row) as [PartitionEvent, PartitionState][]) {
      test(`${event} while ${state}: ${after}`, () => {
        expect(partitionStateAfter(state, event)).toBe(after);
      });
    }
  }

  test("no event leads back", () => {
    for (const [state, row] of Object.entries(table) as Row[]) {
      for (const event of Object.keys(row) as PartitionEvent[]) {
        expect(order.indexOf(partitionStateAfter(state, event))).toBeGreaterThanOrEqual(order.indexOf(state));
      }
    }
  });

  test("the table in LIFECYCLE.md is the machine's", () => {
    const document = readFileSync(new URL("../../LIFECYCLE.md", import.meta.url), "utf8");
    const lines = document.split("\n").map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
    const header = lines.findIndex(([first, second]) => first === "" && second === "finish");
    const events = lines[header]?.slice(1) ?? [];
    const documented = lines
      .slice(header + 2, header + 5)
      .map(([state = "", ...row]) => [state, Object.fromEntries(row.map((text, i) => [events[i], text === "=" ? state : text]))] as const);
    expect(Object.fromEntries(documented)).toEqual(table);
  });
});
