import type { Profiler } from "node:inspector";
import { describe, expect, test } from "vitest";
import { areaShares } from "../presentation/flame-layout.ts";
import { combineProfiles } from "./combine.ts";
import { frameTreeOf } from "./frame-tree.ts";

interface Call {
  readonly id: number;
  readonly name: string;
  readonly url?: string;
  readonly children?: number[];
}

function profileOf(calls: readonly Call[], samples: readonly (readonly [id: number, us: number])[]): Profiler.Profile {
  return {
    nodes: calls.map(({ id, name, url = "", children }) => ({
      id,
      callFrame: { functionName: name, scriptId: "0", url, lineNumber: 11, columnNumber: 0 },
      ...(children && { children }),
    })),
    startTime: 0,
    endTime: samples.reduce((sum, [, us]) => sum + us, 0),
    samples: samples.map(([id]) => id),
    // Each sample lasts until the next one, and the last until the end.
    timeDeltas: [0, ...samples.map(([, us]) => us)].slice(0, -1),
  };
}

const reader = "file:///home/me/secret-project/node_modules/@cdckit/decode/dist/reader.js";
const calls: readonly Call[] = [
  { id: 1, name: "(root)", children: [2, 3, 4] },
  { id: 2, name: "run", url: "file:///home/me/secret-project/service.js", children: [5] },
  { id: 3, name: "(garbage collector)" },
  { id: 4, name: "(idle)" },
  { id: 5, name: "", url: reader, children: [6] },
  { id: 6, name: "toString", url: "node:buffer" },
];
const profile = profileOf(calls, [
  [2, 100],
  [5, 200],
  [6, 300],
  [3, 50],
  [4, 350],
]);

describe("the tree of a profile", () => {
  test("has times with what was called, the largest first, and each call's area", () => {
    expect(frameTreeOf(profile, 0)).toEqual({
      name: "(root)",
      valueUs: 1_000,
      area: "other",
      children: [
        {
          name: "run service.js:12",
          valueUs: 600,
          area: "other",
          children: [
            {
              name: "(anonymous) @cdckit/decode/dist/reader.js:12",
              valueUs: 500,
              area: "decode",
              children: [{ name: "toString node:buffer", valueUs: 300, area: "decode", children: [] }],
            },
          ],
        },
        { name: "(idle)", valueUs: 350, area: "idle", children: [] },
        { name: "(garbage collector)", valueUs: 50, area: "gc", children: [] },
      ],
    });
  });

  test("names no folder of the machine", () => {
    expect(JSON.stringify(frameTreeOf(profile, 0))).not.toContain("secret-project");
  });

  test("adds up by area to the whole time", () => {
    const shares = Object.fromEntries(areaShares(frameTreeOf(profile, 0)).map(({ area, share }) => [area, share]));
    expect(shares).toEqual({ decode: 0.5, idle: 0.35, other: 0.1, gc: 0.05 });
  });

  test("leaves out what took less than the least share, and keeps its time in its caller", () => {
    const { valueUs, children } = frameTreeOf(profile, 0.31);
    expect(valueUs).toBe(1_000);
    expect(children.map(({ name }) => name)).toEqual(["run service.js:12", "(idle)"]);
    expect(children[0]?.children[0]).toMatchObject({ valueUs: 500, children: [] });
  });

  test("of nothing is a root without time", () => {
    expect(frameTreeOf(combineProfiles([]), 0)).toEqual({ name: "(root)", valueUs: 0, area: "other", children: [] });
  });

  test("deltas that go backward count for nothing", () => {
    expect(
      frameTreeOf(
        profileOf(calls, [
          [2, 100],
          [2, -40],
        ]),
        0,
      ).valueUs,
    ).toBe(100);
  });
});

describe("profiles of several parts", () => {
  test("are one: the same calls are one node, though their numbers differ", () => {
    const renumbered = profileOf(
      calls.map(({ id, children, ...call }) => ({
        ...call,
        id: id * 10,
        ...(children && { children: children.map((child) => child * 10) }),
      })),
      [
        [20, 100],
        [60, 900],
      ],
    );
    const combined = combineProfiles([profile, renumbered]);
    expect(combined.nodes).toHaveLength(calls.length);
    expect(frameTreeOf(combined, 0)).toMatchObject({ valueUs: 2_000, children: [{ name: "run service.js:12", valueUs: 1_600 }, {}, {}] });
    expect(combined.endTime - combined.startTime).toBe(2_000);
  });
});
