import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { bundledRecording } from "@cdckit/testkit";
import { type BenchResult, renderHtml, type ReportDocument } from "cdc-bench";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeWithChromium, launchChromium } from "../integration/chromium.ts";
import { expectValidResult } from "../integration/result-schema.ts";

/** The program as users start it; it runs what the build made. */
const binary = fileURLToPath(new URL("../../packages/cdc-bench/bin/cdc-bench.js", import.meta.url));
const recorded = bundledRecording("salesorderdetail/json");

const folder = mkdtempSync(join(tmpdir(), "cdc-bench-report-"));
const runFile = join(folder, "run.json");
const codecFile = join(folder, "codec.json");
const reportFile = join(folder, "report.html");

const cdcBench = (...args: readonly string[]): string =>
  execFileSync(process.execPath, [binary, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });

beforeAll(() => {
  cdcBench("run", "--file", recorded.file, "--json", "-o", runFile);
  cdcBench("codec", "--suite", "ratings", "--rows", "5", "--rounds", "1", "--mode", "list", "--json", "-o", codecFile);
  cdcBench("report", runFile, codecFile, "-o", reportFile);
});

afterAll(() => rmSync(folder, { recursive: true }));

describe("the published schema", () => {
  test.each([
    ["run", runFile],
    ["codec", codecFile],
  ])("describes what %s writes", (command, file) => {
    expect(expectValidResult(readFileSync(file, "utf8"))).toMatchObject({ command, aborted: false });
  });

  test("refuses a result without what its command has", () => {
    const { runs: _runs, ...rest } = JSON.parse(readFileSync(runFile, "utf8")) as Record<string, unknown>;
    expect(() => expectValidResult(JSON.stringify(rest))).toThrow(/runs/);
    expect(() => expectValidResult(JSON.stringify({ ...rest, runs: [], surprise: 1 }))).toThrow(/surprise/);
  });
});

describe("report refuses what is no result, with exit code 2 and a sentence", () => {
  const report = (...args: readonly string[]): { status: number | null; stdout: string; stderr: string } =>
    spawnSync(process.execPath, [binary, "report", ...args], { encoding: "utf8" });
  const written = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const good = (): Record<string, unknown> => JSON.parse(readFileSync(runFile, "utf8")) as Record<string, unknown>;

  test.each([
    ["a missing file", () => join(folder, "none.json"), "there is no such file"],
    ["a folder", () => folder, "it is a folder"],
    ["an empty file", () => written("empty.json", ""), "it is empty"],
    [
      "a truncated result",
      () => written("cut.json", readFileSync(runFile, "utf8").slice(0, 700)),
      "its JSON is cut off after 700 characters",
    ],
    ["what is not JSON", () => written("text.json", "<html>"), "it is not JSON"],
    ["another tool's JSON", () => written("k6.json", '{"metrics":{}}'), "no result of cdc-bench"],
    ["a list", () => written("list.json", "[]"), "no result of cdc-bench"],
    ["a newer schemaVersion", () => written("newer.json", JSON.stringify({ ...good(), schemaVersion: 2 })), "it has schemaVersion 2"],
    ["a missing field", () => written("less.json", JSON.stringify({ ...good(), runs: undefined })), "must have required property 'runs'"],
    ["a field of another type", () => written("type.json", JSON.stringify({ ...good(), runs: [{ topics: 1 }] })), "/runs/0"],
    [
      "a command without a report",
      () => written("odd.json", JSON.stringify({ ...good(), command: "frob" })),
      "there is no report for results of frob",
    ],
    // Without an end, as a file of 500 MB is for what reads it.
    ["a file that is too long", () => "/dev/zero", "it is longer than 64 MiB"],
  ])("%s", (_case, fileOf, said) => {
    const ended = report(fileOf(), "-o", join(folder, "none.html"));
    expect(ended).toMatchObject({ status: 2, stdout: "", stderr: expect.stringContaining(said) });
    expect(ended.stderr).not.toMatch(/^\s+at /m);
  });

  test("an output that is one of the results, which stays as it was", () => {
    const before = readFileSync(runFile, "utf8");
    expect(report(runFile, "-o", runFile)).toMatchObject({ status: 2, stderr: expect.stringContaining("would overwrite it") });
    expect(readFileSync(runFile, "utf8")).toBe(before);
  });

  test("and takes the form from the name of the output", () => {
    expect(report(runFile, "-o", join(folder, "r.md"))).toMatchObject({ status: 0, stdout: "", stderr: "" });
    expect(readFileSync(join(folder, "r.md"), "utf8")).toMatch(/^# run\n/);
    expect(report(runFile, "--format", "csv").stdout).toMatch(/^report,table,topic,records,/);
  });
});

describeWithChromium("the HTML report in a browser", (path) => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await launchChromium(path);
  });

  afterAll(() => browser.close());

  /** A page that fails its test by anything that it asks for or complains about. */
  async function open(
    file: string,
    options: Parameters<Browser["newPage"]>[0] = {},
  ): Promise<{ readonly page: Page; readonly complaints: string[] }> {
    const page = await browser.newPage(options);
    const complaints: string[] = [];
    const address = pathToFileURL(file).href;
    page.on("console", (message) => complaints.push(`console: ${message.text()}`));
    page.on("pageerror", ({ message }) => complaints.push(`error: ${message}`));
    await page.route("**", (route) => {
      if (route.request().url() === address) return route.continue();
      complaints.push(`request: ${route.request().url()}`);
      return route.abort();
    });
    await page.goto(address);
    return { page, complaints };
  }

  test("shows the numbers of the JSON, asks for nothing, and complains about nothing", async () => {
    const { page, complaints } = await open(reportFile);
    const run = JSON.parse(readFileSync(runFile, "utf8")) as {
      readonly runs: readonly {
        readonly records: number;
        readonly recordsPerSecond: number;
        readonly formats: readonly { readonly sizes: { readonly p99Bytes: number } }[];
      }[];
    };
    const [topic] = run.runs;
    const rates = page.locator("#result-1 section", { hasText: "Rates" }).first().locator("tbody tr");
    expect(await rates.locator("td").nth(0).textContent()).toBe((topic?.records ?? 0).toLocaleString("en-US"));
    expect(await rates.locator("td").nth(4).textContent()).toBe(Math.round(topic?.recordsPerSecond ?? 0).toLocaleString("en-US"));
    expect(await page.locator("#result-1-s2 tbody td").nth(4).textContent()).toBe(String(topic?.formats[0]?.sizes.p99Bytes));
    const codec = JSON.parse(readFileSync(codecFile, "utf8")) as {
      readonly suites: readonly { readonly codecs: readonly { readonly codec: string; readonly sizeBytes: number }[] }[];
    };
    for (const { codec: name, sizeBytes } of codec.suites[0]?.codecs ?? []) {
      const rows = page.locator("#result-2 tbody tr", { has: page.getByRole("rowheader", { name, exact: true }) });
      expect((await rows.allTextContents()).join(" "), name).toContain(sizeBytes.toLocaleString("en-US"));
    }
    // Shares of the stages are as wide as they say.
    const stages = await page
      .locator("#result-1 .wide g .part")
      .evaluateAll((parts) => parts.map((part) => Number(part.getAttribute("width"))));
    expect(stages.reduce((sum, width) => sum + width, 0)).toBeCloseTo(720, 0);
    expect(complaints).toEqual([]);
  });

  test("gives the raw JSON back, as a text to read and as a file", async () => {
    const { page, complaints } = await open(reportFile, { acceptDownloads: true });
    const raw = JSON.parse(readFileSync(runFile, "utf8")) as unknown;
    expect(JSON.parse((await page.locator("#result-1-raw").textContent()) ?? "")).toEqual(raw);
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByText("Download cdc-bench-run.json").click()]);
    expect(JSON.parse(readFileSync((await download.path()) ?? "", "utf8"))).toEqual(raw);
    expect(complaints).toEqual([]);
  });

  test.each([400, 1_280])("fits %i pixels: tables scroll in their boxes, never the page", async (width) => {
    const { page } = await open(reportFile, { viewport: { width, height: 800 } });
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
    await page.locator("details").evaluateAll((all) => all.forEach((each) => each.setAttribute("open", "")));
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
    // One of the two drawings of each chart is there, at its own size: its texts are as large as they were drawn.
    const chart = page.locator("#result-1 svg.chart:visible").first();
    expect((await chart.boundingBox())?.width).toBeCloseTo(Number(await chart.getAttribute("width")), 0);
  });

  test("is dark if the reader wants it dark, and light on paper all the same", async () => {
    const { page } = await open(reportFile, { colorScheme: "dark" });
    const ground = (): Promise<unknown> => page.evaluate("getComputedStyle(document.body).backgroundColor");
    expect(await ground()).toBe("rgb(18, 22, 27)");
    await page.emulateMedia({ media: "print" });
    expect(await ground()).toBe("rgb(255, 255, 255)");
    expect(await page.locator(".raw").first().isVisible()).toBe(false);
    expect((await page.pdf()).subarray(0, 5).toString()).toBe("%PDF-");
  });

  test("is reached by keyboard in all of its parts, and says what each chart is", async () => {
    const { page } = await open(reportFile);
    const focusable = await page.locator("a[href]:visible, summary:visible, [tabindex='0']:visible, button:visible").count();
    const reached = new Set<string>();
    for (let i = 0; i < focusable; i++) {
      await page.keyboard.press("Tab");
      reached.add(String(await page.evaluate("[...document.querySelectorAll('*')].indexOf(document.activeElement)")));
    }
    expect(reached.size).toBe(focusable);
    for (const svg of await page.locator("svg.chart").all()) {
      const ids = ((await svg.getAttribute("aria-labelledby")) ?? "").split(" ");
      for (const id of ids) expect(await page.locator(`[id="${id}"]`).textContent()).not.toBe("");
    }
  });

  test("zooms into flame graphs and time series, by mouse and by keyboard", async () => {
    const file = join(folder, "zoom.html");
    const points = Array.from({ length: 400 }, (_, i) => [i / 10, i === 200 ? 9_000 : 5_000 + (i % 7)] as const);
    const row = { name: "readRow", valueUs: 300, area: "decode", children: [] } as const;
    const document: ReportDocument = {
      title: "drain",
      subtitle: "zoom",
      isPartial: false,
      sections: [
        {
          title: "Over time",
          blocks: [
            {
              kind: "lines",
              title: "Events a second",
              x: { title: "time", unit: "s" },
              y: { title: "rate", unit: "per-second" },
              series: [{ label: "</script><b>", points }],
              isTimeSeries: true,
            },
            {
              kind: "flame",
              title: "Profile",
              subtitle: "Avro",
              root: {
                name: "all",
                valueUs: 1_000,
                area: "other",
                children: [
                  { name: "decode", valueUs: 600, area: "decode", children: [row] },
                  { name: "idle", valueUs: 400, area: "idle", children: [] },
                ],
              },
            },
          ],
        },
      ],
    };
    const json = readFileSync(runFile, "utf8");
    writeFileSync(file, renderHtml([{ document, json, result: JSON.parse(json) as BenchResult }], "zoom"));
    const { page, complaints } = await open(file);

    const widthOf = async (name: string): Promise<number> =>
      (await page.locator(`.frame[data-name="${name}"] rect`).boundingBox())?.width ?? 0;
    const [all, decode] = [await widthOf("all"), await widthOf("decode")];
    expect(decode / all).toBeCloseTo(0.6, 1);
    await page.locator('.frame[data-name="all"]').focus();
    await page.keyboard.press("ArrowDown");
    expect(await page.locator(".flame-line").textContent()).toBe("decode: 600 µs, 60%, decode");
    await page.keyboard.press("Enter");
    expect(await widthOf("decode")).toBeCloseTo(all, -1);
    expect(await widthOf("readRow")).toBeCloseTo(all / 2, -1);
    expect(await page.locator('.frame[data-name="idle"]').isVisible()).toBe(false);
    await page.keyboard.press("Escape");
    expect(await widthOf("decode")).toBeCloseTo(decode, -1);
    await page.locator('.frame[data-name="readRow"]').click();
    expect(await widthOf("readRow")).toBeCloseTo(all, -1);

    const plotted = page.locator(".uplot canvas");
    expect(await plotted.count()).toBe(1);
    const before = await plotted.screenshot();
    await page.getByRole("button", { name: "Zoom in", exact: true }).press("Enter");
    await expect.poll(async () => (await plotted.screenshot()).equals(before)).toBe(false);
    await page.getByRole("button", { name: "All", exact: true }).press("Enter");
    await expect.poll(async () => (await plotted.screenshot()).equals(before)).toBe(true);
    await page.emulateMedia({ media: "print" });
    expect(await plotted.isVisible()).toBe(false);
    expect(await page.locator("figure .static.wide").first().isVisible()).toBe(true);
    expect(complaints).toEqual([]);
  });

  test("is complete without scripts", async () => {
    const { page } = await open(reportFile, { javaScriptEnabled: false });
    expect(await page.locator("#result-2 svg.chart, #result-2 table").count()).toBeGreaterThan(0);
    expect(await page.getByText("Download cdc-bench-run.json").isVisible()).toBe(false);
    expect(await page.locator("#result-1-raw").textContent()).toContain('"schemaVersion": 1');
  });
});
