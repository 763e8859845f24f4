import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { FlameGraph } from "../document.ts";
import type { Frame, ProfileArea } from "../../result/profile-frame.ts";
import { areaShares, layoutFlame } from "../flame-layout.ts";
import { flameGraphSvg, profileAreas } from "./flame.ts";

const frame = (name: string, valueUs: number, area: ProfileArea, children: readonly Frame[] = []): Frame => ({
  name,
  valueUs,
  area,
  children,
});

const flame: FlameGraph = {
  kind: "flame",
  title: "drain of 1,000 records",
  subtitle: "Avro, maxEvents 16000, maxBytes 16 MB, concurrency 4",
  root: frame("(all)", 1_000, "other", [
    frame("decode", 600, "decode", [frame("readRow", 450, "decode"), frame("(garbage collector)", 50, "gc")]),
    frame("(idle)", 300, "idle"),
    frame("narrow", 0.1, "handler"),
  ]),
};

const areas = Object.keys(profileAreas) as ProfileArea[];

const anyFrame = fc.letrec<{ frame: Frame }>((tie) => ({
  frame: fc.record({
    name: fc.string({ unit: "binary" }),
    valueUs: fc.oneof(fc.double(), fc.constant(Number.POSITIVE_INFINITY), fc.integer({ min: 0, max: 1_000_000 })),
    area: fc.constantFrom(...areas),
    children: fc.oneof({ depthSize: "small", withCrossShrink: true }, fc.constant([]), fc.array(tie("frame"), { maxLength: 4 })),
  }),
})).frame;

describe("a flame graph", () => {
  test("has the configuration in its subtitle, and a key with the share of each area that occurs", () => {
    const svg = flameGraphSvg(flame);
    expect(svg).toContain("Avro, maxEvents 16000, maxBytes 16 MB, concurrency 4");
    expect(svg).toMatch(/decode\u00a0+ 55%, 550 µs: from bytes to events/);
    expect(svg).toMatch(/idle\u00a0+ 30%, 300 µs: waiting/);
    expect(svg).toMatch(/gc\u00a0+ 5\.0%, 50\.0 µs: garbage collection/);
    expect(svg).not.toContain("commits");
    expect(svg).toContain("Time by area: decode 55%, idle 30%");
  });

  test("leaves out what would be less than a pixel, and says how many", () => {
    const svg = flameGraphSvg(flame);
    expect(svg).not.toContain('data-name="narrow"');
    expect(svg).toContain("1 that took less than 0.05%");
  });

  test("knows each frame's time, share and area", () => {
    expect(flameGraphSvg(flame)).toContain("<title>readRow: 450 µs, 45%, decode</title>");
    expect(areaShares(flame.root).map(({ area, selfUs }) => [area, Math.round(selfUs)])).toEqual([
      ["decode", 550],
      ["idle", 300],
      ["other", 100],
      ["gc", 50],
      ["handler", 0],
    ]);
  });

  test("has no markup and no direction but its own, whatever functions are called", () => {
    const svg = flameGraphSvg({ ...flame, title: `"><script>`, root: frame(`</title><script>alert(1)</script>\u202e\u0000`, 10, "other") });
    expect(svg).not.toMatch(/<script/);
    expect(svg).not.toMatch(/[\p{Cc}\u202e]/u);
  });

  test("puts every frame inside of its parent, whatever the profile says", () => {
    fc.assert(
      fc.property(anyFrame, (root) => {
        const { frames } = layoutFlame(root);
        const open: { start: number; share: number }[] = [];
        for (const { start, share, depth } of frames) {
          const parent = depth === 0 ? { start: 0, share: 1 } : open[depth - 1];
          expect(start).toBeGreaterThanOrEqual((parent?.start ?? Number.NaN) - 1e-9);
          expect(start + share).toBeLessThanOrEqual((parent?.start ?? Number.NaN) + (parent?.share ?? Number.NaN) + 1e-9);
          open[depth] = { start, share };
        }
        expect(flameGraphSvg({ ...flame, root })).not.toMatch(/NaN|Infinity|undefined/);
      }),
      { numRuns: 200 },
    );
  });

  test("of a recursion without an end is cut", () => {
    let deep = frame("bottom", 1, "other");
    for (let i = 0; i < 100_000; i++) {
      deep = frame("again", 1, "other", [deep]);
    }
    expect(layoutFlame(deep)).toMatchObject({ depth: 256, leftOut: 1 });
  });
});
