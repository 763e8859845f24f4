/**
 * The reference of the API, from the doc comments of the code: one Markdown page for each package, in `docs/api`. The site has these pages, too. Run as
 * a program, this writes them again.
 */
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { anchorsOf } from "../links.mjs";
import { captureBeside, fail, repositoryRoot } from "../set-up.mjs";

const folder = "docs/api";

/**
 * The pages that differ from the code.
 * @param {string} root
 * @returns {Promise<string[]>}
 */
export async function checkReference(root) {
  const wanted = await makeReference(root);
  const there = readdirSync(join(root, folder));
  const stale = [...wanted].filter(([name, text]) => !there.includes(name) || readFileSync(join(root, folder, name), "utf8") !== text);
  const left = there.filter((name) => !wanted.has(name));
  return [...stale.map(([name]) => name), ...left].map(
    (name) => `${folder}/${name}: differs from the doc comments of the code. Run: node scripts/docs/reference.mjs`,
  );
}

/**
 * The text of each page, by the name of its file.
 * @param {string} root
 * @returns {Promise<ReadonlyMap<string, string>>}
 */
async function makeReference(root) {
  const packages = readdirSync(join(root, "packages"));
  const raw = join(root, ".cache/docs/api");
  rmSync(raw, { recursive: true, force: true });
  const tables = ["parameters", "interfaceProperties", "classProperties", "typeAliasProperties", "typeDeclaration", "propertyMembers"];
  const { status, output } = await captureBeside(join(root, "docs/node_modules/.bin/typedoc"), [
    ...["--tsconfig", "docs/tsconfig.json", "--out", raw, "--readme", "none", "--disableSources", "--logLevel", "Warn"],
    ...["--plugin", join(root, "docs/node_modules/typedoc-plugin-markdown/dist/index.js"), "--router", "module"],
    ...["--hidePageHeader", "--hideBreadcrumbs", "--excludeInternal", "--excludeExternals"],
    ...["--validation.notExported", "false", "--treatWarningsAsErrors"],
    ...tables.flatMap((name) => [`--${name}Format`, "table"]),
    ...packages.flatMap((name) => ["--entryPoints", `packages/${name}/src/index.ts`]),
  ]);
  if (status !== 0) {
    fail(`typedoc has not written the reference:\n${output}`);
  }
  const texts = new Map(packages.map((name) => [name, textOf(root, join(raw, name, "src.md"), name)]));
  const anchors = new Map([...texts].map(([name, text]) => [name, anchorsOf(text)]));
  return new Map([...texts].map(([name, text]) => [`${name}.md`, withOwnAnchors(text, name, anchors)]));
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
    .replace(/^# .*$/m, `# ${published}: API\n\n<!-- Written by scripts/docs/reference.mjs from the doc comments of the code. -->`)
    .replace(/```ts\n(.*)\n```/g, "`$1`") // a default, which may be a sentence
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

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const pages = await makeReference(repositoryRoot);
  rmSync(join(repositoryRoot, folder), { recursive: true, force: true });
  mkdirSync(join(repositoryRoot, folder), { recursive: true });
  for (const [name, text] of pages) {
    writeFileSync(join(repositoryRoot, folder, name), text);
  }
}
