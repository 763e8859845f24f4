import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { BarChart, LineChart, StackedBars } from "../../document.ts";
import { barChartSvg } from "./bar-chart.ts";
import { lineChartSvg } from "./line-chart.ts";
import { createScale } from "./scale.ts";
import { stackChartSvg } from "./stack-chart.ts";
import { chartWidths } from "./svg.ts";
import { thinOut } from "./thin-out.ts";
import { tickText } from "./tick-text.ts";

const anyNumber = fc.oneof(fc.double(), fc.integer({ min: -1_000, max: 1_000_000 }), fc.constantFrom(0, -0, 1e300, 5e-324));
const anyText = fc.string({ unit: "binary", maxLength: 60 });
const anyWidth = fc.constantFrom(...Object.values(chartWidths));

const anyBars: fc.Arbitrary<BarChart> = fc.record({
  kind: fc.constant("bars" as const),
  title: anyText,
  bars: fc.array(
    fc.record(
      {
        label: anyText,
        value: anyNumber,
        text: anyText,
        spread: fc.tuple(anyNumber, anyNumber),
        mark: fc.constantFrom("best" as const, "warning" as const),
      },
      { requiredKeys: ["label", "value", "text"] },
    ),
    { maxLength: 12 },
  ),
});

const anyAxis = fc.record(
  {
    title: anyText,
    scale: fc.constantFrom("linear" as const, "log" as const, "percentile" as const),
    unit: fc.constantFrom("ns" as const, "bytes" as const, "per-second" as const, "percent" as const),
  },
  { requiredKeys: ["title"] },
);

const anyLines: fc.Arbitrary<LineChart> = fc.record({
  kind: fc.constant("lines" as const),
  title: anyText,
  x: anyAxis,
  y: anyAxis,
  series: fc.array(fc.record({ label: anyText, points: fc.array(fc.tuple(anyNumber, anyNumber), { maxLength: 60 }) }), { maxLength: 12 }),
  markers: fc.array(fc.record({ x: anyNumber, y: anyNumber, label: anyText }), { maxLength: 3 }),
});

const anyStack: fc.Arbitrary<StackedBars> = fc.record({
  kind: fc.constant("stack" as const),
  title: anyText,
  rows: fc.array(
    fc.record({ label: anyText, parts: fc.array(fc.record({ label: anyText, value: anyNumber, text: anyText }), { maxLength: 6 }) }),
    { maxLength: 5 },
  ),
});

/** Every place that an SVG names must be a number inside of its box; texts may begin at the edges. */
function expectInBox(svg: string): void {
  expect(svg).not.toMatch(/NaN|Infinity|undefined/);
  const [, width, height] = /viewBox="0 0 (\S+) (\S+)"/.exec(svg) ?? [];
  const inBox = (text: string, end: number): void => {
    const value = Number(text);
    expect(value, text).toBeGreaterThanOrEqual(-0.01);
    expect(value, text).toBeLessThanOrEqual(end + 0.01);
  };
  const elements = svg.slice(svg.indexOf(">") + 1);
  for (const [, name = "", text = ""] of elements.matchAll(/ (x|y|x1|x2|y1|y2|cx|cy|width|height)="([^"]*)"/g)) {
    inBox(text, Number(name.includes("y") || name === "height" ? height : width));
  }
  for (const [, x = "", y = ""] of elements.matchAll(/[ML"]([\d.e-]+) ([\d.e-]+)/g)) {
    inBox(x, Number(width));
    inBox(y, Number(height));
  }
  for (const [, x = "", length = ""] of elements.matchAll(/<rect [^>]*x="([^"]*)" y="[^"]*" width="([^"]*)"/g)) {
    inBox(String(Number(x) + Number(length)), Number(width) + 0.02);
  }
}

describe("charts stay in their box, whatever is in the result", () => {
  const frame = (width: number): { id: string; width: number } => ({ id: "c", width });

  test("bars", () => {
    fc.assert(fc.property(anyBars, anyWidth, (chart, width) => expectInBox(barChartSvg(chart, frame(width)).replaceAll(/>[^<]+</g, "><"))));
  });

  test("lines", () => {
    fc.assert(
      fc.property(anyLines, anyWidth, (chart, width) => expectInBox(lineChartSvg(chart, frame(width)).replaceAll(/>[^<]+</g, "><"))),
    );
  });

  test("stacks", () => {
    fc.assert(
      fc.property(anyStack, anyWidth, (chart, width) => expectInBox(stackChartSvg(chart, frame(width)).replaceAll(/>[^<]+</g, "><"))),
    );
  });
});

describe("a scale", () => {
  test("keeps the order of values, and has its ticks in the domain", () => {
    fc.assert(
      fc.property(
        fc.array(anyNumber, { minLength: 1 }),
        fc.constantFrom("linear" as const, "log" as const, "percentile" as const),
        fc.boolean(),
        (values, kind, fromZero) => {
          const { place, ticks } = createScale(values, kind, fromZero, 6);
          const sorted = values.filter(Number.isFinite).sort((a, b) => a - b);
          const places = sorted.map(place);
          places.forEach((at, i) => expect(at).toBeGreaterThanOrEqual((places[i - 1] ?? 0) - 1e-9));
          expect(ticks.length).toBeLessThanOrEqual(24);
          ticks.forEach((tick, i) => expect(tick).toBeGreaterThan(ticks[i - 1] ?? Number.NEGATIVE_INFINITY));
        },
      ),
    );
  });

  test("has a few ticks for one value alone", () => {
    expect(createScale([9], "linear", false, 8).ticks).toEqual([6, 8, 10, 12]);
  });

  test("names round values", () => {
    expect(createScale([0, 98_000], "linear", true, 5).ticks).toEqual([0, 20_000, 40_000, 60_000, 80_000, 100_000]);
    expect(createScale([12, 9_000], "log", true, 6).ticks).toEqual([10, 100, 1_000, 10_000]);
    expect(createScale([50, 95, 99, 99.9], "percentile", true, 8).ticks).toEqual([0, 50, 90, 99, 99.9]);
  });

  test("spreads the upper percentiles: from 90 to 99 is as far as from 99 to 99.9", () => {
    const { place } = createScale([99.9], "percentile", true, 8);
    expect(place(99) - place(90)).toBeCloseTo(place(99.9) - place(99), 6);
  });

  test.each([
    [2_500, "ns", "2.5 µs"],
    [250_000, "per-second", "250k/s"],
    [1_500_000, "bytes", "1.5 MB"],
    [0.25, "s", "250 ms"],
    [20, "ms", "20 ms"],
    [40, "percent", "40%"],
    [0, "ns", "0"],
  ] as const)("says %d in %s as %s", (value, unit, text) => expect(tickText(value, unit)).toBe(text));
});

describe("what charts say", () => {
  test("bars: the value, its spread, and who is best, to those who do not see them, too", () => {
    const svg = barChartSvg(
      {
        kind: "bars",
        title: "Rates",
        bars: [
          { label: "Avro", value: 200, text: "200 msg/s", spread: [150, 250], mark: "best" },
          { label: "JSON", value: 50, text: "50 msg/s" },
        ],
      },
      { id: "c", width: 720 },
    );
    expect(svg).toContain('<desc id="c-d">Avro: 200 msg/s, rounds from 150 to 250, best; JSON: 50 msg/s</desc>');
    const [avro, json] = [...svg.matchAll(/class="bar \w+" x="[^"]*" y="[^"]*" width="([^"]*)"/g)].map(([, width]) => Number(width));
    expect((avro ?? 0) / (json ?? 1)).toBeCloseTo(4, 1);
  });

  test("stacks: shares of each row, and names of their own for small ones", () => {
    const parts = [
      { label: "fetch", value: 1, text: "1 s" },
      { label: "decode", value: 3, text: "3 s" },
    ];
    const svg = stackChartSvg({ kind: "stack", title: "Stages", rows: [{ label: "t", parts }] }, { id: "c", width: 720 });
    expect(svg).toContain("t: fetch 1 s (25%), decode 3 s (75%)");
    expect(svg).toContain("<title>decode: 3 s, 75%</title>");
  });

  test("lines: a peak of one point among a hundred thousand is still there", () => {
    const points = Array.from({ length: 100_000 }, (_, i) => [i, i === 54_321 ? 1_000 : 1] as const);
    const thin = thinOut(points, 300);
    expect(thin.length).toBeLessThanOrEqual(1_200);
    expect(thin).toContainEqual([54_321, 1_000]);
    expect(thin.at(-1)).toEqual([99_999, 1]);
  });

  test("markers name their point", () => {
    const svg = lineChartSvg(
      {
        kind: "lines",
        title: "Sweep",
        x: { title: "batch", scale: "log" },
        y: { title: "rate", unit: "per-second" },
        series: [
          {
            label: "a",
            points: [
              [1, 10],
              [100, 50],
            ],
          },
        ],
        markers: [{ x: 100, y: 50, label: "knee" }],
      },
      { id: "c", width: 720 },
    );
    expect(svg).toMatch(/<circle class="marker"[^>]*\/><text class="marker-label"[^>]*>knee</);
    expect(svg).toContain("knee at 100, 50/s");
  });
});
