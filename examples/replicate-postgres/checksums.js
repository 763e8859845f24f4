// Compares a table of two databases by checksums, which PostgreSQL computes: rows that are the same on both sides are not sent.
import pg from "pg";

// The texts of values must not depend on the server.
const sameTexts =
  "set timezone = 'UTC'; set datestyle = 'ISO'; set intervalstyle = 'postgres'; set extra_float_digits = 1; set bytea_output = 'hex'";
const bucketCount = 256;

/** @typedef {{ name: string, type: string, isKey: boolean }} Column */
/** @typedef {{ key: string, difference: "only in the source" | "only in the replica" | "different values" }} Difference */
/** @typedef {{ table: string, rows: number, differences: readonly Difference[], missingColumns: readonly string[] }} Comparison */

/** A connection that gives values the same texts as any other one. @param {string} url @returns {Promise<pg.Client>} */
export async function connectForTexts(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(sameTexts);
  return client;
}

/**
 * Compares until every row was the same on both sides at some moment, or until the deadline. While the source is written to, the replica is
 * a moment late: groups of rows are compared again until each was equal once.
 * @param {pg.ClientBase} source
 * @param {pg.ClientBase} replica
 * @param {string} table `schema.name`
 * @param {number} deadlineMs of `performance.now()`
 * @returns {Promise<Comparison>}
 */
export async function compareTable(source, replica, table, deadlineMs) {
  let open = Array.from({ length: bucketCount }, (_, bucket) => bucket);
  let rows = 0;
  for (;;) {
    // Columns may come while this waits.
    const columns = await columnsOf(source, table);
    const there = await columnsOf(replica, table);
    const missing = columns.filter(({ name }) => there.every((column) => column.name !== name)).map(({ name }) => name);
    const sums = await sumsOf(source, table, columns, [], open);
    const copies = await sumsOf(replica, table, columns, missing, open);
    rows ||= [...sums.values()].reduce((sum, { count }) => sum + count, 0);
    open = open.filter((bucket) => sums.get(bucket)?.text !== copies.get(bucket)?.text);
    if (open.length === 0) return { table, rows, differences: [], missingColumns: [] };
    if (performance.now() > deadlineMs) {
      const differences = await differencesIn(source, replica, table, columns, missing, open);
      return { table, rows, differences, missingColumns: differences.length > 0 ? missing : [] };
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** @param {pg.ClientBase} client @param {string} table @returns {Promise<Column[]>} */
async function columnsOf(client, table) {
  const { rows } = await client.query(
    `select attname as name, format_type(atttypid, -1) as type, coalesce(attnum = any(indkey), false) as "isKey" from pg_attribute
       left join pg_index on indrelid = attrelid and indisprimary
       where attrelid = to_regclass($1) and attnum > 0 and not attisdropped order by attname`,
    [table],
  );
  if (rows.length === 0) throw new Error(`there is no table ${table}`);
  return rows;
}

/**
 * By bucket: how many rows it has, and the sum of their hashes.
 * @param {pg.ClientBase} client
 * @param {string} table
 * @param {readonly Column[]} columns
 * @param {readonly string[]} missing columns that the table does not have
 * @param {readonly number[]} buckets
 * @returns {Promise<Map<number, { count: number, text: string }>>}
 */
async function sumsOf(client, table, columns, missing, buckets) {
  const { rows } = await client.query(
    `select bucket, count(*)::int as count, count(*) || ' ' || sum(('x' || left(hash, 15))::bit(60)::bigint) as text
       from (${hashes(table, columns, missing)}) h where bucket = any($1) group by bucket`,
    [buckets],
  );
  return new Map(rows.map(({ bucket, count, text }) => [bucket, { count, text }]));
}

/**
 * @param {pg.ClientBase} source
 * @param {pg.ClientBase} replica
 * @param {string} table
 * @param {readonly Column[]} columns
 * @param {readonly string[]} missing
 * @param {readonly number[]} buckets
 * @returns {Promise<Difference[]>}
 */
async function differencesIn(source, replica, table, columns, missing, buckets) {
  const [ours, theirs] = await Promise.all(
    [source, replica].map(async (client) => {
      const sql = `select key, hash from (${hashes(table, columns, client === replica ? missing : [])}) h where bucket = any($1) order by key`;
      const { rows } = await client.query(sql, [buckets]);
      return new Map(rows.map(({ key, hash }) => [String(key), String(hash)]));
    }),
  );
  if (ours === undefined || theirs === undefined) throw new Error("unreachable: there are two");
  return [...new Set([...ours.keys(), ...theirs.keys()])].sort().flatMap((key) => {
    if (ours.get(key) === theirs.get(key)) return [];
    return [{ key, difference: !theirs.has(key) ? "only in the source" : !ours.has(key) ? "only in the replica" : "different values" }];
  });
}

/**
 * Each row's key, bucket and hash.
 * @param {string} table
 * @param {readonly Column[]} columns
 * @param {readonly string[]} missing
 */
function hashes(table, columns, missing) {
  const key = textOf(columns.filter(({ isKey }) => isKey));
  const row = textOf(columns.map((column) => (missing.includes(column.name) ? null : column)));
  return `select ${key} as key, md5(${row}) as hash, ('x' || left(md5(${key}), 2))::bit(8)::int as bucket from ${table}`;
}

/** Debezium leaves out the zeros at the end of a numeric without a scale. @param {readonly (Column | null)[]} columns null: one that is null in every row */
function textOf(columns) {
  const texts = columns.map((column) => {
    if (column === null) return "'null'";
    const name = pg.escapeIdentifier(column.name);
    return `coalesce(quote_literal((${column.type === "numeric" ? `trim_scale(${name})` : name})::text), 'null')`;
  });
  return `concat_ws(',', ${texts.join(", ")})`;
}
