/** Sources that leave columns out of a row and say nothing of it: what the table has in them must stay. */
import { type CdcEvent, createDecoder } from "@cdckit/decode";
import { postgres, type PostgresSink } from "@cdckit/postgres";
import { recordOf } from "@cdckit/testkit";
import { beforeEach, describe, expect, test } from "vitest";
import { ownPostgres } from "./own-postgres.ts";

const partition = Object.freeze({ topic: "shop.public.orders", partition: 0, epoch: 1 });
const { pool } = await ownPostgres();

beforeEach(async () => {
  await pool.query("drop schema if exists copy cascade; create schema copy");
});

type Row = Readonly<Record<string, unknown>>;

/** The messages of one source, by what was done. `before` is the old key, if that was changed. */
interface Source {
  readonly insert: (row: Row) => object;
  readonly update: (row: Row, before?: Row) => object;
}

/** Its default for most databases, COMPRESSUPDATES: an update has the key and the columns that were changed. */
const goldengate: Source = {
  insert: (after) => ({ table: "public.orders", op_type: "I", op_ts: "2024-01-01 10:00:00", pos: "1", primary_keys: ["id"], after }),
  update: (after, before) => ({ ...goldengate.insert(after), op_type: "U", ...(before === undefined ? {} : { before }) }),
};

/** It leaves out a large value that an update did not change. */
const wal2json: Source = {
  insert: (row) => ({ action: "I", schema: "public", table: "orders", columns: columnsOf(row), pk: [{ name: "id", type: "bigint" }] }),
  update: (row, before) => ({ ...wal2json.insert(row), action: "U", identity: columnsOf(before ?? { id: row["id"] }) }),
};

function columnsOf(row: Row): readonly object[] {
  return Object.entries(row).map(([name, value]) => ({ name, type: typeof value === "number" ? "bigint" : "text", value }));
}

async function eventsOf(...messages: readonly object[]): Promise<readonly CdcEvent[]> {
  const decoder = createDecoder({});
  const events: CdcEvent[] = [];
  for (const message of messages) {
    events.push(...(await decoder.decode(recordOf(JSON.stringify(message), { topic: partition.topic }))));
  }
  return events;
}

async function sinkOf(): Promise<PostgresSink> {
  await pool.query("create table copy.orders (id bigint primary key, n bigint not null, body text not null)");
  const sink = postgres({ pool: pool as never, schema: "copy" });
  await sink.claim("g", [partition]);
  return sink;
}

async function rows(): Promise<readonly Row[]> {
  return (await pool.query<Row>("select id::int, n::int, body from copy.orders order by id")).rows;
}

describe.each([
  ["GoldenGate", goldengate],
  ["wal2json", wal2json],
])("a column that an update of %s leaves out", (_, { insert, update }) => {
  test.each([["in one batch"], ["in two batches"]])("keeps the value of the insert %s", async (how) => {
    const sink = await sinkOf();
    const [created, ...updates] = await eventsOf(
      insert({ id: 1, n: 1, body: "long text" }),
      update({ id: 1, n: 2 }),
      update({ id: 1, n: 3 }),
    );
    const batches = how === "in one batch" ? [[created, ...updates]] : [[created], updates];
    let nextOffset = 0n;
    for (const events of batches) {
      await sink.apply({ assignment: partition, events: events as CdcEvent[], nextOffset: ++nextOffset });
    }
    expect(await rows()).toEqual([{ id: 1, n: 3, body: "long text" }]);
  });

  test("has the value of the latest update that has one", async () => {
    const sink = await sinkOf();
    await pool.query("insert into copy.orders values (1, 1, 'before')");
    const events = await eventsOf(update({ id: 1, body: "long text", n: 2 }), update({ id: 1, n: 3 }));
    await sink.apply({ assignment: partition, events, nextOffset: 2n });
    expect(await rows()).toEqual([{ id: 1, n: 3, body: "long text" }]);
  });

  describe("and changes the key", () => {
    const moved = (from: number, to: number, n = 1): object => update({ id: to, n }, { id: from });

    test.each<[string, readonly object[], string]>([
      ["of a row of the table", [moved(1, 9)], "2b 9a"],
      ["of a row that it gives to another one", [moved(1, 9), moved(2, 1), moved(9, 2)], "1b 2a"],
      ["of a row of the same batch", [insert({ id: 5, n: 1, body: "e" }), moved(5, 6), moved(6, 7)], "1a 2b 7e"],
      ["of a row that is deleted, and comes again", [moved(1, 9), insert({ id: 1, n: 1, body: "c" })], "1c 2b 9a"],
    ])("keeps the value %s", async (_name, messages, expected) => {
      const sink = await sinkOf();
      await pool.query("insert into copy.orders values (1, 1, 'a'), (2, 1, 'b')");
      const events = await eventsOf(...messages);
      await sink.apply({ assignment: partition, events, nextOffset: BigInt(events.length) });
      expect((await rows()).map(({ id, body }) => `${String(id)}${String(body)}`).join(" ")).toBe(expected);
    });

    test("of a row that refers to itself changes both at once, and an equal key of another form is no other row", async () => {
      await pool.query(
        "create table copy.orders (id numeric primary key, parent numeric references copy.orders, n int, body text not null)",
      );
      const sink = postgres({ pool: pool as never, schema: "copy" });
      await sink.claim("g", [partition]);
      const events = await eventsOf(
        insert({ id: "1.0", parent: "1.0", n: 1, body: "a" }),
        update({ id: "2.0", parent: "2.0" }, { id: "1.0" }),
        update({ id: "2.00", n: 2 }, { id: "2.0" }),
      );
      await sink.apply({ assignment: partition, events, nextOffset: 3n });
      expect((await pool.query("select * from copy.orders")).rows).toEqual([{ id: "2.00", parent: "2.0", n: 2, body: "a" }]);
    });

    test("writes over a row that has the new key already: changes come again with Kafka's own offsets", async () => {
      await sinkOf();
      const sink = postgres({ pool: pool as never, schema: "copy", delivery: "at-least-once" });
      const events = await eventsOf(insert({ id: 1, n: 1, body: "a" }), moved(1, 9, 2));
      for (const again of [events, events.slice(1), events]) {
        await sink.apply({ assignment: partition, events: again, nextOffset: 2n });
        expect(await rows()).toEqual([{ id: 9, n: 2, body: "a" }]);
      }
    });
  });
});
