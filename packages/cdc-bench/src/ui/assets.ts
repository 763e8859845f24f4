import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { packageRoot } from "../package-root.ts";

/** A file of the page. */
export interface Asset {
  readonly type: string;
  readonly bytes: Buffer;
}

const folder = fileURLToPath(new URL("ui/", packageRoot));

const types = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
};

/** Every address that the page consists of: nothing else of the disk can be asked for. */
const files: Readonly<Record<string, { readonly type: keyof typeof types; path(): string }>> = {
  "/": own("html", "index.html"),
  "/style.css": own("css", "style.css"),
  "/icon.svg": own("svg", "icon.svg"),
  ...Object.fromEntries(
    ["app", "api", "dom", "forms", "live", "charts", "runs", "flame", "topics", "records", "lossless"].map((name) => [
      `/${name}.js`,
      own("js", `${name}.js`),
    ]),
  ),
  "/vendor/uplot.js": { type: "js", path: () => uplotFile("uPlot.esm.js") },
  "/vendor/uplot.css": { type: "css", path: () => uplotFile("uPlot.min.css") },
};

/** The file at an address, or null. */
export async function assetAt(address: string): Promise<Asset | null> {
  const file = Object.hasOwn(files, address) ? files[address] : undefined;
  return file === undefined ? null : { type: types[file.type], bytes: await readFile(file.path()) };
}

function own(type: keyof typeof types, name: string): { readonly type: keyof typeof types; path(): string } {
  return { type, path: () => join(folder, name) };
}

/** From its npm package, so that no copy of it lies among our sources. */
function uplotFile(name: string): string {
  const require = createRequire(import.meta.url);
  return join(dirname(require.resolve("uplot")), name);
}
