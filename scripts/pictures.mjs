/**
 * Makes the pictures of the documents again: `npm run pictures`. It measures for a moment, writes a report, and takes its picture in a
 * Chromium that is there already (`apt-get install chromium`, or CHROMIUM=/path/to/one). The figures in it are those of this machine.
 * The picture of the dashboard is taken by its test, because it needs the stack; that of `cdc-bench ui` by
 * `PICTURES=1 npm test -- test/integration/ui.test.ts`.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const root = fileURLToPath(new URL("..", import.meta.url));
const pictures = join(root, "docs", "pictures");
const maxBytes = 150_000;

const folder = mkdtempSync(join(tmpdir(), "cdckit-pictures-"));
try {
  await takePicture(writeReport());
  takePictureOfDashboard();
} finally {
  rmSync(folder, { recursive: true });
}

/** The report of the result that the command line names, or of a run of `demo`, which needs no broker. */
function writeReport() {
  const bench = join(root, "packages", "cdc-bench", "bin", "cdc-bench.js");
  const given = process.argv[2];
  const [result, report] = [given ?? join(folder, "demo.json"), join(folder, "report.html")];
  if (given === undefined) {
    execFileSync(process.execPath, [bench, "demo", "--json", "-o", result], { stdio: "inherit" });
  }
  execFileSync(process.execPath, [bench, "report", result, "-o", report], { stdio: "inherit" });
  return report;
}

function takePictureOfDashboard() {
  const test = "test/integration/example-live-dashboard.test.ts";
  execFileSync("npm", ["test", "--silent", "--", test], { cwd: root, env: { ...process.env, PICTURES: "1" }, stdio: "inherit" });
  for (const name of readdirSync(pictures)) demandSmall(join(pictures, name));
}

/** @param {string} path */
function demandSmall(path) {
  const { size } = statSync(path);
  if (size > maxBytes) {
    throw new Error(`${path} has ${size} bytes, more than the ${maxBytes} that a picture may have`);
  }
  console.log(`${path}: ${size} bytes`);
}

/** @param {string} report */
async function takePicture(report) {
  const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
  const browser = await chromium.launch({
    executablePath,
    args: process.getuid?.() === 0 ? ["--no-sandbox", "--disable-dev-shm-usage"] : [],
  });
  const page = await browser.newPage({ viewport: { width: 900, height: 760 }, colorScheme: "light", reducedMotion: "reduce" });
  await page.goto(pathToFileURL(report).href);
  // From the figures on: what was detected comes first in the report, and is long.
  await page.locator("#result-1-s2").evaluate((section) => section.scrollIntoView());
  const path = join(pictures, "report.png");
  mkdirSync(pictures, { recursive: true });
  await page.screenshot({ path });
  await browser.close();
}
