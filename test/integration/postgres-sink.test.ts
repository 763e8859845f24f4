import {
  type CdcEvent,
  type ChangeEvent,
  type Columns,
  createDecoder,
  type Decoder,
  type KafkaRecord,
  type SchemaSeen,
  UNAVAILABLE,
} from "@cdckit/decode";
import { createConsumer } from "@cdckit/consumer";
import { postgres, type PostgresOptions, type PostgresSink } from "@cdckit/postgres";
import { fromBundle } from "@cdckit/registry";
import { bundledRecordings, memory, MemoryBroker, readRecording, recordOf } from "@cdckit/testkit";
import pg from "pg";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { ownPostgres } from "./own-postgres.ts";

const partition = Object.freeze({ topic: "shop.public.orders", partition: 0, epoch: 1 });
const { server, pool } = await ownPostgres();
const sinks: PostgresSink[] = [];

afterAll(() => Promise.all(sinks.map((sink) => sink.close())));

beforeEach(async () => {
  await pool.query("drop schema if exists copy cascade");
});

function sinkOf(options: PostgresOptions = {}): PostgresSink {
  const sink = postgres({ pool: pool as never, schema: "copy", create: true, ...options });
  sinks.push(sink);
  return sink;
}

async function claimed(options: PostgresOptions = {}): Promise<PostgresSink> {
  await pool.query("create schema if not exists copy");
  const sink = sinkOf(options);
  await sink.claim("g", [partition]);
  return sink;
}

function change(op: string, key: Columns, after: Columns | null, before: Columns | null = null): CdcEvent {
  const table = { schema: "public", name: "orders" };
  return { kind: "change", op, table, key, before, after, record: { topic: partition.topic } } as unknown as CdcEvent; // what a sink reads
}

const created = (id: number, more: Columns = {}): CdcEvent => change("create", { id }, { id, ...more });
const apply = (sink: PostgresSink, nextOffset: bigint, ...events: CdcEvent[]): Promise<void> =>
  sink.apply({ assignment: partition, events, nextOffset });

async function rows(sql = "select * from copy.orders order by id"): Promise<readonly Record<string, unknown>[]> {
  return (await pool.query<Record<string, unknown>>(sql)).rows;
}

describe("a connection that PostgreSQL will never let in", () => {
  test.each([
    ["with a wrong password", { password: ":canary-word" }, "28P01", "check user and password"],
    ["without a password", { password: "" }, null, "the connection has none"],
    ["to a database that is not there", { database: "nowhere" }, "3D000", "check the database"],
    ["with TLS where the server has none", { query: "?sslmode=require" }, null, "set ssl: false"],
  ])("%s is an error that says what to change, and is not tried again", async (_, change, state, advice) => {
    const { user, host, port } = server.database;
    const { password, database, query } = {
      password: `:${server.database.password}`,
      database: server.database.database,
      query: "",
      ...change,
    };
    const sink = postgres({ connectionString: `postgres://${user}${password}@${host}:${port}/${database}${query}`, schema: "copy" });
    sinks.push(sink);
    const error: unknown = await sink.claim("g", [partition]).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "login-failed", retriable: false });
    expect((error as Error).message).toContain(advice);
    expect((error as Error).message).not.toContain("canary-word");
    expect((error as Error & { cause: { code?: string } }).cause.code ?? null).toBe(state);

    const driver = memory({ broker: new MemoryBroker({ t: 1 }) });
    const consumer = createConsumer({ driver, groupId: "g", topics: ["t"], signals: false }).to(sink);
    await expect(consumer.run()).rejects.toThrow(/\[sink-failed\] the sink \S+ could not claim its partitions: \[login-failed\]/);
  });
});

describe("rows", () => {
  test("are written by their keys, the last state of each, and deleted", async () => {
    const sink = await claimed();
    await apply(sink, 3n, created(1, { note: "a" }), created(2, { note: "b" }), change("update", { id: 1 }, { id: 1, note: "c" }));
    await apply(sink, 5n, change("delete", { id: 2 }, null), created(3, { note: "d" }));
    expect(await rows()).toEqual([
      { id: "1", note: "c" },
      { id: "3", note: "d" },
    ]);
  });

  test("keep the columns that an update could not tell of", async () => {
    const sink = await claimed();
    await apply(sink, 1n, created(1, { note: "a", big: "long text" }), created(2, { note: "a", big: "too" }));
    await apply(sink, 2n, change("update", { id: 1 }, { id: 1, note: "b", big: UNAVAILABLE }));
    await apply(sink, 4n, created(3, { note: "x", big: "y" }), change("update", { id: 3 }, { id: 3, note: "z", big: UNAVAILABLE }));
    expect(await rows()).toEqual([
      { id: "1", note: "b", big: "long text" },
      { id: "2", note: "a", big: "too" },
      { id: "3", note: "z", big: "y" },
    ]);
  });

  test("may have values that say themselves how they are written, as the Temporal types do", async () => {
    class PlainTime {
      readonly #text = "10:00:00";

      toJSON(): string {
        return this.#text;
      }
    }
    await pool.query("create schema copy; create table copy.orders (id bigint primary key, said text, at time, doc jsonb)");
    const sink = await claimed({ create: false });
    const time = new PlainTime();
    await apply(sink, 1n, created(1, { said: time, at: time, doc: { time, date: new Date(0) } }));
    expect(await rows()).toEqual([
      { id: "1", said: "10:00:00", at: "10:00:00", doc: { time: "10:00:00", date: "1970-01-01T00:00:00.000Z" } },
    ]);
  });

  test("move if one event changes their key", async () => {
    const sink = await claimed();
    await apply(sink, 1n, created(1, { note: "a" }));
    await apply(sink, 2n, change("update", { id: 9 }, { id: 9, note: "a" }, { id: 1, note: "a" }));
    expect(await rows()).toEqual([{ id: "9", note: "a" }]);
  });

  test("go with a truncate, and those behind it stay", async () => {
    const sink = await claimed();
    await apply(sink, 1n, created(1), created(2));
    const truncate = { ...change("delete", { id: 1 }, null), kind: "truncate" } as CdcEvent;
    await apply(sink, 4n, created(3), truncate, created(4));
    expect(await rows()).toEqual([{ id: "4" }]);
  });

  describe("of a table that is truncated, whose topic has several partitions,", () => {
    const truncate = { ...change("delete", { id: 1 }, null), kind: "truncate" } as CdcEvent;
    const other = Object.freeze({ ...partition, partition: 1 });

    test("stay, because they may be newer: the truncate is refused", async () => {
      const sink = await claimed();
      await sink.claim("g", [other]);
      await apply(sink, 1n, created(1));
      await sink.apply({ assignment: other, events: [created(2)], nextOffset: 1n });
      const refused: unknown = await apply(sink, 2n, truncate).catch((reason: unknown) => reason);
      expect(refused).toMatchObject({ code: "truncate-refused", retriable: false });
      expect((refused as Error).message).toContain('"copy"."orders" was truncated, and shop.public.orders has several partitions');
      expect((await rows()).map(({ id }) => id)).toEqual(["1", "2"]);
    });

    test("stay if another member has the other partition", async () => {
      const sink = await claimed();
      await apply(sink, 1n, created(1));
      await sinkOf().claim("g", [other]);
      await expect(apply(sink, 2n, truncate)).rejects.toMatchObject({ code: "truncate-refused" });
      expect((await rows()).map(({ id }) => id)).toEqual(["1"]);
    });

    test("go if the sink is told to apply truncates, and stay if it is told to ignore them", async () => {
      for (const [option, left] of [
        ["ignore", ["1", "3"]],
        ["apply", ["3"]],
      ] as const) {
        const sink = await claimed({ truncate: option, name: option });
        await sink.claim("g", [other, partition]);
        await apply(sink, 3n, created(1), truncate, created(3));
        expect((await rows()).map(({ id }) => id)).toEqual(left);
      }
    });
  });

  test("of a table that is truncated stay if the sink is told to halt, whatever the partitions", async () => {
    const sink = await claimed({ truncate: "halt" });
    const truncate = { ...change("delete", { id: 1 }, null), kind: "truncate" } as CdcEvent;
    await expect(apply(sink, 2n, created(1), truncate)).rejects.toMatchObject({ code: "truncate-refused" });
    expect(() => postgres({ truncate: "always" as never })).toThrow('truncate must be "apply", "ignore" or "halt"');
  });

  describe("of a table that has rows of several source tables, of which one is truncated,", () => {
    const tableFor = (): { name: string } => ({ name: "orders" });
    const of = (name: string, event: CdcEvent): CdcEvent => ({ ...event, table: { schema: "public", name } }) as CdcEvent;
    const truncate = (name: string): CdcEvent => of(name, { ...change("delete", { id: 1 }, null), kind: "truncate" } as CdcEvent);

    test("stay, because the other tables were not: the truncate is refused", async () => {
      const sink = await claimed({ tableFor });
      await apply(sink, 2n, of("orders_1", created(1)), of("orders_2", created(2)));
      const refused: unknown = await apply(sink, 3n, truncate("orders_1")).catch((reason: unknown) => reason);
      expect(refused).toMatchObject({ code: "truncate-refused", retriable: false });
      expect((refused as Error).message).toContain('"copy"."orders" was truncated, and the table has rows of other source tables, too');
      expect((await rows()).map(({ id }) => id)).toEqual(["1", "2"]);
    });

    test("stay if the other rows come in the same batch, or before a restart", async () => {
      const sink = await claimed({ tableFor });
      const both = [of("orders_2", created(2)), truncate("orders_1")];
      await expect(apply(sink, 2n, ...both)).rejects.toMatchObject({ code: "truncate-refused" });
      await apply(sink, 1n, of("orders_1", created(1)));
      const restarted = await claimed({ tableFor });
      await apply(restarted, 2n, of("orders_2", created(2)));
      await expect(apply(restarted, 3n, truncate("orders_2"))).rejects.toMatchObject({ code: "truncate-refused" });
      expect((await rows()).map(({ id }) => id)).toEqual(["1", "2"]);
    });

    test("stay if the other rows came through another topic, to another member", async () => {
      const sink = await claimed({ tableFor });
      await apply(sink, 1n, of("orders_1", created(1)));
      const other = { topic: "shop.public.orders_2", partition: 0, epoch: 1 };
      const member = sinkOf({ tableFor });
      await member.claim("g", [other]);
      const elsewhere = { ...of("orders_2", created(2)), record: { topic: other.topic } } as CdcEvent;
      await member.apply({ assignment: other, events: [elsewhere], nextOffset: 1n });
      const refused: unknown = await apply(sink, 2n, truncate("orders_1")).catch((reason: unknown) => reason);
      expect(refused).toMatchObject({ code: "truncate-refused" });
      expect((refused as Error).message).toContain("the table has rows of other topics, too");
      expect((await rows()).map(({ id }) => id)).toEqual(["1", "2"]);
    });

    test("stay if the other rows came through a topic of many tables", async () => {
      const own = ({ name }: { readonly name: string }): { name: string } => ({ name: name.replace(/_\d+$/, "") });
      const sink = await claimed({ tableFor: own });
      await apply(sink, 1n, of("orders_1", created(1)));
      const many = { topic: "shop.many", partition: 0, epoch: 1 };
      const member = sinkOf({ tableFor: own });
      await member.claim("g", [many]);
      const elsewhere = ["customers", "lines", "orders_2"].map(
        (name) => ({ ...of(name, created(2)), record: { topic: many.topic } }) as CdcEvent,
      );
      await member.apply({ assignment: many, events: elsewhere, nextOffset: 3n });
      await expect(apply(sink, 2n, truncate("orders_1"))).rejects.toMatchObject({ code: "truncate-refused" });
      expect((await rows()).map(({ id }) => id)).toEqual(["1", "2"]);
    });

    test("go if all of them came from the table that is truncated, whatever parts of its name a message says", async () => {
      const sink = await claimed({ tableFor });
      const named = { ...created(2), table: { database: "shop", schema: "public", name: "orders_1" } } as CdcEvent;
      await apply(sink, 4n, of("orders_1", created(1)), named, truncate("orders_1"), of("orders_1", created(3)));
      expect((await rows()).map(({ id }) => id)).toEqual(["3"]);
    });
  });

  test.each(["Struct{id=1}", 1])("whose key is the single value %s are refused, and the converter is named", async (key) => {
    const sink = await claimed();
    const refused: unknown = await apply(sink, 1n, { ...created(1), key } as CdcEvent).catch((reason: unknown) => reason);
    expect(refused).toMatchObject({ code: "key-missing", retriable: false });
    expect((refused as Error).message).toMatch(
      /^\[key-missing\] a change of public\.orders has no key with named columns: .*StringConverter/,
    );
    expect((refused as Error).message).not.toContain(String(key));
  });

  test("without a key are refused, and nothing is written", async () => {
    const sink = await claimed();
    const refused = apply(sink, 2n, created(1), change("create", null as unknown as Columns, { id: 2 }));
    await expect(refused).rejects.toMatchObject({ code: "key-missing" });
    await expect(refused).rejects.toThrow(/a change of public\.orders has no key.*leave the table out: tableFor answers null for it/);
    expect(await rows("select next_offset from copy.cdckit_checkpoints")).toEqual([{ next_offset: null }]);
  });

  test("may have any names", async () => {
    const sink = await claimed();
    const row = JSON.parse('{"id":1,"a\\"b":"x","__proto__":"y","select":"z"}') as Columns;
    await apply(sink, 1n, change("create", { id: 1 }, row));
    expect((await rows('select "a""b" as a, "__proto__" as p, "select" as s from copy.orders'))[0]).toEqual({ a: "x", p: "y", s: "z" });
  });

  test("of a column whose name PostgreSQL would cut are refused, and nothing is written", async () => {
    const long = "顧客の請求先住所の都道府県および市区町村名"; // 21 characters of three bytes
    const sink = await claimed({ widen: true });
    await apply(sink, 1n, created(1, { [long]: "Tokyo" }));
    const refused: unknown = await apply(sink, 3n, created(2), created(3, { [`${long}s`]: "Osaka" })).catch((reason: unknown) => reason);
    expect(refused).toMatchObject({ code: "schema-mismatch", retriable: false });
    expect((refused as Error).message).toContain(
      `expected names of at most 63 bytes, because PostgreSQL cuts off the rest, but the name of the column "${long}s" of "copy"."orders" has 64: `,
    );
    expect(await rows()).toEqual([{ id: "1", [long]: "Tokyo" }]);
    const inNewTable = apply(sink, 3n, { ...created(1, { [`${long}s`]: "Osaka" }), table: { name: "new" } } as CdcEvent);
    await expect(inNewTable).rejects.toMatchObject({ code: "schema-mismatch" });
    expect(await rows("select to_regclass('copy.new') as oid")).toEqual([{ oid: null }]);
  });

  test("of a table whose name PostgreSQL would cut are refused: it would be the table of another name", async () => {
    const cut = "x".repeat(63);
    const of = (name: string, event = created(1)): CdcEvent => ({ ...event, table: { schema: "public", name } }) as CdcEvent;
    const sink = await claimed();
    await apply(sink, 1n, of(cut));
    await expect(apply(sink, 3n, created(1), of(`${cut}1`))).rejects.toThrow(`of "copy"."${cut}1" has 64: name another one by tableFor`);
    expect(await rows("select to_regclass('copy.orders') as oid")).toEqual([{ oid: null }]);
    // The table of a tombstone is only what its topic is called.
    await apply(sink, 3n, of(`${cut}1`, { ...created(1), kind: "tombstone" } as CdcEvent));
    expect(await rows(`select id from copy.${cut}`)).toEqual([{ id: "1" }]);
    const named = await claimed({ tableFor: () => ({ schema: `${cut}1`, name: "orders" }) });
    await expect(apply(named, 4n, created(1))).rejects.toThrow(`the name of the schema of "${cut}1"."orders" has 64`);
  });

  test("that PostgreSQL refuses are told by their table and its code, without a value", async () => {
    const sink = await claimed({ create: false });
    await pool.query("create table copy.orders (id bigint primary key, note varchar(3) not null)");
    const refused = apply(sink, 1n, created(1, { note: "a secret" }));
    await expect(refused).rejects.toMatchObject({ code: "rejected", retriable: false });
    await expect(refused).rejects.toThrow(/"copy"\."orders".*22001/);
    await expect(refused).rejects.not.toThrow(/secret/);
    const withoutColumn = { ...created(2), after: { id: 2 } } as CdcEvent; // the source has dropped it
    await expect(apply(sink, 1n, withoutColumn)).rejects.toThrow(/23502 \(column "note"\), the column takes no null: .*drop not null/);
  });
});

describe("values", () => {
  test.each<[string, unknown, string]>([
    ["bigint", 9_007_199_254_740_993n, "9007199254740993"],
    ["numeric", "0.100000", "0.100000"],
    ["double precision", Number.NaN, "NaN"],
    ["double precision", Number.NEGATIVE_INFINITY, "-Infinity"],
    ["date", "-0043-03-15", "0044-03-15 BC"],
    ["date", "infinity", "infinity"],
    ["date", "+5874897-12-31", "5874897-12-31"],
    ["timestamptz", "0000-12-31T00:00:00Z", "0001-12-31 00:00:00+00 BC"],
    ["timestamp", "+12024-01-01T00:00:00.5", "12024-01-01 00:00:00.5"],
    ["timestamptz", "2024-02-29T12:00:00Z", "2024-02-29 12:00:00+00"],
    ["interval", "P1Y2M3DT4H5M6.789S", "1 year 2 mons 3 days 04:05:06.789"],
    ["bytea", Buffer.from([0, 255]), "\\x00ff"],
    ["interval", 3_600_000_001, "01:00:00.000001"],
    ["varbit", "1010", "1010"],
    ["bit(1)", true, "1"],
    ["bit(1)", false, "0"],
    ["int4multirange", Buffer.from("{[1,3),[5,9)}"), "{[1,3),[5,9)}"],
    ["hstore", '{"a":"1","q\\"u":"\\\\","b c":null}', '"a"=>"1", "b c"=>NULL, "q\\"u"=>"\\\\"'],
    ["text[]", ['a"b', null, "\\", "c,d"], '{"a\\"b",NULL,"\\\\","c,d"}'],
    [
      "integer[]",
      [
        [1, 2],
        [3, 4],
      ],
      "{{1,2},{3,4}}",
    ],
    ["jsonb", { n: 9_007_199_254_740_993n, a: [1, "x"] }, '{"a": [1, "x"], "n": 9007199254740993}'],
    ["json", '{"a": 1}', '{"a": 1}'],
    ["jsonb", { n: [Number.NaN, Number.POSITIVE_INFINITY], m: Number.NEGATIVE_INFINITY }, '{"m": "-Infinity", "n": ["NaN", "Infinity"]}'],
    ["jsonb", Number.NaN, '"NaN"'],
    ["text", ["a", "b"], "a,b"],
    ["point", { x: 1, y: 2.5, srid: null, wkb: Buffer.alloc(0) }, "(1,2.5)"],
    ["boolean", true, "true"],
    ["uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"],
  ])("a column of %s takes %o", async (type, value, text) => {
    const sink = await claimed({ create: false });
    await pool.query("create extension if not exists hstore");
    await pool.query(`create table copy.orders (id bigint primary key, v ${type})`);
    await apply(sink, 1n, created(1, { v: value }));
    expect(await rows("select v::text from (select v from copy.orders, (select set_config('timezone', 'UTC', false)) x) y")).toEqual([
      { v: text },
    ]);
  });
});

describe("a column of JSON that the sink has made", () => {
  test("has each value of an Avro union as what it is", async () => {
    const zigzag = (n: number): Buffer => Buffer.from([n * 2]); // one byte of Avro's integers
    const text = (value: string): Buffer => Buffer.concat([zigzag(1), zigzag(value.length), Buffer.from(value)]);
    const framed = (id: number, ...parts: Buffer[]): Buffer => Buffer.concat([Buffer.from([0, 0, 0, 0, id]), ...parts]);
    const recordType = (fields: readonly object[]): string => JSON.stringify({ type: "record", name: "Row", fields });
    const schemas = new Map([
      [1, recordType([{ name: "id", type: "long" }])],
      [
        2,
        recordType([
          { name: "id", type: "long" },
          { name: "v", type: ["null", "string", "long", "boolean", "bytes"] },
        ]),
      ],
    ]);
    const peek = (id: unknown): object => ({ id, schemaType: "AVRO", schema: schemas.get(Number(id)) });
    const sink = await claimed();
    const decoder = createDecoder({
      schemas: { peek, load: async (id: unknown) => peek(id) } as never,
      onSchema: (seen) => sink.schemaSeen(seen),
    });
    const written = [
      text("123"),
      text('say "hello"'),
      Buffer.concat([zigzag(2), zigzag(5)]),
      Buffer.concat([zigzag(3), Buffer.from([1])]),
      Buffer.concat([zigzag(4), zigzag(2), Buffer.from([0, 255])]),
      zigzag(0),
    ];
    for (const [i, value] of written.entries()) {
      const key = framed(1, zigzag(i));
      const record = recordOf(framed(2, zigzag(i), value), { topic: partition.topic, key });
      await apply(sink, BigInt(i) + 1n, ...(await decoder.decode(record)));
    }
    expect((await rows("select v, jsonb_typeof(v) as type from copy.orders order by id")).map(({ v, type }) => [type, v])).toEqual([
      ["string", "123"],
      ["string", 'say "hello"'],
      ["number", 5],
      ["boolean", true],
      ["string", "AP8="],
      [null, null],
    ]);
  });

  test("has documents, numbers and booleans of messages without schemas", async () => {
    const sink = await claimed();
    await apply(sink, 1n, created(1, { v: { a: 1 } }));
    await apply(sink, 4n, created(2, { v: true }), created(3, { v: 1.5 }), created(4, { v: 9_007_199_254_740_993n }));
    expect(await rows("select v::text from copy.orders order by id")).toEqual([
      { v: '{"a": 1}' },
      { v: "true" },
      { v: "1.5" },
      { v: "9007199254740993" },
    ]);
  });
});

describe("checkpoints", () => {
  test("move with the rows or not at all", async () => {
    const sink = await claimed({ create: false });
    await pool.query("create table copy.orders (id bigint primary key check (id < 5))");
    await apply(sink, 2n, created(1));
    await expect(apply(sink, 4n, created(2), created(7))).rejects.toMatchObject({ code: "rejected" });
    expect(await rows()).toEqual([{ id: "1" }]);
    expect(await sink.claim("g", [partition])).toEqual([{ assignment: partition, offset: 2n }]);
  });

  test("move over what holds no event", async () => {
    const sink = await claimed();
    await apply(sink, 7n);
    expect(await sinkOf().claim("g", [partition])).toEqual([{ assignment: partition, offset: 7n }]);
  });

  test("fence whoever held the partition before", async () => {
    const [before, after] = [await claimed(), sinkOf()];
    await apply(before, 1n, created(1));
    const again = Object.freeze({ ...partition, epoch: 2 });
    expect(await after.claim("g", [again])).toEqual([{ assignment: again, offset: 1n }]);
    await expect(apply(before, 2n, created(2))).rejects.toMatchObject({ code: "fenced" });
    await after.apply({ assignment: again, events: [created(3)], nextOffset: 2n });
    expect(await rows()).toEqual([{ id: "1" }, { id: "3" }]);
  });

  test("wait for the transaction under way", async () => {
    const [before, after] = [await claimed({ create: false }), sinkOf()];
    await pool.query("create table copy.orders (id bigint primary key)");
    const lock = await pool.connect();
    await lock.query("begin; lock table copy.orders in access exclusive mode");
    const applying = apply(before, 5n, created(1));
    while ((await rows("select 1 from pg_locks where not granted")).length === 0) {
      // Until the batch waits for the table, its checkpoint moved and not committed.
    }
    const claiming = after.claim("g", [partition]);
    await lock.query("commit");
    lock.release();
    await applying;
    expect(await claiming).toEqual([{ assignment: partition, offset: 5n }]);
  });

  test("are no target of rows, which would move them: a source that is a copy itself has such a table, too", async () => {
    const sink = await claimed();
    await apply(sink, 1n, created(1));
    const checkpoint = { group_id: "g", sink: "postgres", topic: partition.topic, partition: 0 };
    const moved = {
      ...change("update", checkpoint, { ...checkpoint, next_offset: 99, fence: 1 }),
      table: { schema: "public", name: "cdckit_checkpoints" },
    } as unknown as CdcEvent; // what a sink reads
    await expect(apply(sink, 2n, moved)).rejects.toMatchObject({
      code: "schema-mismatch",
      message: expect.stringContaining('"copy"."cdckit_checkpoints"'),
    });
    expect(await rows("select next_offset from copy.cdckit_checkpoints")).toEqual([{ next_offset: "1" }]);
  });

  test("that are behind what was applied halt the consumer: a standby that lagged has taken over, without the rows", async () => {
    const sink = await claimed();
    await apply(sink, 1n, created(1));
    await apply(sink, 2n, created(2));
    await pool.query("begin; delete from copy.orders where id = 2; update copy.cdckit_checkpoints set next_offset = 1; commit"); // as it was there
    const applying = apply(sink, 3n, created(3));
    await expect(applying).rejects.toMatchObject({ code: "checkpoint-lost", retriable: false });
    await expect(applying).rejects.toThrow("shop.public.orders[0]: the checkpoint is at 1, and everything below 2 was applied");
    expect(await rows()).toEqual([{ id: "1" }]);
    expect(await sink.claim("g", [partition])).toMatchObject([{ offset: 1n }]);
    await apply(sink, 3n, created(2), created(3));
    expect(await rows()).toEqual([{ id: "1" }, { id: "2" }, { id: "3" }]);
    await pool.query("update copy.cdckit_checkpoints set next_offset = null");
    await expect(apply(sink, 4n, created(4))).rejects.toThrow("the checkpoint is gone, and everything below 3 was applied");
    await sink.claim("g", [partition]);
    await pool.query("update copy.cdckit_checkpoints set fence = fence - 1"); // the claim was lost, too: nobody else has the partition
    await expect(apply(sink, 4n, created(4))).rejects.toMatchObject({ code: "checkpoint-lost" });
    await pool.query("delete from copy.cdckit_checkpoints");
    await expect(apply(sink, 4n, created(4))).rejects.toThrow("the checkpoint is gone, and this member has claimed the partition");
  });

  test("that are behind what a claim has found halt its member, also if a claim after the failover has the same fence", async () => {
    const [before, member, owner] = [await claimed(), sinkOf(), sinkOf()];
    await apply(before, 1n, created(1));
    await apply(before, 2n, created(2));
    const [assignment, later] = [{ ...partition }, { ...partition }];
    expect(await member.claim("g", [assignment])).toMatchObject([{ offset: 2n }]);
    await pool.query(
      "begin; delete from copy.orders where id = 2; update copy.cdckit_checkpoints set next_offset = 1, fence = fence - 1; commit", // as it was on the standby
    );
    expect(await owner.claim("g", [later])).toMatchObject([{ offset: 1n }]);
    await expect(member.apply({ assignment, events: [created(3)], nextOffset: 3n })).rejects.toMatchObject({ code: "checkpoint-lost" });
    await owner.apply({ assignment: later, events: [created(2)], nextOffset: 2n });
    expect(await rows()).toEqual([{ id: "1" }, { id: "2" }]);
  });

  test("are of one group and one sink", async () => {
    const sink = await claimed();
    await apply(sink, 3n, created(1));
    expect(await sinkOf().claim("other", [partition])).toEqual([]);
    expect(await sinkOf({ name: "second" }).claim("g", [partition])).toEqual([]);
  });

  test("keep the topic id that they were reached in, and one of a recreated topic begins again", async () => {
    const old = { ...partition, topicId: "old" };
    const sink = await claimed();
    await sink.claim("g", [old]);
    await sink.apply({ assignment: old, events: [created(1, { note: "old" })], nextOffset: 100n });
    const recreated = { ...partition, topicId: "new" };
    expect(await sink.claim("g", [recreated])).toEqual([{ assignment: recreated, offset: 100n, topicId: "old" }]);
    await sink.apply({ assignment: recreated, events: [created(1, { note: "new" })], nextOffset: 50n });
    // The same batch again, after an answer that was lost, is still the same.
    await sink.apply({ assignment: recreated, events: [created(1, { note: "again" })], nextOffset: 50n });
    expect(await rows()).toEqual([{ id: "1", note: "new" }]);
    expect(await rows("select next_offset, topic_id from copy.cdckit_checkpoints")).toEqual([{ next_offset: "50", topic_id: "new" }]);
  });

  test("of a table that is older than topic ids go on, and have them from the next batch on", async () => {
    await pool.query("create schema copy");
    await pool.query(
      "create table copy.cdckit_checkpoints (group_id text not null, sink text not null, topic text not null, partition integer not null, " +
        "next_offset bigint, fence bigint not null, changed_at timestamptz not null default now(), primary key (group_id, sink, topic, partition))",
    );
    await pool.query("insert into copy.cdckit_checkpoints values ('g', 'postgres', $1, 0, 7, 3)", [partition.topic]);
    const assignment = { ...partition, topicId: "id" };
    const sink = sinkOf();
    const [first] = await Promise.all([sink.claim("g", [assignment]), sinkOf().claim("other", [assignment])]);
    expect(first).toEqual([{ assignment, offset: 7n }]);
    await sink.apply({ assignment, events: [created(1)], nextOffset: 7n });
    await sink.apply({ assignment, events: [created(2)], nextOffset: 8n });
    expect((await rows()).map(({ id }) => id)).toEqual(["2"]);
    expect(await rows("select next_offset, topic_id from copy.cdckit_checkpoints where group_id = 'g'")).toEqual([
      { next_offset: "8", topic_id: "id" },
    ]);
  });

  test("of sinks that share a connection may be in other tables", async () => {
    await pool.query("create schema copy");
    const shared = new pg.Pool({ ...server.database, max: 1 });
    try {
      for (const checkpointTable of ["first", "second"]) {
        const sink = sinkOf({ pool: shared as never, checkpointTable });
        await sink.claim("g", [partition]);
        await apply(sink, 5n, created(1));
        expect(await rows(`select next_offset from copy.${checkpointTable}`)).toEqual([{ next_offset: "5" }]);
      }
    } finally {
      await shared.end();
    }
  });

  test("need nothing of the connection of before, which a pooler may have given to somebody else", async () => {
    const single = new pg.Pool({ ...server.database, max: 1 });
    try {
      const sink = await claimed({ pool: single as never });
      await apply(sink, 1n, created(1));
      await single.query("discard all");
      await apply(sink, 2n, created(2));
      expect(await rows()).toEqual([{ id: "1" }, { id: "2" }]);
    } finally {
      await single.end();
    }
  });

  test("are Kafka's if delivery is at least once", async () => {
    const sink = await claimed({ delivery: "at-least-once" });
    await apply(sink, 1n, created(1));
    expect(await sink.claim("g", [partition])).toEqual([]);
    expect(await rows()).toEqual([{ id: "1" }]);
  });
});

describe("a role", () => {
  test("needs the rights that docs/security.md names, and no others", async () => {
    await pool.query("create schema copy; create table copy.orders (id bigint primary key, note text)");
    await pool.query("drop role if exists writer; create role writer login password 'word'");
    const role = new pg.Pool({ ...server.database, user: "writer", password: "word" });
    try {
      const refused = async (sink: PostgresSink, nextOffset: bigint, ...events: CdcEvent[]): Promise<void> =>
        expect(apply(sink, nextOffset, ...events)).rejects.toMatchObject({ cause: { code: "42501" } });
      const sinkOfRole = (): PostgresSink => sinkOf({ pool: role as never, create: false });

      await expect(sinkOfRole().claim("g", [partition])).rejects.toThrow("42501");
      await pool.query("grant usage, create on schema copy to writer");
      await sinkOfRole().claim("g", [partition]);
      await pool.query("revoke create on schema copy from writer; alter table copy.cdckit_checkpoints owner to current_user");
      await pool.query("grant select, insert, update on copy.cdckit_checkpoints to writer");

      const sink = sinkOfRole();
      await sink.claim("g", [partition]);
      await refused(sink, 1n, created(1));
      await pool.query("grant select, insert, update, delete on copy.orders to writer");
      await apply(sink, 3n, created(1, { note: "a" }), created(2, { note: "b" }), change("delete", { id: 2 }, null));
      await apply(sink, 4n, change("update", { id: 1 }, { id: 1, note: UNAVAILABLE }));
      const truncate = { ...change("delete", { id: 1 }, null), kind: "truncate" } as CdcEvent;
      await refused(sink, 5n, truncate);
      await pool.query("grant truncate on copy.orders to writer");
      await apply(sink, 5n, truncate, created(3, { note: "c" }));
      expect(await rows()).toEqual([{ id: "3", note: "c" }]);
    } finally {
      await role.end();
      await pool.query("drop owned by writer; drop role writer");
    }
  });

  test("that may create tables in a schema needs no right to create schemas", async () => {
    await pool.query("create schema copy");
    await pool.query("drop role if exists maker; create role maker login password 'word'; grant usage, create on schema copy to maker");
    const role = new pg.Pool({ ...server.database, user: "maker", password: "word" });
    try {
      const sink = sinkOf({ pool: role as never });
      await sink.claim("g", [partition]);
      await apply(sink, 1n, created(1));
      expect(await rows()).toEqual([{ id: "1" }]);
      const elsewhere = sinkOf({ pool: role as never, schema: "copy of it" });
      await expect(elsewhere.claim("g", [partition])).rejects.toMatchObject({ code: "rejected", cause: { code: "42501" } });
    } finally {
      await role.end();
      await pool.query("drop owned by maker; drop role maker");
    }
  });
});

describe("tables", () => {
  test("are refused if they are not there", async () => {
    const sink = await claimed({ create: false });
    await expect(apply(sink, 1n, created(1))).rejects.toMatchObject({ code: "schema-mismatch" });
  });

  test("get the columns that rows come with, if that is asked for", async () => {
    const [narrow, wide] = [await claimed(), await claimed({ widen: true })];
    await apply(wide, 1n, created(1));
    await expect(apply(narrow, 2n, created(2, { more: "x" }))).rejects.toMatchObject({ code: "fenced" });
    await apply(wide, 2n, created(2, { more: "x" }));
    expect(await rows()).toEqual([
      { id: "1", more: null },
      { id: "2", more: "x" },
    ]);
  });

  test("become wider with their schema", async () => {
    const sink = await claimed({ widen: true });
    const seen = (kind: "int" | "long"): SchemaSeen =>
      ({
        topic: partition.topic,
        side: "value",
        table: { schema: "public", name: "orders" },
        row: {
          kind: "record",
          name: "Value",
          fields: [
            { name: "id", type: { kind: "long" } },
            { name: "n", type: { kind } },
          ],
        },
      }) as unknown as SchemaSeen; // what a sink reads
    sink.schemaSeen(seen("int"));
    await apply(sink, 1n, created(1, { n: 1 }));
    sink.schemaSeen(seen("long"));
    await apply(sink, 2n, created(2, { n: 9_007_199_254_740_993n }));
    expect(await rows("select n::text, pg_typeof(n)::text as t from copy.orders order by id")).toEqual([
      { n: "1", t: "bigint" },
      { n: "9007199254740993", t: "bigint" },
    ]);
  });

  describe("whose source adds a column that is not null", () => {
    const text = "it's \\ a 'note'";

    test.each([
      ["text", { type: "string", default: text }, text],
      ["an integer", { type: "int64", default: 7 }, "7"],
      ["a boolean", { type: "boolean", default: true }, true],
      ["a decimal", { type: "bytes", name: "org.apache.kafka.connect.data.Decimal", parameters: { scale: "2" }, default: "AfQ=" }, "5.00"],
      ["a time, which may be that of the insert", { type: "int64", name: "io.debezium.time.Timestamp", default: 0 }, null],
    ])("give the rows that are there the default of the schema: %s", async (_, field, expected) => {
      const sink = await claimed({ widen: true });
      const decoder = createDecoder({ onSchema: (seen) => sink.schemaSeen(seen) });
      await apply(sink, 1n, ...(await decoder.decode(messageOf("orders", { id: "int32" }, { id: 1 }))));
      const { key, value, ...rest } = messageOf(
        "orders",
        { id: "int32", extra: "string" },
        { id: 2, extra: (field as { default: unknown }).default },
      );
      const added = Buffer.from(
        String(value).replaceAll(
          '{"field":"extra","type":"string","optional":true}',
          JSON.stringify({ field: "extra", optional: false, ...field }),
        ),
      );
      await apply(sink, 2n, ...(await decoder.decode({ ...rest, key, value: added })));
      expect((await rows())[0]).toEqual({ id: 1, extra: expected });
      expect((await rows())[1]).not.toMatchObject({ extra: null });
    });

    test("give them the default of an Avro schema", async () => {
      const sink = await claimed({ widen: true });
      const fields = [
        { name: "id", type: "int" },
        { name: "n", type: [{ type: "int", "connect.default": 7 }, "null"], default: 7 },
        { name: "note", type: ["null", { type: "string", "connect.default": "a" }], default: null },
      ];
      const of = (schema: object[]): string => JSON.stringify({ type: "record", name: "Value", fields: schema });
      const decoderOf = (schema: object[]) =>
        createDecoder({
          onSchema: (seen) => sink.schemaSeen(seen),
          topics: { [partition.topic]: { value: { encoding: "avro", schema: { schemaType: "AVRO", schema: of(schema) } } } },
        });
      const key = Buffer.from('{"id":1}');
      const keyOf2 = Buffer.from('{"id":2}');
      await apply(sink, 1n, ...(await decoderOf(fields.slice(0, 1)).decode(recordOf(Buffer.from([2]), { topic: partition.topic, key }))));
      const more = Buffer.from([4, 0, 16, 2, 2, 98]);
      await apply(sink, 2n, ...(await decoderOf(fields).decode(recordOf(more, { topic: partition.topic, key: keyOf2 }))));
      expect(await rows()).toEqual([
        { id: 1, n: 7, note: "a" },
        { id: 2, n: 8, note: "b" },
      ]);
    });
  });

  test("that are made from values hold every number that comes later", async () => {
    const sink = await claimed();
    await apply(sink, 1n, created(1, { n: 5 }));
    await apply(sink, 2n, created(2, { n: 5.5 }));
    await apply(sink, 3n, created(3, { n: 2n ** 64n }));
    expect(await rows("select n::text from copy.orders order by id")).toEqual([{ n: "5" }, { n: "5.5" }, { n: "18446744073709551616" }]);
  });

  test("whose columns are too narrow for a number are widened if that is asked for, and none loses a digit", async () => {
    await pool.query("create schema copy; create table copy.orders (id bigint primary key, n bigint, m integer, small smallint)");
    const sink = await claimed({ create: false, widen: true });
    await apply(sink, 1n, created(1, { n: 5, m: 5, small: 5 }), created(2, { n: 2n ** 63n - 1n, m: 5, small: 40_000 }));
    await apply(sink, 2n, created(3, { n: 6, m: 2 ** 31, small: 1 }), created(4, { n: 5.5, m: 1, small: 0.1 }));
    await apply(
      sink,
      3n,
      created(5, { n: 2n ** 64n, m: 1, small: 2 }),
      created(6, { n: 1, m: 1e20, small: 2, more: 1 }),
      created(7, { more: 1.5 }),
    );
    expect(await rows("select id, n::text, m::text, small::text from copy.orders order by id")).toEqual([
      { id: "1", n: "5", m: "5", small: "5" },
      { id: "2", n: "9223372036854775807", m: "5", small: "40000" },
      { id: "3", n: "6", m: "2147483648", small: "1" },
      { id: "4", n: "5.5", m: "1", small: "0.1" },
      { id: "5", n: "18446744073709551616", m: "1", small: "2" },
      { id: "6", n: "1", m: "100000000000000000000", small: "2" },
      { id: "7", n: null, m: null, small: null },
    ]);
    expect(await rows("select sum(more)::text, min(pg_typeof(more)::text) as type from copy.orders")).toEqual([
      { sum: "2.5", type: "numeric" },
    ]);
  });

  test("are not altered for values that fit, whatever type their schema declares, and are for one that does not", async () => {
    await pool.query(
      `create schema copy; create table copy.orders (id smallint, note varchar(5), n integer, twice integer generated always as (id * 2) stored,
         primary key (id)) partition by hash (id);
       create table copy.orders_0 partition of copy.orders for values with (modulus 1, remainder 0);
       create view copy.labels as select upper(note) as label from copy.orders`,
    );
    const sink = await claimed({ create: false, widen: true });
    const decoder = createDecoder({ onSchema: (seen) => sink.schemaSeen(seen) });
    const columns = { id: "int32", note: "string", n: "int64" };
    await apply(sink, 1n, ...(await decoder.decode(messageOf("orders", columns, { id: 1, note: "héll😀", n: 5 }))));
    await apply(sink, 3n, created(2, { note: "b", n: 9 }), change("delete", { id: 2 }, null));
    const types = { id: "smallint", note: "character varying", n: "integer", twice: "integer" };
    expect([await columnsOf("orders"), await rows()]).toEqual([types, [{ id: 1, note: "héll😀", n: 5, twice: 2 }]]);
    await expect(apply(sink, 4n, created(3, { note: "longer", n: 1 }))).rejects.toThrow(/0A000, .* a view/);
    await pool.query("drop view copy.labels");
    await apply(sink, 4n, created(3, { note: "longer", n: 2 ** 40 }));
    expect(await columnsOf("orders")).toEqual({ ...types, note: "text", n: "bigint" });
    expect(await rows("select note, n::text from copy.orders where id = 3")).toEqual([{ note: "longer", n: String(2 ** 40) }]);
  });

  test("whose floats would round a number, and whose dates would cut a time off, are widened for it", async () => {
    await pool.query(
      `create schema copy; create table copy.orders (id bigint primary key, d double precision, r real, day date, days date[]);
       insert into copy.orders values (9, 0.12345678901234566, 1.2345679e11, '2024-02-29', '{2024-02-29}')`,
    );
    const sink = await claimed({ create: false, widen: true });
    const seen = (decimal: boolean): SchemaSeen => {
      const [number, day] = decimal
        ? ["org.apache.kafka.connect.data.Decimal", "io.debezium.time.MicroTimestamp"]
        : [undefined, "io.debezium.time.Date"];
      const semantic = { semantic: { name: day, parameters: {} } };
      const numeric = number === undefined ? { kind: "double" } : { kind: "bytes", semantic: { name: number, parameters: {} } };
      const fields = [
        { name: "id", type: { kind: "long" } },
        { name: "d", type: numeric },
        { name: "r", type: numeric.kind === "double" ? { kind: "float" } : numeric },
        { name: "day", type: { kind: "long", ...semantic } },
        { name: "days", type: { kind: "array", items: { kind: "long", ...semantic } } },
      ];
      return {
        topic: partition.topic,
        side: "value",
        table: { schema: "public", name: "orders" },
        row: { kind: "record", name: "Value", fields },
      } as never; // what a sink reads
    };
    sink.schemaSeen(seen(false));
    await apply(sink, 1n, created(1, { d: 1.5, r: 0.1, day: "2024-01-01", days: ["2024-01-01"] }));
    sink.schemaSeen(seen(true));
    await apply(sink, 2n, created(2, { d: "19.99", r: "19.99", day: "2024-01-02T00:00:00", days: [] }));
    const types = { id: "bigint", d: "double precision", r: "real", day: "date", days: "date[]" };
    expect(await columnsOf("orders")).toMatchObject({ d: types.d, r: types.r, day: types.day });
    const far = { d: "12345678901234567890.5", r: "123456789.5", day: "2024-01-03T10:11:12.000013", days: ["2024-01-03T10:11:12"] };
    await apply(sink, 3n, created(3, far));
    expect(await rows("select id, d::text, r::text, day::text, days::text from copy.orders order by id")).toEqual([
      { id: "1", d: "1.5", r: "0.1", day: "2024-01-01 00:00:00", days: '{"2024-01-01 00:00:00"}' },
      { id: "2", d: "19.99", r: "19.99", day: "2024-01-02 00:00:00", days: "{}" },
      { id: "3", d: far.d, r: far.r, day: "2024-01-03 10:11:12.000013", days: '{"2024-01-03 10:11:12"}' },
      { id: "9", d: "0.12345678901234566", r: "123456790000", day: "2024-02-29 00:00:00", days: '{"2024-02-29 00:00:00"}' },
    ]);
  });

  test("that another member has widened meanwhile lose no digit of rows with the schema of before", async () => {
    await pool.query("create schema copy; create table copy.orders (id bigint primary key, n double precision, note text)");
    const [sink, member] = [await claimed({ create: false, widen: true }), sinkOf({ create: false, widen: true })];
    const other = { ...partition, partition: 1 };
    await member.claim("g", [other]);
    await apply(sink, 1n, created(1, { n: 1.5, note: "a" }), created(2, { n: 1.5, note: "b" }));
    await apply(sink, 2n, created(2, { n: 1.5, note: "b" }));
    const decimal = { kind: "bytes", semantic: { name: "org.apache.kafka.connect.data.Decimal", parameters: {} } };
    member.schemaSeen({ ...longs(), row: { kind: "record", name: "Value", fields: [{ name: "n", type: decimal }] } } as never);
    await member.apply({ assignment: other, events: [created(9, { n: "12345678901234567890.5" })], nextOffset: 1n });
    expect(await columnsOf("orders")).toMatchObject({ n: "numeric" });
    const [first, second] = [0.12345678901234566, 0.22345678901234567];
    await apply(sink, 3n, created(2, { n: first, note: "b" }));
    await pool.query("alter table copy.orders alter n type double precision");
    await apply(sink, 4n, created(3, { n: first, note: "c" }));
    await apply(sink, 5n, created(3, { n: first, note: "c" }));
    await pool.query("alter table copy.orders alter n type numeric using n::text::numeric");
    await apply(sink, 6n, change("update", { id: 1 }, { id: 1, n: second, note: UNAVAILABLE }));
    expect(await rows("select id, n::text, note from copy.orders where id < 9 order by id")).toEqual([
      { id: "1", n: String(second), note: "a" },
      { id: "2", n: String(first), note: "b" },
      { id: "3", n: String(first), note: "c" },
    ]);
  });

  test("that somebody has altered meanwhile are looked at again before anything is refused", async () => {
    await pool.query("create schema copy; create table copy.orders (id bigint primary key, file bytea)");
    const sink = await claimed({ create: false });
    await apply(sink, 1n, created(1, { file: null }));
    await apply(sink, 2n, created(2, { file: null }));
    await pool.query("alter table copy.orders alter column file type text using null");
    await apply(sink, 3n, created(3, { file: "3q2+7w==" }));
    expect(await rows("select file from copy.orders where id = 3")).toEqual([{ file: "3q2+7w==" }]);
  });

  test("whose scale or precision is too small for a value are widened for it", async () => {
    await pool.query(
      `create schema copy; create table copy.orders (id bigint primary key, n numeric(10,2), large numeric(4,2), list numeric(10,2)[], at timestamp(0), zoned timestamptz(3));
       insert into copy.orders values (9, 1.23, 99.99, '{1.23}', '2024-01-01 10:11:12', '2024-01-01 10:11:12.123Z')`,
    );
    const sink = await claimed({ create: false, widen: true });
    await apply(
      sink,
      1n,
      created(1, { n: "1.2300", large: "99.99", list: ["1.2"], at: "2024-01-01T10:11:12.000", zoned: "2024-01-01T10:11:12.1Z" }),
    );
    expect(await rows("select numeric_scale from information_schema.columns where table_name = 'orders' and column_name = 'n'")).toEqual([
      { numeric_scale: 2 },
    ]);
    const fine = { n: "1.2345", large: "100.00", list: ["1.2345"], at: "2024-01-01T10:11:12.5", zoned: "2024-01-01T10:11:12.123456Z" };
    await apply(sink, 2n, created(2, fine));
    expect(
      await rows(
        "select id, n::text, large::text, list::text, at::text, (zoned at time zone 'UTC')::text as zoned from copy.orders order by id",
      ),
    ).toEqual([
      { id: "1", n: "1.23", large: "99.99", list: "{1.20}", at: "2024-01-01 10:11:12", zoned: "2024-01-01 10:11:12.1" },
      { id: "2", n: "1.2345", large: "100.00", list: "{1.2345}", at: "2024-01-01 10:11:12.5", zoned: "2024-01-01 10:11:12.123456" },
      { id: "9", n: "1.23", large: "99.99", list: "{1.23}", at: "2024-01-01 10:11:12", zoned: "2024-01-01 10:11:12.123" },
    ]);
  });

  test.each([
    ["double precision", "12345678901234567890.5", "a number with more digits than it keeps: alter the column to numeric,"],
    ["real", 16_777_217, "a number with more digits than it keeps: alter the column to numeric,"],
    ["date", "2024-01-01T10:00:00Z", "a time of day: alter the column to timestamp,"],
    ["date[]", ["2024-01-01T10:00:00Z"], "a time of day: alter the column to timestamp[],"],
    ["numeric(10,2)", "1.234", "more digits after the point than the 2 that it keeps: alter the column to numeric without a scale,"],
    ["copy.amount", "1.234", "more digits after the point than the 2 that it keeps: alter the column to numeric without a scale,"],
    ["numeric(10,2)[]", ["1.234"], "more digits after the point than the 2 that it keeps: alter the column to numeric[] without a scale,"],
    ["money", "1234.567", "more digits after the point than the 2 that it keeps: alter the column to numeric,"],
    ["interval(0)", "PT6.7S", "more digits after the point than the 0 that it keeps: alter the column to interval without a scale,"],
    ["interval(3)", 1_000_001, "more digits after the point than the 3 that it keeps: alter the column to interval without a scale,"],
    [
      "interval year to month",
      "P1Y2M3D",
      "parts that are smaller than the fields that it keeps: alter the column to interval without fields,",
    ],
    [
      "interval hour to minute[]",
      ["PT4H5M6S"],
      "parts that are smaller than the fields that it keeps: alter the column to interval[] without fields,",
    ],
    ["name", "n".repeat(64), "a text with more bytes than it keeps: alter the column to text"],
    ['"char"', "é", "a text with more bytes than it keeps: alter the column to text"],
    [
      "varchar(3)",
      "ab  ",
      "a text with spaces after the 3 characters that it keeps, which PostgreSQL would drop: alter the column to text,",
    ],
    ["varchar(3)[]", ["ab  "], "a text with spaces after the 3 characters that it keeps"],
    ["copy.short", "abc ", "a text with spaces after the 3 characters that it keeps"],
    ["copy.short[]", ["abc "], "a text with spaces after the 3 characters that it keeps"],
    ["copy.amount[]", ["1.234"], "more digits after the point than the 2 that it keeps: alter the column to numeric[] without a scale,"],
    [
      "timestamp",
      "2024-01-01T10:00:00.5+02:00",
      "a time with an offset from UTC, which it drops: alter the column to timestamp with time zone",
    ],
    ["time[]", ["10:00:00-0330"], "a time with an offset from UTC, which it drops: alter the column to time with time zone[]"],
    [
      "timestamp(3)",
      "2024-01-01T10:11:12.000013",
      "more digits after the point than the 3 that it keeps: alter the column to timestamp without",
    ],
  ])("refuse in a column of %s what PostgreSQL would round or cut in silence", async (type, value, found) => {
    await pool.query(
      `create schema copy; create domain copy.amount as numeric(10,2); create domain copy.short as varchar(3); create table copy.orders (id bigint primary key, n ${type})`,
    );
    const sink = await claimed({ create: false });
    const refused = apply(sink, 1n, created(1, { n: value }));
    await expect(refused).rejects.toMatchObject({ code: "schema-mismatch", message: expect.stringContaining(`, and a row has ${found}`) });
    await expect(refused).rejects.toThrow('[schema-mismatch] "copy"."orders": the column "n" is ');
    expect(await rows()).toEqual([]);
  });

  const longs = (more: readonly object[] = []): SchemaSeen => {
    const fields = [{ name: "id", type: { kind: "long" } }, { name: "n", type: { kind: "long" } }, ...more];
    const table = { schema: "public", name: "orders" };
    return { topic: partition.topic, side: "value", table, row: { kind: "record", name: "Value", fields } } as never; // what a sink reads
  };

  test("hold integers beyond the type that a schema declares, as those of Protobuf's uint64 are", async () => {
    const sink = await claimed({ widen: true });
    sink.schemaSeen(longs([{ name: "list", type: { kind: "array", items: { kind: "long" } } }]));
    const largest = 2n ** 64n - 1n;
    await apply(sink, 1n, created(1, { n: 1, list: [1] }));
    expect(await columnsOf("orders")).toMatchObject({ n: "bigint" });
    await apply(sink, 2n, created(2, { n: largest, list: [largest] }));
    expect(await rows("select n::text, list::text from copy.orders order by id")).toEqual([
      { n: "1", list: "{1}" },
      { n: String(largest), list: `{${largest}}` },
    ]);
    await pool.query("drop table copy.orders");
    await apply(await claimed({ widen: true }), 3n, created(3, { n: largest }));
    expect(await rows("select n::text from copy.orders")).toEqual([{ n: String(largest) }]);
  });

  test.each([
    ["made", 1n],
    ["widened", 2n],
  ])("that are %s for a batch, which one of its values refuses, are named with that value's column", async (_, offset) => {
    const sink = await claimed({ widen: true });
    sink.schemaSeen(longs([{ name: "flag", type: { kind: "boolean" } }]));
    if (offset === 2n) await apply(sink, 1n, created(1, { n: 1, flag: true }));
    const refused = apply(sink, offset, created(2, { n: 2n ** 64n - 1n, flag: 7 }));
    await expect(refused).rejects.toThrow(/"copy"."orders": the column "flag" is boolean, and does not take the value of a row/);
  });

  test("that are made for rows of two schemas have a text where one of them does", async () => {
    const sink = await claimed({ widen: true });
    const decoder = createDecoder({ onSchema: (seen) => sink.schemaSeen(seen) });
    const text = await decoder.decode(messageOf("orders", { id: "int32", n: "string" }, { id: 1, n: "five" }));
    const number = await decoder.decode(messageOf("orders", { id: "int32", n: "int32" }, { id: 2, n: 5 }));
    await apply(sink, 2n, ...text, ...number);
    expect(await rows()).toEqual([
      { id: 1, n: "five" },
      { id: 2, n: "5" },
    ]);
  });

  test("get no column of a key, which nothing would make unique", async () => {
    await pool.query(`create schema copy; create table copy.orders ("the id" bigint primary key, note text)`);
    const sink = await claimed({ create: false, widen: true });
    const refused = apply(sink, 1n, created(1, { note: "a", more: 1 }));
    await expect(refused).rejects.toMatchObject({ code: "schema-mismatch" });
    await expect(refused).rejects.toThrow(/has no column "id", which is part of the key of its rows: add it, and a unique constraint/);
    expect(Object.keys(await columnsOf("orders"))).toEqual(["the id", "note"]);
  });

  test("compute their generated columns, which rows may have, and are not altered for them", async () => {
    await pool.query(
      `create schema copy; create table copy.orders (id bigint primary key, n integer, twice integer generated always as (n * 2) stored)`,
    );
    const statements: string[] = [];
    const watched = {
      connect: async () => {
        const client = await pool.connect();
        const query = (one: { readonly text: string; readonly values?: unknown[] }): unknown => (
          statements.push(one.text), client.query(one)
        );
        return { query, release: (error?: Error | boolean) => client.release(error) };
      },
      end: async () => {},
    };
    const sink = await claimed({ pool: watched as never, create: false });
    await apply(sink, 1n, created(1, { n: 1, twice: 2 }));
    await apply(sink, 2n, change("update", { id: 1 }, { id: 1, n: 5, twice: 10 }), created(2, { n: null, twice: null }));
    expect(await rows()).toEqual([
      { id: "1", n: 5, twice: 10 },
      { id: "2", n: null, twice: null },
    ]);
    expect(statements.filter((text) => /alter|cdckit tables/.test(text))).toEqual([]);
  });

  test.each([
    [5.5, "bigint", "a number that is no integer"],
    [2n ** 63n, "bigint", "an integer out of its range"],
    [3_000_000_000, "integer", "an integer out of its range"],
  ])("refuse %s in a column of %s, and say which column it is and what to do", async (n, type, found) => {
    await pool.query(`create schema copy; create table copy.orders (id bigint primary key, n ${type})`);
    const sink = await claimed({ create: false });
    await apply(sink, 1n, created(1, { n: 5 }));
    const refused: unknown = await apply(sink, 2n, created(2, { n })).catch((reason: unknown) => reason);
    expect(refused).toMatchObject({ code: "schema-mismatch", retriable: false });
    expect((refused as Error).message).toBe(
      `[schema-mismatch] "copy"."orders": the column "n" is ${type}, and a row has ${found}: alter the column to numeric, or let the sink ` +
        "widen it (widen: true)",
    );
    expect(await rows("select n::text from copy.orders")).toEqual([{ n: "5" }]);
  });

  test.each(["date", "time", "timestamptz"])("refuse a number in a column of %s, because nothing says its unit", async (type) => {
    await pool.query(`create schema copy; create table copy.orders (id bigint primary key, n ${type})`);
    const sink = await claimed({ create: false });
    const refused: unknown = await apply(sink, 1n, created(1, { n: 101_010 })).catch((reason: unknown) => reason);
    expect(refused).toMatchObject({ code: "schema-mismatch", retriable: false });
    expect((refused as Error).message).toMatch(
      /"copy"."orders": the column "n" is (date|time.*), and a row has a number, .* decoder\.topics/,
    );
  });

  test("refuse a number in an array of times", async () => {
    await pool.query("create schema copy; create table copy.orders (id bigint primary key, n time[])");
    const sink = await claimed({ create: false });
    const refused = apply(sink, 1n, created(1, { n: ["10:00:00", null, 101_010] }));
    await expect(refused).rejects.toMatchObject({ code: "schema-mismatch", retriable: false });
  });

  test.each<[string, string, unknown]>([
    ["base64", "bytea", "3q2+7w=="],
    ["hex", "bytea", "deadbeef"],
    ["base64 in an array", "bytea[]", ["3q2+7w=="]],
  ])("refuse a text of bytes in %s in a column of %s, because PostgreSQL would keep its characters", async (_form, type, n) => {
    await pool.query(`create schema copy; create table copy.orders (id bigint primary key, n ${type})`);
    const sink = await claimed({ create: false });
    const refused: unknown = await apply(sink, 1n, created(1, { n })).catch((reason: unknown) => reason);
    expect(refused).toMatchObject({ code: "schema-mismatch", retriable: false });
    expect((refused as Error).message).toMatch(/the column "n" is bytea.*, and a row has a text, .* base64 or in hex: .*decoder\.topics/);
    expect((refused as Error).message).not.toContain(String(n));
  });

  test("take a time in UTC where no zone is kept, and a day that looks as if it ended in an offset", async () => {
    await pool.query("create schema copy; create table copy.orders (id bigint primary key, at timestamp, day timestamp, clock time)");
    const sink = await claimed({ create: false });
    await apply(sink, 1n, created(1, { at: "2024-01-01T10:00:00Z", day: "2024-01-02", clock: "10:00:00+00:00" }));
    expect(await rows("select at::text, day::text, clock::text from copy.orders")).toEqual([
      { at: "2024-01-01 10:00:00", day: "2024-01-02 00:00:00", clock: "10:00:00" },
    ]);
  });

  test("take a text of bytes that is in PostgreSQL's own form, or empty", async () => {
    await pool.query("create schema copy; create table copy.orders (id bigint primary key, n bytea)");
    const sink = await claimed({ create: false });
    await apply(sink, 2n, created(1, { n: "\\xDEad" }), created(2, { n: "" }));
    expect(await rows("select n::text from copy.orders order by id")).toEqual([{ n: "\\xdead" }, { n: "\\x" }]);
  });

  test.each([
    ["5.5", "bigint", "integer"],
    ["many", "numeric", "number"],
    ["perhaps", "boolean", "boolean"],
    ["4b16", "uuid", "UUID"],
    ["hello", "jsonb", "JSON"],
  ])("name the column that refuses the text %s, which is %s, and never the text", async (n, type, form) => {
    await pool.query(`create schema copy; create table copy.orders (id bigint primary key, other text, n ${type})`);
    const sink = await claimed({ create: false });
    const refused: unknown = await apply(sink, 1n, created(1, { other: "5.5", n })).catch((reason: unknown) => reason);
    expect(refused).toMatchObject({ code: "rejected", cause: { code: "22P02" } });
    expect((refused as Error).message).toContain(
      `22P02; the appendix of error codes in PostgreSQL's manual says what it means. "copy"."orders": the column "n" is ${type}, and a row has ` +
        `a text that is no ${form}: alter the column to a type that reads it, or correct the source`,
    );
    expect((refused as Error).message).not.toContain(n);
  });

  describe("of one topic", () => {
    const orders = { id: "int32", placed: "int64", note: "string" };
    const customers = { id: "string", name: "string", points: "float" };

    test("each have the columns of their own schemas", async () => {
      const sink = await claimed({ widen: true });
      const decoder = createDecoder({ onSchema: (seen) => sink.schemaSeen(seen) });
      // The second record's schema is known before the first record is written.
      const first = await decoder.decode(messageOf("orders", orders, { id: 1, placed: 5, note: "a" }));
      const second = await decoder.decode(messageOf("customers", customers, { id: "c1", name: "Ada", points: 1.5 }));
      await apply(sink, 1n, ...first);
      await apply(sink, 2n, ...second);
      expect(await columnsOf("orders")).toEqual({ id: "integer", placed: "bigint", note: "text" });
      expect(await columnsOf("customers")).toEqual({ id: "text", name: "text", points: "real" });
    });

    test("are widened by their own schemas, whichever is written first", async () => {
      const sink = await claimed({ widen: true });
      const decoder = createDecoder({ onSchema: (seen) => sink.schemaSeen(seen) });
      const written = async (table: string, columns: Readonly<Record<string, string>>, row: Columns, nextOffset: bigint): Promise<void> =>
        apply(sink, nextOffset, ...(await decoder.decode(messageOf(table, columns, row))));
      await written("orders", orders, { id: 1, placed: 5, note: "a" }, 1n);
      await written("customers", customers, { id: "c1", name: "Ada", points: 1.5 }, 2n);
      const news = await decoder.decode(messageOf("customers", { ...customers, points: "double" }, { id: "c2", name: "Bo", points: 0.1 }));
      await written("orders", orders, { id: 2, placed: 6, note: "b" }, 3n);
      await apply(sink, 4n, ...news);
      expect(await columnsOf("orders")).toEqual({ id: "integer", placed: "bigint", note: "text" });
      expect(await rows("select id, points from copy.customers order by id")).toEqual([
        { id: "c1", points: 1.5 },
        { id: "c2", points: 0.1 },
      ]);
    });

    test("need not be widened if they are there", async () => {
      await pool.query(
        `create schema copy; create table copy.orders (id integer primary key, placed bigint, note text);
         create table copy.customers (id text primary key, name text, points real)`,
      );
      const sink = await claimed({ create: false });
      const decoder = createDecoder({ onSchema: (seen) => sink.schemaSeen(seen) });
      const first = await decoder.decode(messageOf("orders", orders, { id: 1, placed: 5, note: "a" }));
      const second = await decoder.decode(messageOf("customers", customers, { id: "c1", name: "Ada", points: 1.5 }));
      await apply(sink, 2n, ...first, ...second);
      expect(await rows()).toEqual([{ id: 1, placed: "5", note: "a" }]);
      expect(await rows("select * from copy.customers")).toEqual([{ id: "c1", name: "Ada", points: 1.5 }]);
    });
  });

  describe("of one name", () => {
    const of = (database: string, schema: string, id: number, more: Columns = {}): CdcEvent =>
      ({ ...created(id, more), table: { database, schema, name: "orders" } }) as CdcEvent;

    test.each([
      ["schemas", of("shop", "acme", 1), of("shop", "globex", 1), "shop.acme.orders and shop.globex.orders"],
      ["databases", of("acme", "public", 1), of("globex", "public", 1), "acme.public.orders and globex.public.orders"],
    ])("in two %s are refused, because their rows would overwrite each other", async (_, first, second, names) => {
      const sink = await claimed();
      await apply(sink, 1n, first);
      const refused: unknown = await apply(sink, 2n, second).catch((reason: unknown) => reason);
      expect(refused).toMatchObject({ code: "schema-mismatch", retriable: false });
      expect((refused as Error).message).toContain(`expected one source table for "copy"."orders", found ${names}: name a table`);
      await expect(apply(sink, 2n, { ...second, kind: "truncate" } as CdcEvent)).rejects.toMatchObject({ code: "schema-mismatch" });
      expect(await rows()).toEqual([{ id: "1" }]);
    });

    test("are written to the tables that tableFor names", async () => {
      const sink = await claimed({ tableFor: ({ schema, name }) => ({ name: `${schema}_${name}` }) });
      await apply(sink, 2n, of("shop", "acme", 1, { note: "a" }), of("shop", "globex", 1, { note: "g" }));
      expect(await rows("select note from copy.acme_orders union all select note from copy.globex_orders")).toEqual([
        { note: "a" },
        { note: "g" },
      ]);
    });

    test("are one table if tableFor says so", async () => {
      const sink = await claimed({ tableFor: ({ name }) => ({ name }) });
      await apply(sink, 2n, of("shop", "acme", 1), of("shop", "globex", 2));
      expect(await rows()).toEqual([{ id: "1" }, { id: "2" }]);
    });

    test("are one table if a message does not say where it is, or if the name is that of a tombstone's topic", async () => {
      const sink = await claimed();
      const row = { ...created(2), kind: "row", row: { id: 2 }, table: { schema: "acme", name: "orders" } } as unknown as CdcEvent;
      const tombstone = { ...created(1), kind: "tombstone", table: { schema: "elsewhere", name: "orders" } } as unknown as CdcEvent;
      await apply(sink, 3n, of("shop", "acme", 1), row, tombstone);
      expect(await rows()).toEqual([{ id: "2" }]);
    });
  });

  test.each([
    ["date", "0001-13-45", "22008", "date"],
    ["timestamp", "999999-01-01 00:00:00", "22008", "timestamp without time zone"],
    ["varchar(3)", "a secret", "22001", "character varying"],
    ["numeric(5,2)", "123456.78", "22003", "numeric"],
    ["bit(2)", "101", "22026", '"bit"'],
    ["copy.short", "a secret", "22001", "character varying"],
    ["text", "a\0b", "22021", "text"],
    ["inet", "nowhere", "22P02", "inet"],
    ["integer[]", "{1,x}", "22P02", "integer[]"],
    ["jsonb", '{"a":"\\u0000"}', "22P05", "jsonb"],
    ["jsonb", '{"a":1e200000}', "22003", "jsonb"],
  ])("name the column of %s that refuses %j, and never the value", async (type, n, state, named) => {
    await pool.query(
      `create schema copy; create domain copy.short as varchar(3);
       create table copy.orders (id bigint primary key, other varchar(9), doc json, n ${type}, list integer[], at timestamptz)`,
    );
    const sink = await claimed({ create: false });
    const more = { other: "5.5", list: [1, 2], doc: '{"a":"\\u0000"}', at: "2026-01-01T00:00:00Z" };
    const refused: unknown = await apply(sink, 2n, created(1, { ...more, n: null }), created(2, { ...more, n })).catch(
      (reason: unknown) => reason,
    );
    expect(refused).toMatchObject({ code: "rejected", retriable: false, cause: { code: state } });
    const advice = state === "22021" ? "no type of column takes such a text" : "alter the column to";
    expect((refused as Error).message).toContain(
      `. "copy"."orders": the column "n" is ${named}, and does not take the value of a row: ${advice}`,
    );
    expect((refused as Error).message).not.toContain(n);
    await apply(sink, 2n, created(3, { ...more, n: null }));
    expect(await rows("select id from copy.orders")).toEqual([{ id: "3" }]);
  });

  test("refuse a text that is too long for the domain of its column, and never cut it off", async () => {
    await pool.query(
      `create schema copy; create domain copy.short as varchar(3); create domain copy.code as copy.short check (value <> 'no');
       create table copy.orders (id bigint primary key, n copy.code, list copy.short[])`,
    );
    const sink = await claimed({ create: false, widen: true });
    await apply(sink, 1n, created(1, { n: "abc", list: ["abc"] }), created(2, { n: null }));
    for (const [row, code] of [
      [{ n: "abcd" }, "22001"],
      [{ list: ["abcd"] }, "22001"],
      [{ n: "no" }, "23514"],
    ] as const) {
      await expect(apply(await claimed({ create: false, widen: true }), 2n, created(1, row))).rejects.toMatchObject({ cause: { code } });
    }
    expect(await rows("select n, list::text[] from copy.orders order by id")).toEqual([
      { n: "abc", list: ["abc"] },
      { n: null, list: null },
    ]);
  });

  test("are not widened away from the domains of their columns", async () => {
    await pool.query(
      "create schema copy; create domain copy.amount as integer; create table copy.orders (id bigint primary key, n copy.amount)",
    );
    const sink = await claimed({ create: false, widen: true });
    await apply(sink, 1n, created(1, { n: 5 }));
    await expect(apply(sink, 2n, created(2, { n: 2 ** 31 }))).rejects.toMatchObject({ code: "schema-mismatch" });
    expect(await rows("select n, pg_typeof(n)::text as type from copy.orders")).toEqual([{ n: 5, type: "copy.amount" }]);
  });

  test("are made from the schemas of real messages, and hold their rows", async () => {
    const sink = await claimed({ widen: true });
    const recordings = bundledRecordings().filter(({ name }) => name.startsWith("postgres-debezium-3.5/tav."));
    const schemas = fromBundle(recordings[0]?.schemasFile ?? "");
    const decoder = createDecoder({ schemas, onSchema: (seen) => sink.schemaSeen(seen) });
    const present = new Map<string, boolean>();
    let written = 0n;
    for (const { file } of recordings) {
      for (const event of await changesOf(file, decoder)) {
        await apply(sink, ++written, event);
        present.set(`${event.table.name}\0${nameOf(event.key)}`, event.after !== null);
      }
    }
    const counts = new Map<string, number>();
    for (const [key, isThere] of present) {
      const [table = ""] = key.split("\0");
      counts.set(table, (counts.get(table) ?? 0) + (isThere ? 1 : 0));
    }
    expect(counts.size).toBeGreaterThan(3);
    for (const [name, count] of counts) {
      expect([name, await rows(`select count(*)::int as n from copy."${name.replaceAll('"', '""')}"`)]).toEqual([name, [{ n: count }]]);
    }
  });
});

/** A message of Debezium with its schema. */
function messageOf(table: string, columns: Readonly<Record<string, string>>, after: Columns): KafkaRecord {
  const struct = (name: string, fields: readonly object[]): object => ({ type: "struct", optional: true, name, fields });
  const fieldsOf = (names: Readonly<Record<string, string>>): object[] =>
    Object.entries(names).map(([field, type]) => ({ field, type, optional: field !== "id" }));
  const row = struct(`shop.public.${table}.Value`, fieldsOf(columns));
  const source = struct("io.debezium.connector.postgresql.Source", fieldsOf({ connector: "string", schema: "string", table: "string" }));
  const schema = struct(`shop.public.${table}.Envelope`, [
    { field: "before", ...row },
    { field: "after", ...row },
    { field: "source", ...source },
    { field: "op", type: "string", optional: false },
  ]);
  const payload = { before: null, after, source: { connector: "postgresql", schema: "public", table }, op: "c" };
  const keySchema = struct(`shop.public.${table}.Key`, fieldsOf({ id: columns["id"] ?? "int32" }));
  return recordOf(Buffer.from(JSON.stringify({ schema, payload })), {
    topic: partition.topic,
    key: Buffer.from(JSON.stringify({ schema: keySchema, payload: { id: after["id"] } })),
  });
}

async function columnsOf(table: string): Promise<Readonly<Record<string, unknown>>> {
  const sql = `select attname as name, format_type(atttypid, -1) as type from pg_attribute where attrelid = 'copy.${table}'::regclass and attnum > 0`;
  return Object.fromEntries((await rows(sql)).map(({ name, type }) => [name, type]));
}

async function changesOf(file: string, decoder: Decoder): Promise<readonly ChangeEvent[]> {
  const changes: ChangeEvent[] = [];
  for await (const record of readRecording(file)) {
    const events = await decoder.decode(record);
    changes.push(...events.filter((event) => event.kind === "change").filter(({ key }) => key !== null));
  }
  return changes;
}

function nameOf(key: unknown): string {
  return JSON.stringify(key, (_, value: unknown) => (typeof value === "bigint" ? `${value}` : value));
}
