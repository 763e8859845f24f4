import { type Consumer, createConsumer, type ConsumerOptions, type SinkOptions } from "@cdckit/consumer";
import { postgres, type PostgresOptions } from "@cdckit/postgres";
import { memory, MemoryBroker } from "@cdckit/testkit";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { ownPostgres } from "./own-postgres.ts";

const topic = "cdc-orders-v1";
const { pool } = await ownPostgres();
let broker: MemoryBroker;

beforeEach(async () => {
  await pool.query("drop schema if exists copy cascade; create schema copy");
  broker = new MemoryBroker({ [topic]: 1 });
});

/** A row as ExtractNewRecordState writes it with `add.fields=op,table`. */
function flattened(id: number, table = "orders"): void {
  broker.append(topic, { key: JSON.stringify({ id }), value: JSON.stringify({ id, __op: "c", __table: table }) });
}

/** A change in Debezium's envelope. */
function enveloped(op: "c" | "d", id: number, table = "orders"): void {
  const row = { id };
  const source = { connector: "postgresql", db: "shop", schema: "public", table, lsn: id, ts_ms: 1 };
  const value = { before: op === "d" ? row : null, after: op === "d" ? null : row, source, op, ts_ms: 1 };
  broker.append(topic, { key: JSON.stringify({ id }), value: JSON.stringify(value) });
}

/** A row as ExtractNewRecordState writes it with `add.fields=op,table`, whose deletes are rows, with a tombstone after each. */
function deletedRow(op: "c" | "d", id: number, table = "orders"): void {
  const row = { id, __op: op, __table: table, __deleted: String(op === "d") };
  broker.append(topic, { key: JSON.stringify({ id }), value: JSON.stringify(row) });
}

function tombstone(id: number): void {
  broker.append(topic, { key: JSON.stringify({ id }), value: null });
}

type More = Partial<ConsumerOptions> & SinkOptions;

function consumerOf(options: PostgresOptions, { tables = ["*"], ...more }: More = {}): Consumer {
  return createConsumer({ driver: memory({ broker }), groupId: "g", topics: [topic], from: "earliest", signals: false, ...more }).to(
    postgres({ pool: pool as never, schema: "copy", create: true, ...options }),
    { tables },
  );
}

/** Reads all there is, then stops. Rejects with what halts it. */
async function read(options: PostgresOptions = {}, more: More = {}): Promise<void> {
  const consumer = consumerOf(options, more);
  const ended = consumer.run();
  const isOver = ended.then(
    () => true,
    () => true,
  );
  const end = broker.endOffset(topic, 0);
  await Promise.race([isOver, vi.waitFor(() => expect(broker.committed("g", topic, 0)).toBe(end), { timeout: 20_000 })]);
  await consumer.stop();
  await ended;
}

async function ids(table = "orders"): Promise<readonly number[]> {
  const { rows } = await pool.query<{ id: number }>(`select id::int from copy.${table} order by id`);
  return rows.map(({ id }) => id);
}

describe("a tombstone that is a delete, of a topic that is not named like its table", () => {
  test("deletes the row of the one table that the topic's rows go to", async () => {
    flattened(1);
    flattened(2);
    tombstone(1);
    await read();
    expect(await ids()).toEqual([2]);
  });

  test("does so if the sink takes that table alone", async () => {
    flattened(1);
    flattened(2);
    tombstone(1);
    await read({}, { tables: ["orders"] });
    expect(await ids()).toEqual([2]);
  });

  test("does so as the first record after a restart, if the sink takes that table alone", async () => {
    flattened(1);
    flattened(2);
    await read({}, { tables: ["orders"] });
    tombstone(1);
    await read({}, { tables: ["orders"] });
    expect(await ids()).toEqual([2]);
  });

  test("deletes nothing if every row of the topic is left out", async () => {
    flattened(1, "customers");
    tombstone(1);
    await read({}, { tables: ["orders"] });
    tombstone(2);
    await read({}, { tables: ["orders"] });
    expect(broker.committed("g", topic, 0)).toBe(3n);
  });

  test("does so as the first record after a restart, too", async () => {
    flattened(1);
    flattened(2);
    await read();
    tombstone(1);
    await read();
    expect(await ids()).toEqual([2]);
  });

  test("deletes a row of the table that a hint names, without checkpoints, too", async () => {
    flattened(1);
    flattened(2);
    const delivery = "at-least-once";
    await read({ delivery });
    tombstone(1);
    await read({ delivery }, { decoder: { topics: { [topic]: { table: { name: "orders" } } } } });
    expect(await ids()).toEqual([2]);
  });

  test("halts with the hint to set, if nothing says whose it is", async () => {
    flattened(1);
    const delivery = "at-least-once";
    await read({ delivery });
    tombstone(1);
    const refusal = { code: "table-unknown", retriable: false, message: expect.stringContaining('decoder.topics["cdc-orders-v1"].table') };
    await expect(read({ delivery })).rejects.toMatchObject({ code: "sink-failed", cause: refusal });
    expect(await ids()).toEqual([1]);
  });

  test("halts if rows of the topic go to several tables", async () => {
    flattened(1);
    flattened(1, "customers");
    tombstone(1);
    const message = expect.stringContaining('"copy"."orders" and to "copy"."customers"');
    await expect(read()).rejects.toMatchObject({ cause: { code: "table-unknown", message } });
  });

  const leftOut: readonly (readonly [string, PostgresOptions, More])[] = [
    ["tableFor", { tableFor: ({ name }) => (name === "customers" ? null : { name }) }, {}],
    ["tables", {}, { tables: ["orders"] }],
  ];
  test.each(leftOut)("halts if rows of the topic are of a table that %s leaves out, also after a restart", async (_, options, more) => {
    const message = expect.stringContaining('"copy"."orders" and to tables that are left out');
    flattened(1);
    flattened(1, "customers");
    await read(options, more);
    tombstone(1);
    await expect(read(options, more)).rejects.toMatchObject({ cause: { code: "table-unknown", message } });
    expect(await ids()).toEqual([1]);
  });

  test("deletes no row of another table if a hint names one that tableFor leaves out", async () => {
    flattened(1);
    await read();
    tombstone(1);
    await read(
      { tableFor: ({ name }) => (name === "customers" ? null : { name }) },
      { decoder: { topics: { [topic]: { table: { name: "customers" } } } } },
    );
    expect(await ids()).toEqual([1]);
  });

  test("is nothing to delete if no row of the topic has come yet, and the sink makes the table", async () => {
    tombstone(7);
    flattened(1);
    await read();
    expect(await ids()).toEqual([1]);
  });
});

describe("a tombstone after a delete", () => {
  test.each([
    ["was", true],
    ["was not", false],
  ])(
    "of a table that is left out leaves the row of another one that was deleted and made again, if its own tombstone %s there",
    async (_, isThere) => {
      enveloped("c", 1);
      enveloped("d", 1);
      if (isThere) {
        tombstone(1);
      }
      enveloped("c", 1);
      enveloped("c", 1, "customers");
      enveloped("d", 1, "customers");
      tombstone(1);
      await read({}, { tables: ["orders"] });
      expect(await ids()).toEqual([1]);
    },
  );

  test("of a topic with several tables leaves rows of the others alone", async () => {
    enveloped("c", 1);
    enveloped("c", 2);
    enveloped("c", 1, "customers");
    enveloped("d", 1);
    tombstone(1);
    await read();
    expect([await ids(), await ids("customers")]).toEqual([[2], [1]]);
  });

  test.each([
    [
      "an envelope, and a table that tableFor leaves out",
      enveloped,
      { tableFor: ({ name }) => (name === "customers" ? null : { name }) },
      {},
    ],
    ["an envelope, and a table that tables leaves out", enveloped, {}, { tables: ["orders"] }],
    [
      "flattened rows, and a table that tableFor leaves out",
      deletedRow,
      { tableFor: ({ name }) => (name === "customers" ? null : { name }) },
      {},
    ],
    ["flattened rows, and a table that tables leaves out", deletedRow, {}, { tables: ["orders"] }],
    ["flattened rows of two tables", deletedRow, {}, {}],
  ] satisfies [string, typeof enveloped, PostgresOptions, More][])(
    "of %s deletes nothing more, also after a restart",
    async (_, write, options, more) => {
      for (const [id, table] of [[1], [2], [1, "customers"], [2, "customers"]] as const) {
        write("c", id, table);
      }
      write("d", 1, "customers");
      tombstone(1);
      write("d", 2, "customers");
      await read(options, more);
      tombstone(2);
      write("d", 2);
      tombstone(2);
      await read(options, more);
      expect(await ids()).toEqual([1]);
    },
  );

  test("is no error as the first record after a restart", async () => {
    enveloped("c", 1);
    enveloped("c", 2);
    enveloped("c", 1, "customers");
    enveloped("d", 1);
    await read();
    tombstone(1);
    await read();
    expect([await ids(), await ids("customers")]).toEqual([[2], [1]]);
  });
});
