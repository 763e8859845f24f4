/**
 * The tables of `docs/formats.md`: which formats are tested, and with whose messages. They are made
 * of what the format contract has passed (`test/contract/format-results.json`). Run as a program, this runs the contract and writes both again.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { capture, repositoryRoot, toolPath } from "./set-up.mjs";

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

/**
 * What is wrong with the page's tables; an empty text if nothing.
 * @param {string} root
 * @returns {string}
 */
export function checkFormatTables(root) {
  const text = readFileSync(join(root, page), "utf8");
  return withTables(root, text) === text
    ? ""
    : `${page}: its tables of formats are not what the contract has passed: node scripts/format-tables.mjs`;
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
  const results = JSON.parse(readFileSync(join(root, "test/contract/format-results.json"), "utf8"));
  return ["framing", "encoding", "envelope"].map((layer) => tableOf(layer, results[layer])).join("\n");
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

/** Runs the contract, which writes what it has passed, and puts the tables into the page. */
function writeTables() {
  process.env["CDCKIT_WRITE_FORMAT_RESULTS"] = "1";
  const { status, output } = capture(toolPath("vitest"), ["run", "--reporter=dot", contract]);
  if (status !== 0) {
    console.log(output);
    throw new Error(`${contract} has failed: nothing is written`);
  }
  capture(toolPath("biome"), ["format", "--write", "test/contract/format-results.json"]);
  const path = join(repositoryRoot, page);
  writeFileSync(path, withTables(repositoryRoot, readFileSync(path, "utf8")));
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  writeTables();
}
