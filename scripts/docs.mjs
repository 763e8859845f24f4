/**
 * `npm run docs`: the site of the documentation, in `.cache/docs/site`. Any warning of what builds it is an error. `DOCS_BASE` is the path below
 * which it will be served (`/cdckit/`); `/` by default.
 */
import { copyFileSync, cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { readArguments } from "./arguments.mjs";
import { captureBeside, fail, repositoryRoot, setUp } from "./set-up.mjs";

readArguments(
  `usage: npm run docs

  builds the site of the documentation in .cache/docs/site; DOCS_BASE is the path below which it will be served (default /)`,
  {},
);
await setUp();

// After setUp: what follows may need installed packages.
const { outline } = await import("./docs/outline.mjs");
const { pagesOf } = await import("./docs/pages.mjs");
const { writeTwins } = await import("./docs/twins.mjs");

const source = join(repositoryRoot, ".cache/docs/source");
const site = join(repositoryRoot, ".cache/docs/site");
rmSync(source, { recursive: true, force: true });
const pages = pagesOf(repositoryRoot);
demandOutline();

for (const { path, text } of pages) {
  mkdirSync(dirname(join(source, path)), { recursive: true });
  writeFileSync(join(source, path), text);
}
const reference = pages.filter(({ path }) => path.startsWith("api/"));
cpSync(join(repositoryRoot, "docs/pictures"), join(source, "public"), { recursive: true });
writeConfiguration();

const { status, output } = await captureBeside(join(repositoryRoot, "node_modules/.bin/vitepress"), ["build", source, "--outDir", site]);
if (status !== 0 || /warn|dead link/i.test(output)) {
  fail(`vitepress has warned or failed:\n${output}`);
}
writeTwins(repositoryRoot, source, site, pages);
console.log(`docs: ${pages.length} pages, ${reference.length} of them the reference of the packages, in ${site}`);

/** A page that no list names would be found by nobody. */
function demandOutline() {
  const listed = new Set(outline.flatMap((group) => group.pages));
  const forgotten = pages.filter(({ path }) => !listed.has(path) && !path.startsWith("errors/") && !path.startsWith("api/"));
  const missing = [...listed].filter((path) => !pages.some((page) => page.path === path));
  if (forgotten.length > 0 || missing.length > 0) {
    fail(
      `scripts/docs/outline.mjs lacks ${forgotten.map(({ path }) => path).join(", ") || "nothing"}, and has without a page ${missing.join(", ") || "nothing"}.`,
    );
  }
}

function writeConfiguration() {
  const titles = new Map(pages.map(({ path, title }) => [path, title.replaceAll("`", "")]));
  const sidebar = [
    ...outline.map(({ text, pages: paths, collapsed = false }) => ({
      text,
      collapsed,
      items: paths.map((path) => ({ text: titles.get(path), link: `/${path}` })),
    })),
    { text: "API", collapsed: true, items: reference.map(({ path, title }) => ({ text: title.replace(/: API$/, ""), link: `/${path}` })) },
  ];
  const folder = join(source, ".vitepress");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "site.json"), JSON.stringify({ base: process.env["DOCS_BASE"] ?? "/", sidebar }));
  copyFileSync(join(repositoryRoot, "scripts/docs/vitepress.mjs"), join(folder, "config.mjs"));
}
