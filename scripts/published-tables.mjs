/**
 * The tables of docs/published-benchmarks.md from the results in bench/results/published.
 *
 * `node scripts/published-tables.mjs` says which table is not as its results are; `--write` writes them.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { repositoryRoot } from "./set-up.mjs";
import { tables, tableText } from "./published/tables.mjs";

const documentName = "docs/published-benchmarks.md";

/**
 * The document with the tables of the results in it.
 * @param {string} root
 * @returns {{ text: string, problems: readonly string[] }} problems: places for tables that are missing
 */
function withTables(root) {
  let text = readFileSync(join(root, documentName), "utf8");
  const problems = [];
  for (const benchmark of Object.keys(tables)) {
    const place = new RegExp(`(<!-- table ${benchmark}: [^\\n]*-->\\n)[\\s\\S]*?(<!-- end of table ${benchmark} -->)`);
    if (place.test(text)) {
      const table = tableText(benchmark, join(root, "bench/results/published"));
      text = text.replace(place, (_found, begin, end) => `${begin}\n${table}\n\n${end}`);
    } else {
      problems.push(`${documentName} has no place for table ${benchmark}.`);
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
  const { text, problems } = withTables(root);
  const isSame = text === readFileSync(join(root, documentName), "utf8");
  return isSame
    ? problems
    : [...problems, `${documentName}: a table is not as bench/results/published is. Run node scripts/published-tables.mjs --write.`];
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  if (process.argv.includes("--write")) {
    writeFileSync(join(repositoryRoot, documentName), withTables(repositoryRoot).text);
  }
  const problems = checkPublishedTables(repositoryRoot);
  console.log(problems.join("\n") || "The tables are as their results are.");
  process.exitCode = problems.length === 0 ? 0 : 1;
}
