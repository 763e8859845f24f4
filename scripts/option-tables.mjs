/**
 * The tables of options in the READMEs of packages. They are made of the interfaces and of their doc comments, between two marks:
 * `<!-- options: FailureOptions as failure -->` and `<!-- /options -->`. Run as a program, this writes them again.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { repositoryRoot } from "./set-up.mjs";

const table = /<!-- options: (\w+)(?: as ([\w.[\]]+))? -->\n[^]*?<!-- \/options -->/g;

/** @typedef {{ readonly name: string, readonly isRequired: boolean, readonly type: string, readonly text: string, readonly byDefault: string }} Option */

/**
 * The READMEs whose tables differ from the sources, and the interfaces of options that a table names and no table shows.
 * @param {string} root
 * @returns {string[]}
 */
export function checkOptionTables(root) {
  const pages = readmes(root).map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
  const shown = new Set(pages.flatMap(({ text }) => [...text.matchAll(table)].map(([, name]) => name)));
  const sources = readSources(root);
  return pages.flatMap(({ path, text }) => [
    ...(withTables(sources, text) === text
      ? []
      : [`${path}: its tables of options differ from the sources. Run: node scripts/option-tables.mjs`]),
    ...[...text.matchAll(table)]
      .flatMap(([rows]) => [...rows.matchAll(/\b\w+Options\b/g)].map(([name]) => name))
      .filter((name) => !shown.has(name) && sources.some((source) => source.includes(`export interface ${name} `)))
      .map((name) => `${path}: a table names ${name}, and no README has a table of it.`),
  ]);
}

/** @param {string} root */
function readmes(root) {
  return readdirSync(join(root, "packages"))
    .map((name) => join("packages", name, "README.md"))
    .filter((path) => existsSync(join(root, path)));
}

/**
 * @param {string} root
 * @returns {readonly string[]}
 */
function readSources(root) {
  return readdirSync(join(root, "packages"))
    .flatMap((name) => sourcesIn(join(root, "packages", name, "src")))
    .map((path) => readFileSync(path, "utf8"));
}

/**
 * @param {string} folder
 * @returns {string[]}
 */
function sourcesIn(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? sourcesIn(path) : /(?<!\.test)\.ts$/.test(entry.name) ? [path] : [];
  });
}

/**
 * @param {readonly string[]} sources
 * @param {string} text
 */
function withTables(sources, text) {
  return text.replace(table, (_, name, path) => {
    const rows = optionsOf(sources, name).map((option) => rowOf(option, path === undefined ? "" : `${path}.`));
    const mark = path === undefined ? name : `${name} as ${path}`;
    return `<!-- options: ${mark} -->\n\n| option | type | default | |\n|---|---|---|---|\n${rows.join("\n")}\n\n<!-- /options -->`;
  });
}

/**
 * @param {Option} option
 * @param {string} prefix
 */
function rowOf({ name, isRequired, type, text, byDefault }, prefix) {
  const shownDefault = isRequired ? "required" : byDefault || "none";
  const isCode = /^(?:[\d_.]+n?|"[^"]*"|true|false|null|\[.*\]|\{\}|[a-zA-Z]+(?:\.[a-zA-Z]+)+)$/.test(shownDefault);
  const cells = [`\`${prefix}${name}\``, `\`${type}\``, isCode ? `\`${shownDefault}\`` : shownDefault, text];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

/**
 * The members of an interface, or of the object in an intersection, with what their doc comments say.
 * @param {readonly string[]} sources
 * @param {string} name
 * @returns {readonly Option[]}
 */
function optionsOf(sources, name) {
  const begin = new RegExp(`^export (?:interface ${name}\\b[^{]*|type ${name} = [^;{]*& )\\{\\n`, "m");
  const source = sources.find((text) => begin.test(text));
  if (source === undefined) {
    throw new Error(`${name}: no package exports such an interface`);
  }
  const found = /** @type {RegExpExecArray} */ (begin.exec(source));
  const start = found.index + found[0].length;
  const body = source.slice(start, source.indexOf("\n}", start) + 1);
  const member = /\/\*\*((?:(?!\*\/)[^])*)\*\/\n  readonly (\w+)(\??):\s+([^;]*(?:\{[^}]*\}[^;]*)*);\n/g;
  return [...body.matchAll(member)].map(([, comment = "", option = "", question, type = ""]) => {
    const [text = "", byDefault = ""] = wordsOf(comment).split(/ ?@default /);
    return { name: option, isRequired: question === "", type: shownType(sources, shortType(type)), text, byDefault };
  });
}

/**
 * The text of a comment in one line.
 * @param {string} comment
 */
function wordsOf(comment) {
  return comment
    .replace(/^ *\*? ?- /gm, "<br>- ")
    .replace(/^ *\*? ?/gm, "")
    .replace(/\s+/g, " ")
    .replace(/\{@link ([^}]*)\}/g, "`$1`")
    .trim();
}

/** @param {string} type */
function shortType(type) {
  return type
    .replace(/\s+/g, " ")
    .replace(/^\| /, "")
    .replace(/ \| undefined$/, "")
    .replace(/\breadonly /g, "");
}

/**
 * The type, and in place of the name of a short type (`Int64Mode`) what it stands for.
 * @param {readonly string[]} sources
 * @param {string} type
 */
function shownType(sources, type) {
  const alias = /^\w+$/.test(type) ? new RegExp(`^export type ${type} =\\s*([^;{\n]{1,100});$`, "m") : null;
  return (alias && sources.map((source) => alias.exec(source)?.[1]).find((found) => found !== undefined)) ?? type;
}

/** @param {string} root */
function writeOptionTables(root) {
  const sources = readSources(root);
  for (const path of readmes(root)) {
    const text = readFileSync(join(root, path), "utf8");
    const made = withTables(sources, text);
    if (made !== text) {
      writeFileSync(join(root, path), made);
      console.log(`wrote ${path}`);
    }
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  writeOptionTables(repositoryRoot);
}
