// Compares the two databases, also while they change: node verify.js [SECONDS to wait for the replica]
import { addresses, schema, tables } from "./addresses.js";
import { compareTable, connectForTexts } from "./checksums.js";

const { sourceUrl, replicaUrl } = addresses();
const waitS = Number(process.argv[2] ?? 30);
const maxShown = 10;
const [source, replica] = await Promise.all([open("source", sourceUrl, "DATABASE_URL"), open("replica", replicaUrl, "REPLICA_URL")]);
const deadlineMs = performance.now() + waitS * 1_000;

for (const name of tables) {
  const { table, rows, differences, missingColumns } = await compareTable(source, replica, `${schema}.${name}`, deadlineMs);
  console.log(
    `${table.padEnd(20)} ${String(rows).padStart(7)} rows  ${differences.length === 0 ? "equal" : `${differences.length} differ`}`,
  );
  for (const { key, difference } of differences.slice(0, maxShown)) console.log(`  ${key}: ${difference}`);
  if (differences.length > maxShown) console.log(`  and ${differences.length - maxShown} more`);
  if (missingColumns.length > 0) console.log(`  the replica has no column ${missingColumns.join(", ")}`);
  if (differences.length > 0) process.exitCode = 1;
}
await Promise.all([source.end(), replica.end()]);

/** @param {string} what @param {string} url @param {string} variable */
async function open(what, url, variable) {
  try {
    return await connectForTexts(url);
  } catch (error) {
    const { host, pathname } = new URL(url);
    console.error(`the ${what} does not answer at ${host}${pathname}: ${/** @type {Error} */ (error).message}`);
    console.error(`Start the example (npm run example -- replicate-postgres), or set ${variable}.`);
    process.exit(1);
  }
}
