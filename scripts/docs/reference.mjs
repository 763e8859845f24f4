/** The reference of the API, from the doc comments of the code: one Markdown page for each package. */
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { anchorsOf } from "../links.mjs";
import { captureBeside, fail } from "../set-up.mjs";

/**
 * Writes the pages below `folder`, and returns their names.
 * @param {string} root
 * @param {string} folder
 * @returns {Promise<readonly string[]>}
 */
export async function writeReference(root, folder) {
  const packages = readdirSync(join(root, "packages"));
  const raw = join(root, ".cache/docs/api");
  rmSync(raw, { recursive: true, force: true });
  const { status, output } = await captureBeside(join(root, "docs/node_modules/.bin/typedoc"), [
    ...["--tsconfig", "docs/tsconfig.json", "--out", raw, "--readme", "none", "--disableSources", "--logLevel", "Warn"],
    ...["--plugin", join(root, "docs/node_modules/typedoc-plugin-markdown/dist/index.js"), "--router", "module"],
    ...["--hidePageHeader", "--hideBreadcrumbs", "--excludeInternal", "--validation.notExported", "false", "--treatWarningsAsErrors"],
    ...packages.flatMap((name) => ["--entryPoints", `packages/${name}/src/index.ts`]),
  ]);
  if (status !== 0) {
    fail(`typedoc has not written the reference:\n${output}`);
  }
  mkdirSync(folder, { recursive: true });
  const texts = new Map(packages.map((name) => [name, textOf(root, join(raw, name, "src.md"), name)]));
  const anchors = new Map([...texts].map(([name, text]) => [name, anchorsOf(text)]));
  for (const [name, text] of texts) {
    writeFileSync(join(folder, `${name}.md`), withOwnAnchors(text, name, anchors));
  }
  return packages;
}

/**
 * A page under the name of its package. typedoc names it by its folder.
 * @param {string} root
 * @param {string} path
 * @param {string} name
 */
function textOf(root, path, name) {
  const published = JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8")).name;
  return readFileSync(path, "utf8")
    .replace(/^# .*$/m, `# ${published}`)
    .replace(/\]\((?:\.\.\/)+([\w-]+)\/src\.md/g, "](./$1.md")
    .replace(/\]\(src\.md/g, "](");
}

/**
 * typedoc numbers some anchors although no other heading has their name: such a number is left out.
 * @param {string} text
 * @param {string} name
 * @param {ReadonlyMap<string, ReadonlySet<string>>} anchors
 */
function withOwnAnchors(text, name, anchors) {
  return text.replace(/\]\((?:\.\/([\w-]+)\.md)?#([\w-]+)\)/g, (link, page = name, anchor = "") => {
    const isThere = anchors.get(page)?.has(anchor) ?? true;
    return isThere ? link : link.replace(/-\d+\)$/, ")");
  });
}
