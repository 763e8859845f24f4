import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { BenchResult } from "../../../result/bench-result.ts";
import type { ReportDocument } from "../../document.ts";
import { pageStyle } from "./assets.ts";
import { renderHtml, type ReportedResult } from "./page.ts";

const hostile = `</script><script>alert(1)</script><img src=x onerror=alert(2)>"'&\u202e\u0000`;

const result: BenchResult = {
  schemaVersion: 1,
  command: "run",
  startedAt: "2026-11-22T08:00:00.000Z",
  elapsedMs: 1_234,
  aborted: false,
  environment: { cpu: hostile, cores: 2, memoryBytes: 25e9, platform: "linux x64", node: "v20.19.0", versions: { [hostile]: hostile } },
  settings: { [hostile]: hostile, nested: { list: ["a", "b"], none: null } },
  rules: [hostile],
  notes: [],
  metrics: [],
  thresholds: [{ expr: "rate>1", passed: false, actual: 0 }],
  baseline: [],
};

const times = Array.from({ length: 50 }, (_, i) => [i, i * 2] as const);

const document: ReportDocument = {
  title: hostile,
  subtitle: hostile,
  isPartial: true,
  sections: [
    {
      title: hostile,
      blocks: [
        { kind: "paragraph", text: hostile },
        { kind: "list", items: [hostile] },
        {
          kind: "table",
          title: hostile,
          columns: [{ title: hostile }],
          rows: [[hostile], [{ text: hostile, value: 1, bar: 2, mark: "best" }]],
        },
        { kind: "bars", title: hostile, bars: [{ label: hostile, value: 1, text: hostile }] },
        { kind: "stack", title: hostile, rows: [{ label: hostile, parts: [{ label: hostile, value: 1, text: hostile }] }] },
        { kind: "winners", rows: [{ dimension: hostile, winner: hostile, figure: hostile, against: hostile }] },
        { kind: "code", title: hostile, language: "text", text: hostile },
        {
          kind: "lines",
          title: hostile,
          x: { title: hostile },
          y: { title: hostile },
          series: [{ label: hostile, points: times }],
          isTimeSeries: true,
          markers: [{ x: 1, y: 1, label: hostile }],
        },
        { kind: "flame", title: hostile, subtitle: hostile, root: { name: hostile, valueUs: 1, area: "decode", children: [] } },
      ],
    },
  ],
};

const reported: ReportedResult = { result, document, json: `{"big":9007199254740993,"hostile":${JSON.stringify(hostile)}}` };
const plain: ReportedResult = {
  ...reported,
  document: { ...document, sections: [{ title: "Notes", blocks: [{ kind: "paragraph", text: "none" }] }] },
};

const scriptsOf = (html: string): readonly string[] => [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, text = ""]) => text);

describe("the HTML report", () => {
  const html = renderHtml([reported, reported], hostile);

  test("has no markup but its own, whoever named things", () => {
    expect(html).not.toMatch(/<img|<script>alert|onerror=alert\(2\)>["']/);
    expect(html).not.toMatch(/[\u202e]/u);
    expect([...html.matchAll(/<script/g)]).toHaveLength(2); // its own, and the times of its curves
  });

  test("allows its own style and script by their hashes, and nothing else", () => {
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? "";
    const sourceOf = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
    const [script = ""] = scriptsOf(html);
    const style = /<style>([\s\S]*?)<\/style>/.exec(html)?.[1] ?? "";
    expect(policy).toBe(
      `default-src 'none'; style-src ${sourceOf(style)}; script-src ${sourceOf(script)}; img-src data:; base-uri 'none'; form-action 'none'`,
    );
    expect(html).not.toMatch(/ style="/); // which the policy would refuse
  });

  test("points nowhere outside of itself", () => {
    const addresses = [...html.matchAll(/ (?:src|href|action|srcset)="([^"]*)"/g)].map(([, address]) => address);
    expect(addresses.filter((address) => !/^(#[\w-]+|data:,)$/.test(address ?? ""))).toEqual([]);
    expect(html).not.toMatch(/@import|url\(/);
  });

  test("has every id once, and every reference to one that is there", () => {
    const ids = [...html.matchAll(/ id="([^"]*)"/g)].map(([, id = ""]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const references = [...html.matchAll(/ (?:aria-labelledby|data-source)="([^"]*)"| href="#([^"]*)"/g)].flatMap(([, names, target]) =>
      (names ?? target ?? "").split(" "),
    );
    expect(references.filter((id) => !ids.includes(id))).toEqual([]);
  });

  test.each([
    [99_949, "99.9 s"],
    [99_950, "1 min 40 s"],
    [119_700, "2 min 0 s"],
  ])("says that %i ms took %s", (elapsedMs, text) => {
    expect(renderHtml([{ ...plain, result: { ...result, elapsedMs } }], "plain")).toContain(`, took ${text}`);
  });

  test("keeps the raw JSON to the digit", () => expect(html).toContain("&quot;big&quot;: 9007199254740993,"));

  test("says that a result is partial and that a threshold was missed, also in its contents", () => {
    expect(html).toContain("<strong>Aborted:</strong>");
    expect(html.slice(0, html.indexOf("<main"))).toContain("1 of 1 thresholds missed");
  });

  test("has the chart library only for time series that want zoom, and the flame's script only for flames", () => {
    expect(scriptsOf(html)[0]).toContain("uPlot");
    const [script = ""] = scriptsOf(renderHtml([plain], "plain"));
    expect(script).not.toContain("uPlot");
    expect(script).not.toContain("flame");
    expect(script.length).toBeLessThan(1_000);
  });
});

/** WCAG 2: relative luminance. */
function luminance(color: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [light = 0, dark = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (light + 0.05) / (dark + 0.05);
}

describe("the report's colors", () => {
  const [light, dark] = [...pageStyle({ timeSeries: false, flame: false }).text.matchAll(/:root \{([^}]*)\}/g)].map(
    ([, block = ""]) => new Map([...block.matchAll(/(--[\w-]+): (#[0-9a-f]{6});/g)].map(([, name = "", color = ""]) => [name, color])),
  );

  test.each([
    ["light", light],
    ["dark", dark],
  ])("%s: texts have a contrast of 4.5 at the least, series too, because texts stand on them", (_name, colors) => {
    const color = (name: string): string => colors?.get(name) ?? "";
    for (const ink of ["--ink", "--muted", "--accent", "--good", "--warn"]) {
      expect(contrast(color(ink), color("--ground")), ink).toBeGreaterThanOrEqual(4.5);
      expect(contrast(color(ink), color("--surface")), ink).toBeGreaterThanOrEqual(4.5);
    }
    for (let i = 0; i < 8; i++) {
      expect(contrast(color(`--series-${i}`), color("--on-series")), `series ${i}`).toBeGreaterThanOrEqual(4.5);
      expect(contrast(color(`--series-${i}`), color("--ground")), `series ${i}`).toBeGreaterThanOrEqual(3);
    }
  });
});
