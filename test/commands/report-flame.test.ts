import { flameGraphSvg, type Frame } from "cdc-bench";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeWithChromium, launchChromium } from "../integration/chromium.ts";

const readRow: Frame = { name: "readRow</text><script>alert(1)</script>", valueUs: 450, area: "decode", children: [] };
const root: Frame = {
  name: "(all)",
  valueUs: 1_000,
  area: "other",
  children: [
    { name: "decode", valueUs: 600, area: "decode", children: [readRow] },
    { name: "(idle)", valueUs: 300, area: "idle", children: [] },
  ],
};

describeWithChromium("a flame graph in a browser", (path) => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await launchChromium(path);
  });

  afterAll(() => browser.close());

  test("is an SVG that stands alone: frames as wide as their share, one inside of the other", async () => {
    const page = await browser.newPage();
    const errors: string[] = [];
    page.on("pageerror", ({ message }) => errors.push(message));
    const svg = flameGraphSvg({ kind: "flame", title: "drain", subtitle: "Avro", root });
    // As image/svg+xml, so that the browser's XML parser judges it.
    await page.goto(`data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`);
    const frames = await page.locator("g.frame").evaluateAll((groups) =>
      groups.map((group) => {
        const { x, width, y } = (group as unknown as { querySelector(name: string): SvgBox }).querySelector("rect").getBBox();
        return { name: group.getAttribute("data-name"), x, width, y };
      }),
    );
    const [all, decode, row, idle] = frames;
    expect(frames.map(({ name }) => name)).toEqual(["(all)", "decode", readRow.name, "(idle)"]);
    expect((decode?.width ?? 0) / (all?.width ?? 0)).toBeCloseTo(0.6, 3);
    expect(row?.x).toBeCloseTo(decode?.x ?? 0, 3);
    expect(row?.y).toBeGreaterThan(decode?.y ?? 0);
    expect(idle?.x).toBeCloseTo((decode?.x ?? 0) + (decode?.width ?? 0), 1);
    expect(await page.locator("script").count()).toBe(0);
    expect(errors).toEqual([]);
  });
});

/** The part of the browser's SVG types that is used here: the tests' compiler has no DOM. */
interface SvgBox {
  getBBox(): { readonly x: number; readonly y: number; readonly width: number };
}
