/**
 * The tables of `docs/formats.md`: which formats are tested, and with whose messages. They are made of the results of the format contract
 * (`test/contract/format-results.json`). A format without a vector has no result, and the check says so. Run as a program, this runs the
 * contract and writes the results and the tables again.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { readFormats } from "./format-names.mjs";
import { capture, fail, repositoryRoot, toolPath } from "./set-up.mjs";

/**
 * @typedef {object} FormatResult
 * @property {Record<string, number>} writtenBy
 * @property {Record<string, number>} publishedIn
 * @property {number} byHand
 * @property {number} keys
 * @property {number} values
 * @property {string[]} kinds
 */

const begin = "<!-- generated: what the format contract has passed; node scripts/format-tables.mjs writes it -->";
const end = "<!-- /generated -->";
const contract = "test/contract/format-contract.test.ts";

const page = "docs/formats.md";
const resultsPath = "test/contract/format-results.json";

/**
 * The formats without a vector, and whether the page's tables differ from the results; an empty text if nothing is wrong.
 * @param {string} root
 * @returns {string}
 */
export function checkFormatTables(root) {
  const text = readFileSync(join(root, page), "utf8");
  const differs = withTables(root, text) !== text;
  return [
    ...formatsWithoutResult(root),
    ...formatsOutsideOfPage(root, text),
    ...(differs ? [`${page}: its tables of formats differ from ${resultsPath}. Run: node scripts/format-tables.mjs`] : []),
  ].join("\n");
}

/**
 * A sentence for each format that the contract has not tested.
 * @param {string} root
 */
function formatsWithoutResult(root) {
  const results = readResults(root);
  const formats = [...readFormats(join(root, "packages/decode/src"))].flatMap(([name, folders]) =>
    [...folders].map((folder) => ({ name, layer: folder.split("/")[0] ?? "" })),
  );
  return formats.filter(({ name, layer }) => results[layer]?.[name] === undefined).map(withoutResult);
}

/**
 * A sentence for each format that the first table of the page, which is written by hand, does not have.
 * @param {string} root
 * @param {string} text
 */
function formatsOutsideOfPage(root, text) {
  const byHand = text.slice(0, text.indexOf(begin));
  return [...readFormats(join(root, "packages/decode/src"))]
    .filter(([name]) => !byHand.includes(`\`${name}\``))
    .map(([name, folders]) => `${page}: its first table does not have ${[...folders][0]} ${name}: add \`${name}\` there.`);
}

/** @param {{ name: string, layer: string }} format */
function withoutResult({ name, layer }) {
  const folder = layer === "encoding" ? "decode" : layer; // a vector of an encoding is a whole record
  return (
    `${layer} ${name} has no vector that has passed: add a line to test/vectors/${folder}/${name}.ndjson ` +
    "(test/vectors/README.md explains it), then run: node scripts/format-tables.mjs"
  );
}

/**
 * The page with the tables that the results make.
 * @param {string} root
 * @param {string} text
 */
function withTables(root, text) {
  const [start, stop] = [text.indexOf(begin), text.indexOf(end)];
  if (start === -1 || stop < start) {
    throw new Error(`${page} has no lines "${begin}" and "${end}"`);
  }
  return `${text.slice(0, start)}${begin}\n\n${tablesOf(root)}\n${text.slice(stop)}`;
}

/** @param {string} root */
function tablesOf(root) {
  const results = readResults(root);
  return ["framing", "encoding", "envelope"].map((layer) => tableOf(layer, results[layer] ?? {})).join("\n");
}

/**
 * @param {string} root
 * @returns {Record<string, Record<string, FormatResult>>}
 */
function readResults(root) {
  return JSON.parse(readFileSync(join(root, resultsPath), "utf8"));
}

/**
 * @param {string} layer
 * @param {Record<string, FormatResult>} formats
 */
function tableOf(layer, formats) {
  const rows = Object.entries(formats).map(([name, result]) => {
    const { keys, values, kinds } = result;
    return `| \`${name}\` | ${writersOf(result)} | ${layer === "envelope" ? "" : `${shown(keys)} | `}${shown(values)} | ${kinds.join(", ")} |`;
  });
  const columns = layer === "envelope" ? ["messages", "events"] : ["keys", "values", "events"];
  const head = [layer, "whose messages, and how many", ...columns];
  return [`| ${head.join(" | ")} |`, `|${"---|".repeat(head.length)}`, ...rows, ""].join("\n");
}

/**
 * No format claims a producer that has not written a message of it.
 * @param {FormatResult} result
 */
function writersOf({ writtenBy, publishedIn, byHand }) {
  const written = Object.entries(writtenBy).map(([name, count]) => `${name} (${count})`);
  const published = Object.entries(publishedIn).map(([name, count]) => `published in ${name} (${count})`);
  return [...written, ...published, ...(byHand === 0 ? [] : [`from its documentation (${byHand})`])].join(", ");
}

/** @param {number} count */
function shown(count) {
  return count === 0 ? "" : String(count);
}

/** Runs the contract, which writes its results, and puts the tables into the page. */
function writeTables() {
  process.env["CDCKIT_WRITE_FORMAT_RESULTS"] = "1";
  const resultsBefore = readFileSync(join(repositoryRoot, resultsPath));
  const { status, output } = capture(toolPath("vitest"), ["run", "--reporter=dot", contract]);
  if (status !== 0) {
    writeFileSync(join(repositoryRoot, resultsPath), resultsBefore); // the run has written the results of what passed
    console.log(output);
    fail(`${contract} has failed: ${resultsPath} and the tables of ${page} stay as they were.`);
  }
  capture(toolPath("biome"), ["format", "--write", resultsPath]);
  const path = join(repositoryRoot, page);
  const before = readFileSync(path, "utf8");
  const after = withTables(repositoryRoot, before);
  writeFileSync(path, after);
  console.log(after === before ? `${page} and ${resultsPath}: nothing changed` : `wrote the tables of ${page}, made of ${resultsPath}`);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  writeTables();
}
