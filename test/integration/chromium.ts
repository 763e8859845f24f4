import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { describe } from "vitest";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** The path of a Chromium on this machine, or the sentence that says why tests which need one are skipped. */
export function findChromium(): { readonly skip: false; readonly path: string } | { readonly skip: string } {
  const configured = process.env["CHROMIUM"];
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const candidates = configured === undefined ? folders.flatMap((folder) => names.map((name) => join(folder, name))) : [configured];
  const path = candidates.find(isExecutable);
  return path === undefined
    ? { skip: "there is no Chromium here: apt-get install chromium, or set CHROMIUM to the path of one" }
    : { skip: false, path };
}

/** Starts a headless Chromium of its own. Close it when the tests are over. */
export function launchChromium(path: string): Promise<Browser> {
  return chromium.launch({
    executablePath: path,
    headless: true,
    // The sandbox refuses to run as root, as in containers; the pages are ours. /dev/shm is small there, too.
    args: [...(process.getuid?.() === 0 ? ["--no-sandbox"] : []), "--disable-dev-shm-usage"],
  });
}

/** Below the limit of a test, so that what did not come is named. Playwright's own 30 s are over on a busy machine before a command has ended. */
const pageWaitMs = 100_000;

/** A page that waits for as long as its test may take. */
export async function newPage(browser: Browser, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await browser.newPage(options);
  page.setDefaultTimeout(pageWaitMs);
  return page;
}

/** A suite in a real browser, or skipped with the reason. The body starts the browser itself, in `beforeAll`. */
export function describeWithChromium(name: string, body: (path: string) => void): void {
  const found = findChromium();
  if (found.skip === false) {
    describe(name, () => body(found.path));
  } else {
    describe.skip(name, { meta: { skipReason: found.skip } }, () => body(""));
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // not there, or not for us: the next one is tried
  }
}
