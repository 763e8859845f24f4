/** The check of `docs/errors/`: every error code of the sources has a page there, and every page has a code that exists. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { filesUnder, isTestFile } from "./imports.mjs";

/** @typedef {{ readonly code: string, readonly packageName: string, readonly className: string }} ErrorCode */

const pagesFolder = "docs/errors";
/** The parts of a page, in their order. */
const parts = ["**What happened.**", "**Why.**", "**What to do.**", "Thrown by"];
/** So many words in a row of an example may stand in no source: what a broker, a client or the operating system said. */
const maxForeignWords = 5;

/**
 * What is wrong with the pages about error codes, as lines of text.
 * @param {string} root
 * @returns {string[]}
 */
export function checkErrorPages(root) {
  const codes = errorCodesOf(root);
  const known = new Set(codes.map(({ code }) => code));
  const pages = readdirSync(join(root, pagesFolder)).filter((name) => name !== "README.md");
  const index = readFileSync(join(root, pagesFolder, "README.md"), "utf8");
  const sources = sourceFiles(root).map((file) => readFileSync(file, "utf8"));
  const wordings = wordingsOf(sources);
  return [
    ...pages.filter((name) => !known.has(name.replace(/\.md$/, ""))).map((name) => `${pagesFolder}/${name}: no source has this code.`),
    ...[...known].flatMap((code) => complaintsOf(root, code, codes, index, { sources, wordings })),
  ];
}

/**
 * @param {string} root
 * @param {string} code
 * @param {readonly ErrorCode[]} codes
 * @param {string} index
 * @param {{ readonly sources: readonly string[], readonly wordings: readonly string[] }} written
 * @returns {string[]}
 */
function complaintsOf(root, code, codes, index, { sources, wordings }) {
  const path = `${pagesFolder}/${code}.md`;
  if (!existsSync(join(root, path))) {
    return [`${path}: is missing: what happened, why, what to do, and an example message.`];
  }
  const page = readFileSync(join(root, path), "utf8");
  const thrownBy = codes.filter((one) => one.code === code);
  const example = /```text\n([\s\S]*?)\n```/.exec(page)?.[1] ?? "";
  return [
    ...(page.startsWith(`# ${code}\n`) ? [] : ["does not begin with the code as its heading."]),
    ...parts.filter((part) => !page.includes(part)).map((part) => `lacks the part "${part}".`),
    ...thrownBy
      .filter(({ className, packageName }) => !page.includes(`\`${className}\` of \`${packageName}\``))
      .map(({ className, packageName }) => `does not say that \`${className}\` of \`${packageName}\` has this code.`),
    ...(index.includes(`](${code}.md)`) ? [] : ["is not in the list of README.md."]),
    ...(isThrown(code, thrownBy.length, sources) ? complaintsOfExample(code, example, wordings) : []),
  ].map((sentence) => `${path}: ${sentence}`);
}

/**
 * Whether a code stands anywhere but in its lists.
 * @param {string} code
 * @param {number} lists
 * @param {readonly string[]} sources
 */
function isThrown(code, lists, sources) {
  return sources.reduce((sum, source) => sum + source.split(`"${code}"`).length - 1, 0) > lists;
}

/**
 * @param {string} code
 * @param {string} example
 * @param {readonly string[]} wordings
 * @returns {string[]}
 */
function complaintsOfExample(code, example, wordings) {
  const start = `[${code}] `;
  if (!example.startsWith(start)) {
    return [`has no example message that begins with "${start}".`];
  }
  return foreignWords(example.slice(start.length), wordings).map((words) => `its example says "${words}", which no source writes.`);
}

/**
 * What sources write between the values of their messages: what stands between quotes, backticks, `${` and `}`, and has two words.
 * @param {readonly string[]} sources
 * @returns {string[]}
 */
function wordingsOf(sources) {
  const quote = "\u0001";
  const parts = sources.flatMap((source) =>
    source
      .replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "")
      .replaceAll('\\"', quote)
      .split(/[`"\n}]|\$\{/),
  );
  const prose = parts.filter((part) => /[a-z]{2,}[,.:;]? | [a-z]{2,}/i.test(part) && !/=>|===|\(\)|const |\) \{|;$/.test(part));
  return [...new Set(prose.map((part) => part.replaceAll(quote, '"')))];
}

/**
 * The parts of a message that no source writes: too many words in a row for a value that was put in. An example of which a clause has another wording by
 * now has such a part.
 * @param {string} message
 * @param {readonly string[]} wordings
 * @returns {string[]}
 */
function foreignWords(message, wordings) {
  const letters = message.split(""); // by the units that indexOf counts
  for (const wording of wordings) {
    for (let at = message.indexOf(wording); at !== -1; at = message.indexOf(wording, at + 1)) {
      letters.fill("\n", at, at + wording.length);
    }
  }
  const parts = letters.join("").split(/\n+/);
  return parts.filter((part) => part.split(/\s+/).filter((word) => /^[a-z]+[,.:;]?$/i.test(word)).length > maxForeignWords);
}

/**
 * The codes of all `...ErrorCode` unions, and of `SchemaLoadFailure`, which is the registry's.
 * @param {string} root
 * @returns {ErrorCode[]}
 */
export function errorCodesOf(root) {
  const texts = sourceFiles(root).map((file) => ({ folder: packageFolder(root, file), text: readFileSync(file, "utf8") }));
  return texts.flatMap(({ folder, text }) =>
    [...text.matchAll(/^export type (\w+ErrorCode|SchemaLoadFailure) =([\s\S]*?);$/gm)].flatMap(([, union = "", body = ""]) => {
      const owner =
        union === "SchemaLoadFailure" ? { className: "RegistryError", folder: "registry" } : { className: union.slice(0, -4), folder };
      const packageName = JSON.parse(readFileSync(join(root, "packages", owner.folder, "package.json"), "utf8")).name;
      const codes = body.replace(/\/\*\*[\s\S]*?\*\//g, "").matchAll(/"([a-z0-9-]+)"/g);
      return [...codes].map(([, code = ""]) => ({ code, packageName, className: owner.className }));
    }),
  );
}

/** @param {string} root */
function sourceFiles(root) {
  return filesUnder(join(root, "packages"), [".ts"], ["node_modules", "dist", "ui"]).filter((file) => !isTestFile(file));
}

/**
 * @param {string} root
 * @param {string} file
 */
function packageFolder(root, file) {
  return file.slice(join(root, "packages").length + 1).split("/")[0] ?? "";
}
