/** The check of `docs/errors/`: every error code of the sources has a page there, and every page has a code that exists. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { filesUnder, isTestFile } from "./imports.mjs";

/** @typedef {{ readonly code: string, readonly packageName: string, readonly className: string }} ErrorCode */

const pagesFolder = "docs/errors";
/** The parts of a page, in their order. */
const parts = ["**What happened.**", "**Why.**", "**What to do.**", "Thrown by"];
/** An example proves itself by this many characters in a row that stand in a source. */
const provingLength = 14;

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
  const sources = sourceFiles(root).map((file) => readFileSync(file, "utf8").replaceAll('\\"', '"'));
  return [
    ...pages.filter((name) => !known.has(name.replace(/\.md$/, ""))).map((name) => `${pagesFolder}/${name}: no source has this code.`),
    ...[...known].flatMap((code) => complaintsOf(root, code, codes, index, sources)),
  ];
}

/**
 * @param {string} root
 * @param {string} code
 * @param {readonly ErrorCode[]} codes
 * @param {string} index
 * @param {readonly string[]} sources
 * @returns {string[]}
 */
function complaintsOf(root, code, codes, index, sources) {
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
    ...(isThrown(code, thrownBy.length, sources) && !(example.startsWith(`[${code}] `) && isFromSource(example, sources))
      ? ["has no example message whose words stand in a source."]
      : []),
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
 * Whether a message is one that a source writes: enough of it stands there in a row, between the values that were put in.
 * @param {string} example
 * @param {readonly string[]} sources
 */
function isFromSource(example, sources) {
  const starts = Array.from({ length: Math.max(0, example.length - provingLength) }, (_, start) => start + 1);
  return starts.some((start) => sources.some((source) => source.includes(example.slice(start, start + provingLength))));
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
