/** What a source file imports, and which files there are to ask. */
import { readFileSync, readdirSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";

/**
 * @typedef {object} Import
 * @property {string} specifier what stands between the quotes
 * @property {boolean} typeOnly whether nothing of it is left at run time
 * @property {boolean} star whether it is `export *`
 * @property {readonly string[] | null} names what is taken from there, by its name there; null if all of it is
 * @property {number} line
 */

// Sources are formatted, so a statement starts at the start of its line, and the text of a comment does not.
const statement = /^(?:import|export)\s+(?<type>type\s)?(?:(?<names>[\w$*{}\s,]+?)\s+from\s+)?["'](?<specifier>[^"'\n]+)["']/gm;
const dynamicImport =
  /^(?!\s*(?:\*|\/\/)).*?(?<typeof>typeof\s+)?\b(?:import|require|require\.resolve)\(\s*["'](?<specifier>[\w@./:-]+)["']/gm;
// `import("x").Name` as a type: after a colon, an angle bracket, a bar or an equals sign without await.
const importType = /(?:[:<|&]\s*|\bextends\s+|\btype\s+\w+\s*=\s*)import\(\s*["'][^"'\n]+["']\)/;

/**
 * What was found in texts: tests ask again and again of a thousand files, of which one has changed.
 * @type {Map<string, readonly Import[]>}
 */
const known = new Map();

/**
 * The imports of a TypeScript or JavaScript text.
 * @param {string} text
 * @returns {readonly Import[]}
 */
export function importsOf(text) {
  const found = known.get(text) ?? findImports(text);
  known.set(text, found);
  return found;
}

/**
 * @param {string} text
 * @returns {readonly Import[]}
 */
function findImports(text) {
  /** @type {Import[]} */
  const found = [];
  for (const match of text.matchAll(statement)) {
    const { type, names, specifier = "" } = match.groups ?? {};
    const star = match[0].startsWith("export") && names?.trim().startsWith("*") === true;
    found.push({ specifier, typeOnly: type !== undefined, star, names: namesIn(names), line: lineAt(text, match.index) });
  }
  for (const match of text.matchAll(dynamicImport)) {
    const { typeof: asType, specifier = "" } = match.groups ?? {};
    const typeOnly = asType !== undefined || importType.test(match[0]);
    found.push({ specifier, typeOnly, star: false, names: null, line: lineAt(text, match.index) });
  }
  return found;
}

/**
 * The names between the braces of a statement, without those that are types.
 * @param {string | undefined} text
 */
function namesIn(text) {
  const list = /^\{(?<list>[^}]*)\}$/.exec(text?.trim() ?? "")?.groups?.["list"];
  return (
    list
      ?.split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "" && !name.startsWith("type "))
      .map((name) => name.replace(/\s+as\s.*$/, "")) ?? null
  );
}

/**
 * @param {string} text
 * @param {number} index
 */
function lineAt(text, index) {
  return text.slice(0, index).split("\n").length;
}

/**
 * The imports of a file.
 * @param {string} path
 */
export function importsOfFile(path) {
  return importsOf(readFileSync(path, "utf8"));
}

const skippedFolders = new Set(["node_modules", "dist", "recordings", "vectors", "results"]);

/**
 * Every file under a folder whose name ends in one of the endings, in a settled order.
 * @param {string} folder
 * @param {readonly string[]} endings
 * @param {Iterable<string>} [skipped] names of folders that are left out, beside those that begin with a dot
 * @returns {string[]}
 */
export function filesUnder(folder, endings, skipped = skippedFolders) {
  const left = new Set(skipped);
  const found = [];
  for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (!left.has(entry.name) && !entry.name.startsWith(".")) {
        found.push(...filesUnder(path, endings, left));
      }
    } else if (endings.some((ending) => entry.name.endsWith(ending))) {
      found.push(path);
    }
  }
  return found;
}

/**
 * The package that a specifier names, or null for a file of the same package and for what Node brings.
 * @param {string} specifier
 * @returns {string | null}
 */
export function packageOf(specifier) {
  if (specifier.startsWith(".") || specifier.startsWith("/") || isBuiltin(specifier)) {
    return null;
  }
  const parts = specifier.split("/");
  return parts.slice(0, specifier.startsWith("@") ? 2 : 1).join("/");
}

/**
 * Whether a file is there for tests alone and is left out of what ships. The contract suites of the testkit do ship: they take their test
 * framework as an argument.
 * @param {string} path
 */
export function isTestFile(path) {
  return path.endsWith(".test.ts") || (path.endsWith(".contract.ts") && !path.includes("packages/testkit/"));
}
