/**
 * The tables of docs/published-benchmarks.md from the results in bench/results/published, and that of bench/README.md from
 * bench/results/peers.json, whose report is bench/results/peers.md.
 *
 * `node scripts/published-tables.mjs` says which table is not as its results are; `--write` writes them.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { repositoryRoot } from "./set-up.mjs";
import { peersReport, peersTable } from "./published/peers-report.mjs";
import { tables, tableText } from "./published/tables.mjs";

const peersFile = "bench/results/peers.json";
const reportFile = "bench/results/peers.md";

/**
 * A document, and what stands in each of its places for tables.
 * @typedef {{ name: string, from: string, tables: Readonly<Record<string, (root: string) => string>> }} Document
 */

/** @type {readonly Document[]} */
const documents = [
  {
    name: "docs/published-benchmarks.md",
    from: "bench/results/published",
    tables: Object.fromEntries(
      Object.keys(tables).map((benchmark) => [
        benchmark,
        (/** @type {string} */ root) => tableText(benchmark, join(root, "bench/results/published")),
      ]),
    ),
  },
  { name: "bench/README.md", from: peersFile, tables: { peers: peersTableOf } },
];

/** @param {string} root */
function peersTableOf(root) {
  const result = peersOf(root);
  return result === null ? "No whole run has been recorded yet." : peersTable(result);
}

/** @param {string} root @returns {import("./published/peers-report.mjs").PeersResult | null} */
function peersOf(root) {
  const file = join(root, peersFile);
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : null;
}

/**
 * A document with the tables of the results in it.
 * @param {string} root
 * @param {Document} document
 * @returns {{ text: string, problems: readonly string[] }} problems: places for tables that are missing
 */
function withTables(root, document) {
  let text = readFileSync(join(root, document.name), "utf8");
  const problems = [];
  for (const [name, tableOf] of Object.entries(document.tables)) {
    const place = new RegExp(`(<!-- table ${name}: [^\\n]*-->\\n)[\\s\\S]*?(<!-- end of table ${name} -->)`);
    if (place.test(text)) {
      const table = tableOf(root);
      text = text.replace(place, (_found, begin, end) => `${begin}\n${table}\n\n${end}`);
    } else {
      problems.push(`${document.name} has no place for table ${name}.`);
    }
  }
  return { text, problems };
}

/**
 * Whether the tables are as their results are.
 * @param {string} root
 * @returns {readonly string[]}
 */
export function checkPublishedTables(root) {
  const wrong = documents.flatMap((document) => {
    const { text, problems } = withTables(root, document);
    const isSame = text === readFileSync(join(root, document.name), "utf8");
    return isSame ? problems : [...problems, `${document.name}: a table is not as ${document.from} is. ${howToWrite}`];
  });
  const result = peersOf(root);
  const report = join(root, reportFile);
  const isReported = result === null || (existsSync(report) && readFileSync(report, "utf8") === peersReport(result));
  return isReported ? wrong : [...wrong, `${reportFile} is not as ${peersFile} is. ${howToWrite}`];
}

const howToWrite = "Run node scripts/published-tables.mjs --write.";

/** @param {string} root */
function writeTables(root) {
  for (const document of documents) {
    writeFileSync(join(root, document.name), withTables(root, document).text);
  }
  const result = peersOf(root);
  if (result !== null) {
    writeFileSync(join(root, reportFile), peersReport(result));
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  if (process.argv.includes("--write")) {
    writeTables(repositoryRoot);
  }
  const problems = checkPublishedTables(repositoryRoot);
  console.log(problems.join("\n") || "The tables are as their results are.");
  process.exitCode = problems.length === 0 ? 0 : 1;
}
