import { describe, expect, test } from "vitest";
import { type InspectStart, parseInspectStart, selectExtent } from "./start-position.ts";

describe("where a reading begins", () => {
  test.each<[string, InspectStart]>([
    ["-20", { kind: "last", offsets: 20n }],
    ["latest", { kind: "latest" }],
    ["1200", { kind: "offset", offset: 1200n }],
    ["2h", { kind: "time", timestampMs: 10_000_000 - 7_200_000 }],
    ["1970-01-01T00:00:01Z", { kind: "time", timestampMs: 1_000 }],
  ])("%s is understood", (text, start) => {
    expect(parseInspectStart(text, () => 10_000_000)).toEqual(start);
  });

  test.each(["soon", "-0", "--1", "-1h", ""])("%j is refused, with what there is", (text) => {
    expect(() => parseInspectStart(text)).toThrow(/latest, -20 \(the last 20 offsets/);
  });

  const extent = {
    topic: "orders",
    partitions: [
      { partition: 0, startOffset: 5n, endOffset: 100n },
      { partition: 1, startOffset: 0n, endOffset: 3n },
    ],
    maxRecords: 98n,
  };
  /** The last partition has no record of that time. */
  const cluster = { offsetsAt: async () => new Map([[0, 110n]]) };

  test.each<[string, readonly number[], readonly bigint[], bigint]>([
    ["-10", [], [90n, 0n], 13n],
    ["latest", [], [100n, 3n], 0n],
    ["earliest", [1], [100n, 0n], 3n],
    ["50", [0], [50n, 3n], 50n],
    ["2h", [], [100n, 3n], 0n],
  ])("%s of partitions %s are the offsets %s", async (text, chosen, starts, maxRecords) => {
    const selected = await selectExtent(cluster, extent, parseInspectStart(text), chosen);
    expect(selected.partitions.map(({ startOffset }) => startOffset)).toEqual(starts);
    expect(selected.partitions.map(({ endOffset }) => endOffset)).toEqual([100n, 3n]);
    expect(selected.maxRecords).toBe(maxRecords);
  });

  test("an offset that a partition does not have is refused, and so is a partition that the topic does not have", async () => {
    await expect(selectExtent(cluster, extent, parseInspectStart("50"), [])).rejects.toThrow("orders[1] has no offset 50");
    await expect(selectExtent(cluster, extent, parseInspectStart("-1"), [2])).rejects.toThrow("orders has no partition 2");
  });
});
