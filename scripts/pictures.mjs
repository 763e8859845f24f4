/**
 * Makes the pictures of the documents again: `npm run pictures`, or `npm run pictures -- NAME...` for some of them. They are taken in a Chromium
 * that is there already (`apt-get install chromium`, or CHROMIUM=/path/to/one):
 *
 * - `report` is the report of a recorded result, so that it is the same each time
 * - `site` is a page of the documentation, and its search
 * - `live-dashboard` and `prometheus` are taken by the tests of what they show, because they need a stack
 *
 * That of `cdc-bench ui` shows a run while it goes on, and depends on how long it takes:
 * `PICTURES=1 npm test -- test/commands/ui.test.ts`.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { readArguments, refuse } from "./arguments.mjs";
import { repositoryRoot as root, runHere, setUp } from "./set-up.mjs";

const pictures = join(root, "docs", "pictures");
const maxBytes = 150_000;
/** @type {Readonly<Record<string, string>>} */
const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".png": "image/png", ".svg": "image/svg+xml" };

/** @type {Readonly<Record<string, () => Promise<void> | void>>} */
const parts = {
  report: pictureOfReport,
  site: picturesOfSite,
  "live-dashboard": () => pictureByTest("test/commands/example-live-dashboard.test.ts"),
  prometheus: () => pictureByTest("test/integration/prometheus.test.ts"),
};

const usage = `usage: npm run pictures -- [NAME]...

  NAME    of ${Object.keys(parts).join(", ")} (default: all). They are taken in a Chromium that is there: /usr/bin/chromium, or CHROMIUM`;

const { positionals: named } = readArguments(usage, {}, { words: true });
const unknown = named.filter((name) => !Object.hasOwn(parts, name));
if (unknown.length > 0) {
  refuse(`there is no picture ${unknown.join(", ")}`, usage);
}
await setUp({ build: true });
const { chromium } = await import("playwright-core"); // after setUp: a fresh clone has no packages yet
mkdirSync(pictures, { recursive: true });
for (const [name, take] of Object.entries(parts)) {
  if (named.length === 0 || named.includes(name)) await take();
}
for (const name of readdirSync(pictures)) demandSmall(join(pictures, name));

async function pictureOfReport() {
  const folder = mkdtempSync(join(tmpdir(), "cdckit-pictures-"));
  const report = join(folder, "report.html");
  const bench = join(root, "packages", "cdc-bench", "bin", "cdc-bench.js");
  const result = join(root, "bench", "results", "published", "a-snapshot.json");
  await runOrEnd([bench, "report", result, "-o", report]);
  await inBrowser({ width: 900, height: 760 }, async (page) => {
    await page.goto(pathToFileURL(report).href);
    await page.locator("h3", { hasText: "What the bytes are" }).evaluate((heading) => heading.scrollIntoView());
    await page.screenshot({ path: join(pictures, "report.png") });
  });
  rmSync(folder, { recursive: true });
}

async function picturesOfSite() {
  const site = join(root, ".cache", "docs", "site");
  await runOrEnd([join(root, "scripts", "docs.mjs")]);
  const server = createServer((request, response) => {
    const path = fileOf(site, new URL(request.url ?? "/", "http://localhost").pathname);
    if (path === undefined) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": types[extname(path)] ?? "application/octet-stream" }).end(readFileSync(path));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = `http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (server.address()).port}`;
  await inBrowser({ width: 1280, height: 760 }, async (page) => {
    await page.goto(`${address}/cookbook`);
    await page.getByRole("button", { name: "Search" }).click();
    await page.locator("#localsearch-input").fill("dead letter");
    await page.locator(".results li").nth(3).waitFor();
    await page.screenshot({ path: join(pictures, "site.png"), animations: "disabled", caret: "hide" });
  });
  server.close();
  server.closeAllConnections();
}

/**
 * The file that a host of static pages would answer with.
 * @param {string} site
 * @param {string} pathname
 */
function fileOf(site, pathname) {
  const path = join(site, decodeURIComponent(pathname)); // a URL has no ".." left
  return [path, `${path}.html`, join(path, "index.html")].find((each) => existsSync(each) && statSync(each).isFile());
}

/** @param {string} test */
async function pictureByTest(test) {
  await runOrEnd([join(root, "scripts", "test.mjs"), test], { ...process.env, PICTURES: "1" });
}

/**
 * Ends this process, too, if the script fails: it has said why.
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} [env]
 */
async function runOrEnd(args, env = process.env) {
  const status = await runHere(args, { cwd: root, env });
  if (status !== 0) {
    process.exit(status);
  }
}

/**
 * @param {{ width: number, height: number }} viewport
 * @param {(page: import("playwright-core").Page) => Promise<void>} use
 */
async function inBrowser(viewport, use) {
  const browser = await chromium.launch({
    executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
    args: process.getuid?.() === 0 ? ["--no-sandbox", "--disable-dev-shm-usage"] : [],
  });
  try {
    await use(await browser.newPage({ viewport, colorScheme: "light", reducedMotion: "reduce" }));
  } finally {
    await browser.close();
  }
}

/** @param {string} path */
function demandSmall(path) {
  const { size } = statSync(path);
  if (size > maxBytes) {
    throw new Error(`${path} has ${size} bytes, more than the ${maxBytes} that a picture may have`);
  }
  console.log(`${path}: ${size} bytes`);
}
