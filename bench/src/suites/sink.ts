import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createConsumer } from "@cdckit/consumer";
import { postgres } from "@cdckit/postgres";
import { memory, MemoryBroker } from "@cdckit/testkit";
import pg from "pg";
import { startPostgres } from "../../../scripts/stack/postgres.mjs";
import { environment } from "../environment.ts";
import { medianOf } from "../spread.ts";

const recordsPerBatch = 1_000;
/** Of effectively-once over at-least-once. */
const maxOverhead = 0.11;

/**
 * What it costs to keep offsets in the transaction of the rows: the same records through `createConsumer` and the same sink into
 * PostgreSQL, both ways in turn, into a table of their own each. Starts its own PostgreSQL.
 */
export async function runSink({
  rounds,
  messages = 10_000,
}: {
  readonly rounds: number;
  readonly messages?: number;
}): Promise<{ text: string; result: object }> {
  const dir = mkdtempSync(join(tmpdir(), "cdckit-bench-sink-"));
  const server = await startPostgres({ dir });
  const pool = new pg.Pool({ ...server.database });
  pool.on("error", () => {}); // the server ends idle connections when it is stopped
  try {
    const broker = brokerWith(messages);
    const seconds = { effectivelyOnce: [] as number[], atLeastOnce: [] as number[] };
    for (let round = -1; round < rounds; round++) {
      const pair = { effectivelyOnce: Number.NaN, atLeastOnce: Number.NaN };
      // The first one finds the table's pages in another state, so they take turns at going first.
      for (const guarantee of round % 2 === 0
        ? (["effectivelyOnce", "atLeastOnce"] as const)
        : (["atLeastOnce", "effectivelyOnce"] as const)) {
        pair[guarantee] = await pass(pool, broker, messages, guarantee, `${guarantee}-${round}`);
      }
      if (round >= 0) {
        seconds.effectivelyOnce.push(pair.effectivelyOnce);
        seconds.atLeastOnce.push(pair.atLeastOnce);
      }
    }
    const shares = seconds.effectivelyOnce.map((effectivelyOnce, i) => effectivelyOnce / (seconds.atLeastOnce[i] ?? Number.NaN) - 1);
    const share = medianOf(shares);
    const held = share <= maxOverhead;
    const percent = (value: number): string => `${(100 * value).toFixed(1)}%`;
    return {
      text: [
        `sink, ${messages} changes into PostgreSQL in batches of ${recordsPerBatch}, ${rounds} rounds in alternation, median`,
        `at-least-once ${perSecond(seconds.atLeastOnce, messages)} changes/s, effectively-once ${perSecond(seconds.effectivelyOnce, messages)}: ${percent(share)} slower ` +
          `[${percent(Math.min(...shares))} to ${percent(Math.max(...shares))}] (at most ${percent(maxOverhead)}: ${held ? "held" : "MISSED"})`,
      ].join("\n"),
      result: { environment: environment(), messages, recordsPerBatch, maxOverhead, share, held, unit: "seconds a pass", seconds },
    };
  } finally {
    await pool.end();
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

function brokerWith(messages: number): MemoryBroker {
  const broker = new MemoryBroker({ "shop.public.orders": 1 });
  const source = { version: "3.5.2.Final", connector: "postgresql", name: "shop", ts_ms: 0, db: "shop", schema: "public", table: "orders" };
  for (let id = 0; id < messages; id++) {
    const after = { id, customer: `customer ${id % 977}`, amount: `${id % 1000}.50`, quantity: id % 12, note: "a note of some length" };
    broker.append("shop.public.orders", {
      partition: 0,
      key: JSON.stringify({ id }),
      value: JSON.stringify({ before: null, after, source, op: "c", ts_ms: 0, transaction: null }),
    });
  }
  return broker;
}

async function pass(
  pool: pg.Pool,
  broker: MemoryBroker,
  messages: number,
  guarantee: "effectivelyOnce" | "atLeastOnce",
  groupId: string,
): Promise<number> {
  await pool.query(
    `drop schema if exists bench cascade; create schema bench;
     create table bench.orders (id bigint primary key, customer text, amount numeric, quantity integer, note text); checkpoint`,
  );
  const consumer = createConsumer({
    driver: memory({ broker, maxBatchRecords: recordsPerBatch }),
    groupId,
    topics: ["shop.public.orders"],
    signals: false,
  });
  const sink = postgres({
    pool: pool as never,
    schema: "bench",
    delivery: guarantee === "effectivelyOnce" ? "effectively-once" : "at-least-once",
  });
  let done: () => void = () => {};
  const applied = new Promise<void>((resolve) => {
    done = resolve;
  });
  let startNs = 0n;
  consumer.to({
    ...{ name: sink.name, close: () => sink.close(), schemaSeen: (seen) => sink.schemaSeen(seen) },
    claim: (group, assignments) => sink.claim(group, assignments),
    apply: async (batch) => {
      startNs ||= process.hrtime.bigint();
      await sink.apply(batch);
      if (batch.nextOffset >= BigInt(messages)) {
        done();
      }
    },
  });
  const running = consumer.run();
  await applied;
  const elapsedNs = process.hrtime.bigint() - startNs;
  await consumer.stop();
  await running;
  const { rows } = await pool.query<{ count: string }>("select count(*) from bench.orders");
  if (Number(rows[0]?.count) !== messages) {
    throw new Error(`expected ${messages} rows, found ${rows[0]?.count}`);
  }
  return Number(elapsedNs) / 1e9;
}

function perSecond(seconds: readonly number[], messages: number): string {
  return Math.round(messages / medianOf(seconds)).toLocaleString("en-US");
}
