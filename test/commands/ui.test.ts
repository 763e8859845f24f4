import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pass } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Kafka, logLevel } from "kafkajs";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { describeWithChromium, launchChromium, newPage } from "../integration/chromium.ts";
import { arePicturesTaken, takePicture } from "../integration/pictures.ts";
import { createTopics, describeWithKafka, uniqueName } from "../integration/stack.ts";

/** The program as users start it; it runs what the build made. */
const binary = fileURLToPath(new URL("../../packages/cdc-bench/bin/cdc-bench.js", import.meta.url));

const waiting = { timeout: 60_000, interval: 50 };

interface StartedUi {
  readonly child: ChildProcess;
  readonly origin: string;
  readonly token: string;
  readonly address: string;
  readonly dir: string;
  /** Ctrl-C; the exit code, and how long it took. */
  stop(): Promise<{ readonly code: number | null; readonly tookMs: number }>;
  ask(path: string, init?: RequestInit): Promise<Response>;
}

const folders: string[] = [];
const started: StartedUi[] = [];

afterAll(async () => {
  await Promise.all(started.map((ui) => ui.stop()));
  folders.forEach((folder) => rmSync(folder, { recursive: true, force: true }));
});

function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "cdckit-ui-"));
  folders.push(folder);
  return folder;
}

async function startUi(args: readonly string[] = [], dir = ownFolder(), more: NodeJS.ProcessEnv = {}): Promise<StartedUi> {
  const env = { ...process.env, ...more };
  const child = spawn(process.execPath, [binary, "ui", "--dir", dir, ...args], { stdio: ["ignore", "pipe", "pipe"], env });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const address = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding("utf8").once("data", (text: string) => resolve(text.trim()));
    child.once("exit", (code) => reject(new Error(`ui ended with ${code}: ${stderr}`)));
  });
  const { origin, hash } = new URL(address);
  const token = hash.replace("#token=", "");
  const exited = once(child, "exit");
  const ui: StartedUi = {
    ...{ child, origin, token, address, dir },
    async stop() {
      const startedMs = performance.now();
      child.kill("SIGINT");
      const [code] = (await exited) as [number | null];
      return { code, tookMs: performance.now() - startedMs };
    },
    ask: (path, init = {}) =>
      fetch(`${origin}${path}`, {
        ...init,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...init.headers },
      }),
  };
  started.push(ui);
  return ui;
}

describe("cdc-bench ui refuses", () => {
  let ui: StartedUi;
  beforeAll(async () => {
    ui = await startUi();
  });

  test.each([
    ["no token", { authorization: "" }, 401],
    ["a wrong token", { authorization: "Bearer x" }, 401],
    ["another origin", { origin: "http://evil.example" }, 403],
    ["a sandboxed page", { origin: "null" }, 403],
    ["what a browser calls cross-site", { "sec-fetch-site": "cross-site" }, 403],
    ["a page on another port of this host", { "sec-fetch-site": "same-site" }, 403],
    ["a body that is no JSON", { "content-type": "text/plain" }, 415],
  ])("%s", async (_name, headers, status) => {
    const response = await ui.ask("/api/run", { method: "POST", body: JSON.stringify({ command: "demo", values: {} }), headers });
    expect(response.status).toBe(status);
    expect(await response.text()).not.toContain(ui.token);
    expect(readdirSync(ui.dir)).toEqual([]);
  });

  test.each([
    [{ command: "rm", values: {} }, 400, "no such scenario"],
    [{ command: "codec", values: { "--output": "/tmp/x" } }, 400, "no field --output"],
    [{ command: "codec", values: { "--mode": "all" } }, 400, "must be one of"],
    [{ command: "codec", values: { __proto__: null, constructor: "x" } }, 400, "no field constructor"],
    [{ command: "codec", values: [] }, 400, "values must be an object"],
  ])("the run %j", async (body, status, said) => {
    const response = await ui.ask("/api/run", { method: "POST", body: JSON.stringify(body) });
    expect([response.status, await response.text()]).toEqual([status, expect.stringContaining(said) as string]);
  });

  test("a body that is too large, an address that leads elsewhere, a name that others point at this machine", async () => {
    const large = await ui.ask("/api/run", { method: "POST", body: JSON.stringify({ command: "x".repeat(100_000) }) });
    expect(large.status).toBe(413);
    expect((await ui.ask("/api/kept/..%2f..%2fetc")).status).toBe(404);
    expect((await ui.ask("/%2e%2e/package.json")).status).toBe(404);
    expect((await ui.ask("/report/unknown")).status).toBe(404);
    const { request } = await import("node:http");
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const asked = request(`${ui.origin}/api/state`, { headers: { host: "evil.example", authorization: `Bearer ${ui.token}` } });
      asked.once("response", (response) => resolve(response.resume().statusCode)).once("error", reject);
      asked.end();
    });
    expect(status).toBe(421);
  });

  test("a port that is taken", async () => {
    await expect(startUi(["--port", new URL(ui.origin).port])).rejects.toThrow(
      /ended with 2: cdc-bench: cannot listen on .*another program has it/,
    );
  });
});

/** What the page gets: its state, through the same events. */
async function stateOf(ui: StartedUi): Promise<{ readonly run: { readonly status: string; readonly observation: unknown } | null }> {
  return (await (await ui.ask("/api/state")).json()) as { run: { status: string; observation: unknown } | null };
}

test("Ctrl-C stops the run, whose result is kept, and ends at once", async () => {
  const ui = await startUi();
  const body = JSON.stringify({ command: "codec", values: { "--suite": "ratings", "--mode": "objects" } });
  expect((await ui.ask("/api/run", { method: "POST", body })).status).toBe(202);
  expect((await ui.ask("/api/run", { method: "POST", body })).status).toBe(409);
  expect((await ui.ask("/api/look", { method: "POST", body: '{"values":{"--topics":"x"}}' })).status).toBe(409);
  await vi.waitFor(async () => expect((await stateOf(ui)).run?.observation).not.toBeNull(), waiting);
  const events = await ui.ask("/api/events");
  const { code, tookMs } = await ui.stop();
  expect(code).toBe(130);
  expect(tookMs).toBeLessThan(10_000); // a second, and what other tests take of the machine
  expect(await events.text()).toContain("event: closing");
  const [id] = readdirSync(ui.dir);
  await vi.waitFor(() => expect(readFileSync(join(ui.dir, id ?? "", "result.json"), "utf8")).toContain('"aborted":true'), waiting);
  const next = await startUi([], ui.dir);
  expect(await (await next.ask(`/api/kept/${id}`)).json()).toMatchObject({ command: "codec", isPartial: true });
});

test("a run whose page is killed writes what it has, and ends", async () => {
  const ui = await startUi();
  const body = JSON.stringify({ command: "codec", values: { "--suite": "ratings", "--mode": "objects", "--rounds": "1000" } });
  await ui.ask("/api/run", { method: "POST", body });
  await vi.waitFor(async () => expect((await stateOf(ui)).run?.observation).not.toBeNull(), waiting);
  ui.child.kill("SIGKILL");
  const [id] = readdirSync(ui.dir);
  await vi.waitFor(() => expect(readFileSync(join(ui.dir, id ?? "", "result.json"), "utf8")).toContain('"aborted":true'), waiting);
});

test("secrets of the environment, and logins in addresses, reach no page and no file", async () => {
  const secrets = { KAFKA_SASL_PASSWORD: "canary-one", SCHEMA_REGISTRY_TOKEN: "canary-two", KAFKA_BROKERS: "127.0.0.1:1" };
  const ui = await startUi([], ownFolder(), secrets);
  const values = {
    "--topics": "orders",
    "--sasl-mechanism": "plain",
    "--sasl-username": "reader",
    "--registry": "http://u:canary-three@127.0.0.1:1",
  };
  await ui.ask("/api/run", { method: "POST", body: JSON.stringify({ command: "run", values: { ...values, "--duration": "1s" } }) });
  const kept = readdirSync(ui.dir).map((id) => readFileSync(join(ui.dir, id, "run.json"), "utf8"));
  await vi.waitFor(async () => expect((await stateOf(ui)).run?.status).toBe("ended"), waiting);
  const state = JSON.stringify(await stateOf(ui));
  expect(state).toContain("http://127.0.0.1:1");
  expect(`${state}${kept.join("")}`).not.toContain("canary");
});

test("a run that fails says why, and keeps nothing", async () => {
  const ui = await startUi(["--keep", "2"]);
  const body = JSON.stringify({ command: "run", values: { "--brokers": "127.0.0.1:1", "--topics": "orders" } });
  await ui.ask("/api/run", { method: "POST", body });
  await vi.waitFor(async () => expect((await stateOf(ui)).run?.status).toBe("ended"), waiting);
  expect((await stateOf(ui)).run).toMatchObject({
    exitCode: 3,
    hasResult: false,
    problem: expect.stringContaining("127.0.0.1:1") as string,
  });
  expect(readdirSync(ui.dir)).toEqual([]);
});

describeWithChromium("cdc-bench ui in Chromium", (path) => {
  let browser: Browser;
  let ui: StartedUi;
  const problems: string[] = [];

  beforeAll(async () => {
    browser = await launchChromium(path);
    ui = await startUi();
  });
  afterAll(async () => {
    await browser.close();
  });

  /** A page whose console errors, and requests to anywhere but the command, are problems. */
  async function openPage(of = ui, width = 1200): Promise<Page> {
    const page = await newPage(browser, { viewport: { width, height: 900 } });
    page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("request", (request) => {
      if (!request.url().startsWith(`${of.origin}/`) && !/^(blob|data):/.test(request.url())) {
        problems.push(`a request to ${request.url()}`);
      }
    });
    await page.goto(of.address);
    await page.waitForSelector("#connection[data-state=open]");
    await page.waitForSelector("#run-fields .field", { state: "attached" });
    return page;
  }

  async function runCodec(page: Page, rows: string): Promise<void> {
    await page.selectOption("#scenario", "codec");
    await page.getByLabel("suite", { exact: true }).fill("ratings");
    await page.getByLabel("rows", { exact: true }).fill(rows);
    await page.getByLabel("quick", { exact: true }).check();
    await page.selectOption("#run-mode", "objects");
    await page.click("#start");
    await page.locator("#live[data-status=ended] #live-command", { hasText: `--rows=${rows}` }).waitFor();
  }

  test("runs a scenario from its form to its report, and keeps it", async () => {
    const page = await openPage();
    expect(page.url()).not.toContain(ui.token);
    await runCodec(page, "20");
    expect(await page.textContent("#live-command")).toContain("codec --suite=ratings --mode=objects --rows=20");
    expect(await page.textContent("#live-status")).toContain("ended");
    await page.click("#show-result");
    await page.waitForSelector("#result tbody tr");
    const [id] = readdirSync(ui.dir);
    const result = JSON.parse(readFileSync(join(ui.dir, id ?? "", "result.json"), "utf8")) as {
      metrics: readonly { name: string; scope: string }[];
    };
    expect(await page.locator("#result .figures-table tbody tr").count()).toBe(result.metrics.length);
    const [opened] = await Promise.all([page.waitForEvent("popup"), page.getByText("Open the report").click()]);
    await opened.waitForSelector("article h2");
    expect(opened.url()).toMatch(/\/report\/[\w-]{32}$/);
    expect(await opened.textContent("main")).toContain("ratings");
    await opened.close();
    const [saved] = await Promise.all([page.waitForEvent("download"), page.getByText("Save the JSON").click()]);
    expect(readFileSync(await saved.path(), "utf8")).toBe(readFileSync(join(ui.dir, id ?? "", "result.json"), "utf8"));
    await runCodec(await goTo(page, "#measure"), "40");
    await goTo(page, "#results");
    await page.locator("#kept tbody tr").nth(1).waitFor();
    expect(await page.locator("#kept tbody tr").count()).toBe(2);
    await page.locator('#kept input[name="before"]').nth(1).check();
    await page.locator('#kept input[name="now"]').nth(0).check();
    await page.click("#compare");
    await page.waitForSelector("#comparison .figures-table");
    const row = page.locator('#comparison tr[data-figure="codec.write"]').first();
    const [before, now, ratio] = await row.locator("td.number").allTextContents();
    expect(ratio).toMatch(/^\d+\.\d\dx$/);
    expect(nanoseconds(now ?? "") / nanoseconds(before ?? "")).toBeCloseTo(Number(ratio?.slice(0, -1)), 1);
    await page.close();
    expect(problems).toEqual([]);
  });

  test("a reload and a second tab see the run that goes on, stop it, and say when the command has ended", async () => {
    const of = await startUi();
    const [first, second] = [await openPage(of), await openPage(of)];
    await first.selectOption("#scenario", "codec");
    await first.getByLabel("suite", { exact: true }).fill("ratings");
    await first.click("#start");
    await second.locator("#live[data-status=running] #live-phase", { hasText: "ratings" }).waitFor();
    await first.reload();
    await first.locator("#live[data-status=running] #live-phase", { hasText: "ratings" }).waitFor();
    expect(await first.isDisabled("#start")).toBe(true);
    await first.click("#stop");
    await second.locator("#live[data-status=ended] #live-status", { hasText: "stopped" }).waitFor();
    await of.stop();
    await second.locator("#problem", { hasText: "cdc-bench ui has ended" }).waitFor();
    await second.locator("#connection[data-state=lost]").waitFor();
    await Promise.all([first.close(), second.close()]);
    // That nobody answers any more is what was tested; the browser reports it, too.
    expect(problems.splice(0).filter((problem) => !problem.includes("ERR_"))).toEqual([]);
  });

  test("is usable at 400 pixels, in the dark, and by keyboard alone", async () => {
    const page = await openPage(ui, 400);
    await page.emulateMedia({ colorScheme: "dark" });
    for (const view of ["#measure", "#results", "#topics"]) {
      await goTo(page, view);
      const width = await page.locator("html").evaluate(({ scrollWidth }) => scrollWidth);
      expect(width, view).toBeLessThanOrEqual(400);
    }
    await page.goto(ui.address);
    await page.waitForSelector("#run-fields .field", { state: "attached" });
    await focusByTab(page, "scenario");
    await page.keyboard.type("codec");
    await focusByTab(page, "run-suite");
    await page.keyboard.type("ratings");
    await focusByTab(page, "run-rows");
    await page.keyboard.type("10");
    await focusByTab(page, "run-quick");
    await page.keyboard.press("Space");
    await focusByTab(page, "start");
    await page.keyboard.press("Enter");
    await page.locator("#live[data-status=ended] #live-command", { hasText: "--rows=10" }).waitFor();
    await focusByTab(page, "show-result");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#result-title:focus");
    expect(await page.locator("html").evaluate(({ scrollWidth }) => scrollWidth)).toBeLessThanOrEqual(400);
    const unlabeled = await page
      .locator("input, select, textarea")
      .evaluateAll((inputs) =>
        inputs
          .filter((input) => ((input as { labels?: { length: number } }).labels?.length ?? 0) === 0 && !input.hasAttribute("aria-label"))
          .map(({ id }) => id),
      );
    expect(unlabeled).toEqual([]);
    await page.close();
    expect(problems).toEqual([]);
  });

  test("records a flame graph while the run goes on", async () => {
    const page = await openPage();
    await page.selectOption("#scenario", "codec");
    await page.getByLabel("suite", { exact: true }).fill("ratings");
    await page.getByLabel("rounds", { exact: true }).fill("500");
    await page.click("#start");
    await page.locator("#live-phase", { hasText: "ratings" }).waitFor();
    await page.click("#record");
    await page.locator("#live-status", { hasText: "recording" }).waitFor();
    await page.locator("#live-phase", { hasText: "round" }).waitFor();
    await page.click("#stop");
    await page.locator("#live[data-status=ended]").waitFor();
    await page.click("#show-result");
    await page.locator("#result svg.flame .frame").first().waitFor();
    const areas = await page.locator("#result svg.flame .frame title").allTextContents();
    expect(areas.some((text) => / codec\/codecs\/|avsc/.test(text) || text.endsWith(", decode"))).toBe(true);
    const whole = page.locator("#result svg.flame .frame").first();
    const inner = page.locator("#result svg.flame .frame[tabindex]").nth(2);
    const width = Number(await inner.locator("rect").getAttribute("width"));
    await inner.focus();
    await page.keyboard.press("Enter");
    expect(Number(await inner.locator("rect").getAttribute("width"))).toBeGreaterThanOrEqual(width);
    expect(await inner.locator("rect").getAttribute("width")).toBe(await whole.locator("rect").getAttribute("width"));
    expect(await page.textContent("#result")).toContain("A CPU profile was recorded");
    await page.close();
    expect(problems).toEqual([]);
  });

  test("names the field that is wrong, and a page without the token says so", async () => {
    const page = await openPage();
    await page.selectOption("#scenario", "codec");
    await page.getByLabel("rows", { exact: true }).fill("many");
    await page.click("#start");
    await page.locator("#live[data-status=ended] #live-problem", { hasText: "whole number" }).waitFor();
    expect(await page.getAttribute("#run-rows", "aria-invalid")).toBe("true");
    const stranger = await newPage(browser);
    await stranger.goto(ui.origin);
    await stranger.locator("#problem", { hasText: "Open the address that the command printed" }).waitFor();
    await Promise.all([page.close(), stranger.close()]);
    expect(problems).toEqual([]);
  });

  /** A recording that the page can look into and measure without a broker. */
  function recordingOf(topic: string, row: object, timestamps: readonly string[] = ["1700000000000"]): string {
    const file = join(ownFolder(), "recording.ndjson");
    const value = Buffer.from(JSON.stringify(row)).toString("base64");
    const lines = timestamps.map((timestamp, offset) => JSON.stringify({ topic, partition: 0, offset, timestamp, key: null, value }));
    writeFileSync(file, `${lines.join("\n")}\n`);
    return file;
  }

  async function lookInto(page: Page, file: string): Promise<void> {
    await goTo(page, "#topics");
    await page.locator("#look-file").fill(file);
    await page.click("#look");
    await page.locator("#look-status[data-status=ended]", { hasText: file }).waitFor();
  }

  test("shows records whose times stand in no calendar, and those beside them", async () => {
    const page = await openPage();
    await lookInto(page, recordingOf("orders", { id: 1 }, ["9223372036854775807", "8640000000000001", "-1", "1700000000000"]));
    await page.locator(".record").nth(3).waitFor();
    expect(await page.locator(".record time").allTextContents()).toEqual(["no time", "no time", "no time", "2023-11-14T22:13:20.000Z"]);
    await page.close();
    expect(problems).toEqual([]);
  });

  test("has room for the longest name of a topic, and for wide rows", async () => {
    const page = await openPage(ui, 400);
    const topic = "t".repeat(249);
    const file = recordingOf(topic, { a_rather_long_name_of_a_column: "text ".repeat(40), other: "x".repeat(2_000) });
    const width = (): Promise<number> => page.locator("html").evaluate(({ scrollWidth }) => scrollWidth);
    await lookInto(page, file);
    await page.locator(".record").waitFor();
    expect(await width()).toBeLessThanOrEqual(400);
    const summary = page.locator("#look-summary");
    expect(await summary.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    // A name that is cut after every other letter cannot be read.
    expect((await page.getByRole("rowheader", { name: "a_rather_long_name_of_a_column" }).boundingBox())?.width).toBeGreaterThan(200);
    await page.locator("#look-topics").fill(topic);
    await page.click("#look");
    await page.locator("#look-status[data-status=ended]", { hasText: topic }).waitFor();
    expect(await width()).toBeLessThanOrEqual(400);
    await goTo(page, "#measure");
    await page.selectOption("#scenario", "run");
    await page.locator("#run-file").fill(file);
    await page.click("#start");
    await page.locator("#live[data-status=ended]").waitFor();
    // So a phase names its topic. This run may have ended before the page was told of it.
    await page.locator("#live-phase").evaluate((phase, text) => (phase.textContent = text), topic);
    expect(await width()).toBeLessThanOrEqual(400);
    await page.click("#show-result");
    await page.setViewportSize({ width: 1200, height: 900 });
    const value = await page.locator('#result tr[data-figure="rate"] td.number').boundingBox();
    expect((value?.x ?? 0) + (value?.width ?? 0)).toBeLessThan(1200);
    await page.close();
    expect(problems).toEqual([]);
  });

  test("keeps its connection while records come faster than it shows them", async () => {
    const of = await startUi(); // who opens a page after this one would be shown these records, too
    const page = await openPage(of);
    const row = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`column${i}`, "text ".repeat(50)]));
    const times = Array.from({ length: 1_000 }, () => "1700000000000");
    await goTo(page, "#topics");
    await page.locator("#look-limit").fill("");
    await lookInto(page, recordingOf("orders", row, times));
    await page.locator('.record[data-place="orders[0]@999"]').waitFor();
    await page.close();
    expect(problems).toEqual([]);
  });

  test("names the field of the look that is wrong", async () => {
    const page = await openPage();
    await goTo(page, "#topics");
    await page.locator("#look-from").fill("tomorrow");
    await page.click("#look");
    await page.locator("#look-from[aria-invalid]:focus").waitFor();
    expect(await page.textContent("#look-from-error")).toContain("It must be earliest");
    await page.close();
    expect(problems).toEqual([]);
  });

  test("lists a run once it has a result, and goes to the list when one is removed", async () => {
    const of = await startUi();
    const page = await openPage(of);
    await page.selectOption("#scenario", "codec");
    await page.getByLabel("suite", { exact: true }).fill("ratings");
    await page.click("#start");
    await page.locator("#live[data-status=running] #live-phase", { hasText: "ratings" }).waitFor();
    await page.reload();
    await page.locator("#live[data-status=running] #live-phase", { hasText: "ratings" }).waitFor();
    await goTo(page, "#results");
    expect(await page.isVisible("#results-none")).toBe(true);
    await goTo(page, "#measure");
    await page.click("#stop");
    await page.locator("#live[data-status=ended]").waitFor();
    await page.click("#show-result");
    expect(await page.textContent("#kept tbody")).toContain("stopped");
    page.once("dialog", (dialog) => void dialog.dismiss()); // then the result is kept, and its button is there for the next click
    await page.locator("#result").getByText("Remove").click();
    page.once("dialog", (dialog) => void dialog.accept());
    await page.locator("#result").getByText("Remove").click();
    await page.locator("#results-title:focus").waitFor();
    expect(await page.isVisible("#results-none")).toBe(true);
    await page.close();
    expect(problems).toEqual([]);
  });

  test("has no rate of its own beside the result of a run that has ended", async () => {
    const page = await openPage();
    await runCodec(page, "30");
    const names = await page
      .locator("#live-figures [data-figure]")
      .evaluateAll((all) => all.map((each) => each.getAttribute("data-figure")));
    expect(names).toEqual(["done"]);
    await page.close();
    expect(problems).toEqual([]);
  });

  test("says that the command is gone, that another one has its port, and works again at the new address", async () => {
    const of = await startUi();
    const page = await openPage(of);
    of.child.kill("SIGKILL");
    await page.locator("#connection[data-state=lost]").waitFor();
    expect(await page.textContent("#problem")).toContain("cdc-bench ui has ended, or the connection is lost.");
    await of.stop();
    const next = await startUi(["--port", new URL(of.origin).port]);
    await page.locator("#connection[data-state=refused]").waitFor();
    expect(await page.textContent("#problem")).toContain("Open the address that the command printed");
    await goTo(page, "#results");
    expect(await page.isVisible("#problem")).toBe(true);
    // As somebody does who pastes it into the same tab: the browser loads nothing for another hash.
    await page.goto(next.address);
    await page.waitForSelector("#connection[data-state=open]");
    expect(await page.isVisible("#problem")).toBe(false);
    await page.close();
    // The browser reports who does not answer, and who refuses, too.
    expect(problems.splice(0).filter((problem) => !/ERR_|401/.test(problem))).toEqual([]);
  });
});

await describeWithKafka("cdc-bench ui on a broker", (kafka) => {
  const client = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING, retry: { retries: 2 } });
  const [admin, producer] = [client.admin(), client.producer({ idempotent: true, maxInFlightRequests: 1 })];
  const topic = uniqueName("ui-orders");
  const markup = "<img src=x onerror=alert(1)>";

  beforeAll(async () => {
    await Promise.all([admin.connect(), producer.connect()]);
    await createTopics(admin, [{ topic, numPartitions: 1 }]);
    await producer.send({ topic, messages: Array.from({ length: 30 }, (_, i) => message(i)) });
  });
  afterAll(async () => {
    await Promise.all([admin.disconnect(), producer.disconnect()]);
  });

  /** A change as Debezium writes it, with an integer that a double does not hold, and with text that would like to be markup. */
  function message(i: number): { key: string; value: string; headers: Record<string, string> } {
    const row = `{"id":${9_007_199_254_740_993n + BigInt(i)},"email":"person${i}@example.com","note":"${markup}"}`;
    const source = `{"connector":"postgresql","version":"3.5.0","name":"s","db":"shop","schema":"public","table":"orders","ts_ms":1,"snapshot":"false"}`;
    return {
      key: `{"id":${9_007_199_254_740_993n + BigInt(i)}}`,
      value: `{"before":null,"after":${row},"source":${source},"op":"c","ts_ms":2}`,
      headers: { trace: "header-value" },
    };
  }

  /** The lines that a page gets of a look, once it has ended. */
  async function look(ui: StartedUi, values: object): Promise<readonly string[]> {
    expect((await ui.ask("/api/look", { method: "POST", body: JSON.stringify({ values }) })).status).toBe(202);
    return vi.waitFor(async () => {
      const { look: seen } = (await (await ui.ask("/api/state")).json()) as {
        look: { status: string; lines: readonly { json: string }[] };
      };
      expect(seen.status).toBe("ended");
      return seen.lines.map(({ json }) => json);
    }, waiting);
  }

  test("says of a topic what an open transaction holds back, also if that is everything", async () => {
    const held = uniqueName("ui-held");
    await createTopics(admin, [{ topic: held, numPartitions: 1 }]);
    const transactional = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING }).producer({
      transactionalId: held,
      maxInFlightRequests: 1,
      idempotent: true,
    });
    await transactional.connect();
    const transaction = await transactional.transaction();
    await transaction.send({ topic: held, messages: [message(0)] });
    const ui = await startUi();
    expect(await look(ui, { "--brokers": kafka.brokers, "--topics": held })).toEqual([]);
    const { look: seen } = (await (await ui.ask("/api/state")).json()) as { look: { summary: string; problem: string } };
    expect(seen.summary).toMatch(/: an open transaction holds back 1 offset of partition 0: /);
    await transaction.abort();
    await transactional.disconnect();
  });

  test("masks on request, and whatever is requested if it was started so", async () => {
    const open = await startUi();
    const values = { "--brokers": kafka.brokers, "--topics": topic, "--limit": "2" };
    const plain = await look(open, values);
    expect(plain).toHaveLength(2);
    expect(plain[0]).toContain('"id":9007199254740993,"email":"person0@example.com"');
    expect(plain[0]).toContain('"won":true');
    expect((await look(open, { ...values, "--mask": "email" }))[0]).toContain('"id":9007199254740993,"email":"***"');
    const masked = await look(open, { ...values, "--mask-values": true });
    const forced = await startUi(["--mask-values"]);
    expect(await look(forced, values)).toEqual(masked);
    expect(
      (await forced.ask("/api/look", { method: "POST", body: JSON.stringify({ values: { ...values, "--mask-values": false } }) })).status,
    ).toBe(400);
    const all = JSON.stringify(await (await forced.ask("/api/state")).json());
    expect(masked.join("").match(/person|example\.com|9007199254740993|header-value|onerror/g)).toBeNull();
    expect(all.match(/person|example\.com|header-value|onerror/g)).toBeNull();
  });

  test("lists topics, and says why a cluster cannot be asked", async () => {
    const ui = await startUi();
    const ask = async (values: object): Promise<{ readonly topics?: readonly object[]; readonly error?: string }> =>
      (await (await ui.ask("/api/topics", { method: "POST", body: JSON.stringify({ values }) })).json()) as object;
    expect((await ask({ "--brokers": kafka.brokers })).topics).toContainEqual({ name: topic, partitions: 1, maxRecords: 30 });
    expect((await ask({ "--brokers": "127.0.0.1:1" })).error).toContain("127.0.0.1:1");
    expect((await ask({})).error).toContain("KAFKA_BROKERS");
    expect((await ask({ "--brokers": "nowhere" })).error).toContain("host:port");
  });

  /** A run that takes long enough to have a course. */
  async function pictureOfRun(page: Page): Promise<void> {
    const prefix = uniqueName("shop");
    const values = { "--brokers": kafka.brokers, "--prefix": prefix, "--rows": "400k", "--create-topics": true };
    await page.setViewportSize({ width: 1200, height: 960 });
    await page.selectOption("#scenario", "produce");
    await fillForm(page, { ...values, "--formats": "json" });
    await page.click("#start");
    await page.locator("#live[data-status=ended] #live-command", { hasText: "produce" }).waitFor({ timeout: 100_000 });
    const [name] = (await admin.listTopics()).filter((each) => each.startsWith(prefix));
    await page.selectOption("#scenario", "run");
    await fillForm(page, { "--brokers": kafka.brokers, "--topics": name ?? prefix });
    await page.click("#start");
    await page.locator('#live[data-status=running] [data-figure="lag"]').waitFor();
    await pass(7_000); // the course is what the picture shows
    await page.locator("html").evaluate((html) => html.scrollTo(0, 0));
    await takePicture(page, "ui");
    await page.click("#stop");
    await page.locator("#live[data-status=ended] #live-command", { hasText: name ?? prefix }).waitFor();
  }

  describeWithChromium("in Chromium", (path) => {
    test("looks into a topic and measures it, from the page", async () => {
      const browser = await launchChromium(path);
      try {
        const ui = await startUi();
        const page = await newPage(browser);
        const problems: string[] = [];
        page.on("console", (said) => said.type() === "error" && problems.push(said.text()));
        page.on("dialog", () => problems.push("a script from a topic has run"));
        await page.goto(ui.address);
        await goTo(page, "#topics");
        await page.locator("#look-brokers").fill(kafka.brokers);
        await page.click("#list-topics");
        await page.click(`button[data-topic="${topic}"]`);
        await page.locator("#look-from").fill("-3");
        await page.keyboard.press("Enter");
        const first = page.locator(`.record[data-place="${topic}[0]@27"]`);
        await first.waitFor();
        expect(await first.textContent()).toContain(String(9_007_199_254_740_993n + 27n));
        expect(await first.textContent()).toContain(markup);
        await first.locator(".decisions summary").click();
        expect(await first.locator(".decisions li.won").count()).toBeGreaterThan(0);
        expect(await first.locator(".decisions li.won").first().isVisible()).toBe(true);
        await page.getByLabel("follow", { exact: true }).check();
        await page.getByLabel("mask values", { exact: true }).check();
        await page.locator("#look").click();
        const last = page.locator(`.record[data-place="${topic}[0]@29"]`);
        await last.filter({ hasText: "***" }).waitFor();
        await producer.send({ topic, messages: [message(30)] });
        const live = page.locator(`.record[data-place="${topic}[0]@30"]`);
        await live.waitFor();
        expect(await live.textContent()).not.toContain("person30");
        await page.click("#look-stop");
        await page.locator("#look-status[data-status=ended]").waitFor();

        await goTo(page, "#measure");
        await page.selectOption("#scenario", "run");
        await page.locator("#run-brokers").fill(kafka.brokers);
        await page.locator("#run-topics").fill(topic);
        await page.click("#start");
        await page.locator("#live[data-status=ended]").waitFor();
        expect(await page.textContent("#live-status")).toBe("ended");
        await page.click("#show-result");
        const [id] = readdirSync(ui.dir);
        const { metrics } = JSON.parse(readFileSync(join(ui.dir, id ?? "", "result.json"), "utf8")) as {
          metrics: readonly { name: string; value: number }[];
        };
        const rate = metrics.find(({ name }) => name === "rate")?.value ?? Number.NaN;
        await page.locator('#result tr[data-figure="rate"]').waitFor();
        expect(await page.locator('#result tr[data-figure="rate"] td.number').textContent()).toBe(
          `${Math.round(rate).toLocaleString("en-US")}/s`,
        );
        expect(problems).toEqual([]);
        if (arePicturesTaken) {
          await pictureOfRun(await goTo(page, "#measure"));
        }
      } finally {
        await browser.close();
      }
    });
  });
});

/** Presses Tab until an element has the focus, as somebody without a mouse does. */
async function focusByTab(page: Page, id: string): Promise<void> {
  for (let presses = 0; presses < 80; presses++) {
    await page.keyboard.press("Tab");
    if ((await page.locator("*:focus").getAttribute("id")) === id) {
      return;
    }
  }
  throw new Error(`no number of tabs leads to ${id}`);
}

/** Types into fields by the names of their flags. */
async function fillForm(page: Page, values: Readonly<Record<string, string | boolean>>): Promise<void> {
  for (const [flag, value] of Object.entries(values)) {
    const field = page.locator(`#run-fields [name="${flag}"]`);
    await (typeof value === "string" ? field.fill(value) : field.setChecked(value));
  }
}

async function goTo(page: Page, view: string): Promise<Page> {
  await page.click(`nav a[href="${view}"]`);
  await page.waitForSelector(`nav a[href="${view}"][aria-current]`);
  return page;
}

function nanoseconds(text: string): number {
  const [, amount, unit] = /^([\d.]+) (ns|µs|ms|s)$/.exec(text) ?? [];
  return Number(amount) * ({ ns: 1, µs: 1e3, ms: 1e6, s: 1e9 }[unit ?? ""] ?? Number.NaN);
}
