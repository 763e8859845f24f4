import { withDatabase } from "./postgres.mjs";
import { StackError } from "./stack-error.mjs";
import { endOffsets } from "./topics.mjs";
import { waitUntil } from "./wait.mjs";

// One transaction each: large enough to be quick, small enough to show progress.
const rowsPerInsert = 10_000;

/**
 * `npm run stack:seed`: fills the topics of a running stack.
 * @param {import("./state.mjs").StackAddresses} addresses
 * @param {number} rows
 * @param {AbortSignal} signal
 */
export async function seedStack(addresses, rows, signal) {
  const startedMs = Date.now();
  const counts = await seed(addresses, rows, (line) => console.error(line), signal);
  for (const { topic, added, total } of counts) {
    console.log(`${topic.padEnd(28)} +${added.toLocaleString("en-US")} events, ${total.toLocaleString("en-US")} in all`);
  }
  console.log(`took ${((Date.now() - startedMs) / 1000).toFixed(1)} s`);
}

/**
 * Inserts sales order details and waits until every topic has got them.
 * @param {import("./state.mjs").StackAddresses} stack
 * @param {number} rows
 * @param {(line: string) => void} log
 * @param {AbortSignal} [signal]
 * @returns {Promise<{ topic: string, added: number, total: number }[]>}
 */
export async function seed({ brokers, postgres, topics }, rows, log, signal) {
  const before = (await endOffsets(brokers, topics)).map((count) => count ?? 0);
  await withDatabase(postgres, (client) => insert(client, rows, signal));
  log(`inserted ${rows.toLocaleString("en-US")} rows into sales.salesorderdetail; waiting for the events`);
  const total = await arrivals(
    brokers,
    topics,
    before.map((count) => count + rows),
    log,
    signal,
  );
  return topics.map((topic, i) => ({ topic, added: (total[i] ?? 0) - (before[i] ?? 0), total: total[i] ?? 0 }));
}

/**
 * Each statement is a transaction, so what an interruption leaves in the table is what its message says.
 * @param {{ query(text: string, values: unknown[]): Promise<unknown> }} client
 * @param {number} rows
 * @param {AbortSignal} [signal]
 */
export async function insert(client, rows, signal) {
  for (let from = 0; from < rows; from += rowsPerInsert) {
    if (signal?.aborted) {
      const [inserted, wanted] = [from, rows].map((count) => count.toLocaleString("en-US"));
      throw new StackError("interrupted", `stopped after ${inserted} of ${wanted} rows were inserted into sales.salesorderdetail`);
    }
    await client.query(insertOrderDetails, [from, Math.min(from + rowsPerInsert, rows) - 1]);
  }
}

/**
 * @param {string} brokers
 * @param {readonly string[]} topics
 * @param {readonly number[]} wanted
 * @param {(line: string) => void} log
 * @param {AbortSignal} [signal]
 * @returns {Promise<number[]>}
 */
function arrivals(brokers, topics, wanted, log, signal) {
  let lastSum = -1;
  let stalledSinceMs = Date.now();
  return waitUntil({
    what: `all events in ${topics.join(", ")}`,
    deadlineMs: 60 * 60_000,
    everyMs: 5_000,
    signal,
    giveUp: () => {
      if (Date.now() - stalledSinceMs > 120_000)
        throw new StackError("not-ready", "no event has arrived for 2 minutes; see npm run stack:status and .stack/connect.log");
    },
    check: async () => {
      const now = (await endOffsets(brokers, topics)).map((count) => count ?? 0);
      const sum = now.reduce((a, b) => a + b, 0);
      if (sum !== lastSum) stalledSinceMs = Date.now();
      lastSum = sum;
      if (now.every((count, i) => count >= (wanted[i] ?? 0))) return now;
      log(`  ${topics.map((topic, i) => `${topic} ${(now[i] ?? 0).toLocaleString("en-US")}`).join(", ")}`);
      return null;
    },
  });
}

// Every value follows from the number of the row, so two runs of the same size hold the same rows.
const insertOrderDetails = `
  insert into sales.salesorderdetail (salesorderid, salesorderdetailid, carriertrackingnumber, orderqty, productid, specialofferid,
    unitprice, unitpricediscount, linetotal, rowguid, modifieddate)
  select 43659 + i / 4, i + 1, carrier, qty, 700 + i % 300, 1 + i % 16, price, discount, qty * price * (1 - discount),
    md5('sales order detail ' || i)::uuid, timestamp '2011-05-31' + (i / 120) * interval '1 day'
  from generate_series($1::int, $2::int) as i,
    lateral (select 1 + i % 12 as qty, ((i::bigint * 7919) % 35782700 + 13282) / 10000.0000 as price,
      case when i % 20 = 0 then 0.0500 else 0.0000 end as discount,
      case when i % 5 = 4 then null else upper(lpad(to_hex(i * 31 % 65536), 4, '0') || '-' || lpad(to_hex(i * 17 % 65536), 4, '0') || '-' || lpad(to_hex(i % 256), 2, '0')) end as carrier
    ) as detail`;
