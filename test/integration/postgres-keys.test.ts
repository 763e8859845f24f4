import { type CdcEvent, type Columns, UNAVAILABLE } from "@cdckit/decode";
import { postgres, type PostgresOptions, type PostgresSink } from "@cdckit/postgres";
import { beforeEach, describe, expect, test } from "vitest";
import { ownPostgres } from "./own-postgres.ts";

const partition = Object.freeze({ topic: "shop.public.users", partition: 0, epoch: 1 });
const { pool } = await ownPostgres();

beforeEach(async () => {
  await pool.query("drop schema if exists copy cascade; create schema copy");
});

/** A sink, and the table `users` with these columns and constraints. */
async function sinkOf(columns: string, options: PostgresOptions = {}): Promise<PostgresSink> {
  await pool.query(`create table copy.users (${columns})`);
  const sink = postgres({ pool: pool as never, schema: "copy", ...options });
  await sink.claim("g", [partition]);
  return sink;
}

function change(op: string, key: Columns, after: Columns | null): CdcEvent {
  const table = { schema: "public", name: "users" };
  return { kind: "change", op, table, key, before: null, after, record: { topic: partition.topic } } as unknown as CdcEvent; // what a sink reads
}

const apply = (sink: PostgresSink, nextOffset: bigint, ...events: CdcEvent[]): Promise<void> =>
  sink.apply({ assignment: partition, events, nextOffset });

async function rows(sql = "select * from copy.users order by 1, 2"): Promise<readonly Record<string, unknown>[]> {
  return (await pool.query<Record<string, unknown>>(sql)).rows;
}

test("a key of floats tells NaN and the infinities apart, which are all null in JSON", async () => {
  const sink = await sinkOf("k double precision primary key, note text");
  const keys = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  await apply(sink, 3n, ...keys.map((k) => change("create", { k }, { k, note: "a" })));
  await apply(
    sink,
    5n,
    change("update", { k: Number.NaN }, { k: Number.NaN, note: "b" }),
    change("delete", { k: Number.POSITIVE_INFINITY }, null),
    change("create", { k: 0 }, { k: 0, note: "c" }),
    change("delete", { k: -0 }, null), // which equals 0
  );
  expect(await rows("select k::text, note from copy.users order by k")).toEqual([
    { k: "-Infinity", note: "a" },
    { k: "NaN", note: "b" },
  ]);
});

test.each([
  ["an array of a domain", "copy.code[]"],
  ["an array of a domain over a domain", "copy.inner_code[]"],
  ["a domain over an array of a domain", "copy.codes"],
])("a row whose key is %s is changed, moved and deleted, and no other one whose key would be cut off to it", async (_, type) => {
  await pool.query(
    "create domain copy.code as varchar(3); create domain copy.inner_code as copy.code; create domain copy.codes as copy.code[]",
  );
  const sink = await sinkOf(`k ${type} primary key, note text`);
  const shown = async (): Promise<unknown> => await rows("select k::text, note from copy.users order by note");
  const k = ["abc", null];
  await apply(sink, 1n, change("create", { k }, { k, note: "a" }), change("create", { k: [] }, { k: [], note: "b" }));
  await apply(sink, 2n, change("update", { k }, { k, note: "c" }));
  await apply(sink, 3n, change("delete", { k: ["abcd", null] }, null));
  expect(await shown()).toEqual([
    { k: "{}", note: "b" },
    { k: "{abc,NULL}", note: "c" },
  ]);
  const moved = { ...change("update", { k: ["z"] }, { k: ["z"], note: "d" }), before: { k, note: "c" } };
  await apply(sink, 4n, moved, change("update", { k: [] }, { k: [], note: UNAVAILABLE }));
  expect(await shown()).toEqual([
    { k: "{}", note: "b" },
    { k: "{z}", note: "d" },
  ]);
  await apply(sink, 5n, change("delete", { k: ["z"] }, null));
  expect(await shown()).toEqual([{ k: "{}", note: "b" }]);
});

test.each([
  ["an integer is a longer one by then, and comes as a bigint", { a: 1, b: "x" }, { a: 1n, b: "x" }],
  ["an integer comes as a text", { a: 1, b: "x" }, { a: "1", b: "x" }],
  ["its columns come in another order", { a: 1, b: "x" }, { b: "x", a: 1 }],
])("a row that is created and deleted in one batch is gone, also if %s in its key", async (_, key, later) => {
  const sink = await sinkOf("a bigint, b text, primary key (a, b)");
  await apply(
    sink,
    3n,
    change("create", { ...key, b: "y" }, { ...key, b: "y" }),
    change("create", key, key),
    change("delete", later, null),
  );
  expect(await rows()).toEqual([{ a: "1", b: "y" }]);
});

test("a row whose key comes in two forms in one batch has the later of its changes", async () => {
  const sink = await sinkOf("k numeric primary key, note text");
  await apply(sink, 2n, change("create", { k: "1.0" }, { k: "1.0", note: "a" }), change("update", { k: "1.00" }, { k: "1.00", note: "b" }));
  expect(await rows()).toEqual([{ k: "1.0", note: "b" }]);
});

describe("a decimal key whose scale changes within one batch", () => {
  const created = (k: string): CdcEvent => change("create", { k }, { k, note: k });
  const updated = (k: string, note: unknown): CdcEvent => change("update", { k }, { k, note } as Columns);
  const deleted = (k: string): CdcEvent => change("delete", { k }, null);

  test.each<[string, readonly CdcEvent[], readonly string[]]>([
    ["created and deleted", [created("1.0"), deleted("1.00")], []],
    ["deleted and created", [deleted("1.00"), created("1.0")], ["1.0"]],
    ["created, deleted and created", [created("1"), deleted("1.0"), created("1.00")], ["1.00"]],
    ["updated, and has a large value that did not change", [created("1.0"), updated("1.00", UNAVAILABLE)], ["1.0"]],
    ["updated in a column that the later change does not send", [updated("1.0", "b"), updated("1.00", UNAVAILABLE)], ["b"]],
  ])("the row is %s", async (_, events, notes) => {
    const sink = await sinkOf("k numeric primary key, note text");
    await apply(sink, 1n, created("1.000"));
    await apply(sink, 9n, ...events, created("2.0"));
    expect(await rows("select note from copy.users order by k")).toEqual([...notes, "2.0"].map((note) => ({ note })));
  });

  test("texts of two spellings are two rows", async () => {
    const sink = await sinkOf("k text primary key, note text");
    await apply(sink, 3n, created("1.0"), created("1.00"), deleted("1.0"));
    expect(await rows("select note from copy.users")).toEqual([{ note: "1.00" }]);
  });
});

describe("a key with a column that the table generates", () => {
  const columns =
    "tenant int, email text, note text, big text, email_key text generated always as (lower(email)) stored, primary key (tenant, email_key)";
  const keyOf = (email: string): Columns => ({ tenant: 1, email_key: email.toLowerCase() });
  const created = (email: string): CdcEvent => change("create", keyOf(email), { ...keyOf(email), email, note: "a", big: `of ${email}` });

  test("deletes the row of that key, and no other", async () => {
    const sink = await sinkOf(columns);
    await apply(sink, 3n, created("Ann@x"), created("Bob@x"), created("Cy@x"));
    await apply(sink, 4n, change("delete", keyOf("Ann@x"), null));
    expect(await rows("select email from copy.users order by email")).toEqual([{ email: "Bob@x" }, { email: "Cy@x" }]);
  });

  test("says which row gets an update without its large values, also if the update tells nothing new", async () => {
    const sink = await sinkOf(columns);
    await apply(sink, 2n, created("Ann@x"), created("Bob@x"));
    const update = (row: Columns): CdcEvent => change("update", keyOf("Ann@x"), { ...keyOf("Ann@x"), ...row });
    await apply(sink, 3n, update({ email: "Ann@x", note: "b", big: UNAVAILABLE }));
    await apply(sink, 4n, update({ email: UNAVAILABLE, note: UNAVAILABLE, big: UNAVAILABLE }));
    expect(await rows("select email, note, big from copy.users order by email")).toEqual([
      { email: "Ann@x", note: "b", big: "of Ann@x" },
      { email: "Bob@x", note: "a", big: "of Bob@x" },
    ]);
  });

  test("may have no other column", async () => {
    const sink = await sinkOf("email text, email_key text generated always as (lower(email)) stored primary key, big text");
    const [key, email] = [{ email_key: "ann@x" }, "Ann@x"];
    await apply(sink, 1n, change("create", key, { ...key, email, big: "long" }));
    await apply(sink, 2n, change("update", key, { ...key, email: UNAVAILABLE, big: UNAVAILABLE }));
    await apply(sink, 3n, change("update", key, { ...key, email, big: UNAVAILABLE }));
    expect(await rows()).toEqual([{ email, ...key, big: "long" }]);
    await apply(sink, 4n, change("delete", key, null));
    expect(await rows()).toEqual([]);
    await expect(apply(sink, 5n, change("create", key, key))).rejects.toMatchObject({ code: "schema-mismatch" });
  });
});

test("an update that tells nothing but the key leaves a key alone that is generated as an identity", async () => {
  const sink = await sinkOf("id int generated always as identity primary key, big text");
  await apply(sink, 1n, change("create", { id: 7 }, { id: 7, big: "long" }));
  await apply(sink, 2n, change("update", { id: 7 }, { id: 7, big: UNAVAILABLE }));
  expect(await rows()).toEqual([{ id: 7, big: "long" }]);
});

describe("a column beside the key that is generated always as an identity", () => {
  const row = (code: string, seq: unknown, note: unknown = "a"): Columns => ({ code, seq, note }) as Columns;
  const written = (op: string, after: Columns): CdcEvent => change(op, { code: after["code"] }, after);

  test("is inserted with the source's value, and no update sets it", async () => {
    const sink = await sinkOf("code text primary key, seq bigint generated always as identity, note text");
    await apply(sink, 2n, written("create", row("a", 7)), written("create", row("b", 8)));
    await apply(sink, 4n, written("update", row("a", 7, "c")), written("update", row("b", UNAVAILABLE, "d")));
    expect(await rows()).toEqual([
      { code: "a", seq: "7", note: "c" },
      { code: "b", seq: "8", note: "d" },
    ]);
    // Nothing can be set in either of them.
    await apply(sink, 6n, written("update", row("a", 7, UNAVAILABLE)), written("update", row("b", UNAVAILABLE, UNAVAILABLE)));
    const missing = apply(sink, 7n, written("update", row("x", 9, UNAVAILABLE)));
    await expect(missing).rejects.toMatchObject({ code: "row-incomplete" });
    await apply(sink, 8n, { ...change("update", { code: "z" }, row("z", 7, "c")), before: row("a", 7, "c") } as CdcEvent);
    await apply(sink, 11n, change("delete", { code: "b" }, null), written("create", row("b", 9)), written("create", row("c", 10)));
    await apply(sink, 12n, change("delete", { code: "c" }, null));
    expect(await rows()).toEqual([
      { code: "b", seq: "9", note: "a" },
      { code: "z", seq: "7", note: "c" },
    ]);
  });

  test("may be the only one", async () => {
    const sink = await sinkOf("code text primary key, seq bigint generated always as identity");
    const of = (op: string, seq: unknown): CdcEvent => change(op, { code: "a" }, { code: "a", seq } as Columns);
    await apply(sink, 1n, of("create", 7));
    await apply(sink, 3n, of("update", 7), of("update", UNAVAILABLE));
    await apply(sink, 4n, of("update", UNAVAILABLE));
    expect(await rows()).toEqual([{ code: "a", seq: "7" }]);
  });
});

test("an update that tells nothing but the key leaves a column alone that the table generates, also if the source left it out", async () => {
  const sink = await sinkOf("id int primary key, made text generated always as (upper(big)) stored, big text");
  await apply(sink, 1n, change("create", { id: 1 }, { id: 1, made: "LONG", big: "long" }));
  await apply(sink, 2n, change("update", { id: 1 }, { id: 1, made: UNAVAILABLE, big: UNAVAILABLE }));
  expect(await rows()).toEqual([{ id: 1, made: "LONG", big: "long" }]);
});

describe("a key that the table or the change does not have whole", () => {
  test.each([
    ["a delete", change("delete", { k: 1, extra: null }, null)],
    ["a write", change("create", { k: 1, extra: null }, { k: 1, v: 3 })],
  ])("is refused by %s, and no row is touched", async (_, event) => {
    const sink = await sinkOf("k int, v int, primary key (k, v)");
    await pool.query("insert into copy.users values (1, 1), (1, 2)");
    const refused: unknown = await apply(sink, 1n, event).catch((reason: unknown) => reason);
    expect(refused).toMatchObject({ code: "schema-mismatch", retriable: false });
    expect((refused as Error).message).toContain('"copy"."users" has no column "extra", which is part of the key');
    expect(await rows()).toEqual([
      { k: 1, v: 1 },
      { k: 1, v: 2 },
    ]);
  });

  test("is refused if the source left out a part of it", async () => {
    const sink = await sinkOf("k int, v text, primary key (k, v)");
    const refused = apply(sink, 1n, change("delete", { k: 1, v: UNAVAILABLE } as Columns, null));
    await expect(refused).rejects.toMatchObject({ code: "key-missing" });
  });

  test("is that of the key where the row leaves a part of it out", async () => {
    const sink = await sinkOf("k int, v text, note text, big text, primary key (k, v)");
    await pool.query("insert into copy.users values (1, 'long', 'a', 'b')");
    await apply(sink, 1n, change("update", { k: 1, v: "long" }, { k: 1, v: UNAVAILABLE, note: "c", big: UNAVAILABLE }));
    expect(await rows()).toEqual([{ k: 1, v: "long", note: "c", big: "b" }]);
  });
});

test.each([
  ["created", change("create", { id: 1 }, { id: 1 }), null],
  ["moved to the key", { ...change("update", { id: 1 }, { id: 1 }), before: { id: 2 } } as CdcEvent, "moves"],
])("a row that was %s after a delete has nothing of the deleted row, also in one batch", async (_, event, note) => {
  const sink = await sinkOf("id int primary key, note text");
  await pool.query("insert into copy.users values (1, 'of another row'), (2, 'moves')");
  await apply(sink, 3n, change("delete", { id: 1 }, null), event);
  expect((await rows())[0]).toEqual({ id: 1, note });
});

describe("a key with null", () => {
  const columns = "tenant int, region text, note text, big text";
  const keyOf = (region: string | null): Columns => ({ tenant: 1, region });
  const created = (region: string | null): CdcEvent => change("create", keyOf(region), { ...keyOf(region), note: "a", big: "long" });

  test("is one row, which is written, updated and deleted, if the table takes nulls for equal", async () => {
    const sink = await sinkOf(`${columns}, unique nulls not distinct (region, tenant)`);
    await apply(sink, 3n, created(null), created("eu"), created(null));
    await apply(sink, 4n, change("update", keyOf(null), { ...keyOf(null), note: "b", big: UNAVAILABLE }));
    expect(await rows("select region, note, big from copy.users order by 1")).toEqual([
      { region: "eu", note: "a", big: "long" },
      { region: null, note: "b", big: "long" },
    ]);
    await apply(sink, 5n, change("delete", keyOf(null), null));
    expect(await rows("select region from copy.users")).toEqual([{ region: "eu" }]);
  });

  test("keeps what the source left out if an update brings the null", async () => {
    const sink = await sinkOf(`${columns}, unique nulls not distinct (region, tenant)`);
    await apply(sink, 1n, created("eu"));
    const moved = change("update", keyOf(null), { ...keyOf(null), note: "b", big: UNAVAILABLE });
    await apply(sink, 2n, { ...moved, before: { ...keyOf("eu"), note: "a", big: "long" } } as CdcEvent);
    expect(await rows("select region, note, big from copy.users")).toEqual([{ region: null, note: "b", big: "long" }]);
  });

  test.each([
    ["a delete", change("delete", keyOf(null), null)],
    ["a write", created(null)],
  ])("is refused by %s if the table tells nulls apart, because it may be of several rows", async (_, event) => {
    const sink = await sinkOf(`${columns}, unique (tenant, region), unique nulls not distinct (tenant, note)`);
    await pool.query("insert into copy.users values (1, null, 'a'), (1, null, 'b')");
    const refused = apply(sink, 1n, event);
    await expect(refused).rejects.toMatchObject({ code: "key-missing", retriable: false });
    await expect(refused).rejects.toThrow(
      'null in "region" of its key: give the table a constraint unique nulls not distinct ("tenant", "region")',
    );
    expect(await rows("select from copy.users")).toHaveLength(2);
  });
});

describe("rows that give up and take values of a unique index in one batch", () => {
  const set = (id: number, u: unknown, more: Columns = {}): CdcEvent => change("update", { id }, { id, u, ...more } as Columns);

  test.each<[string, string, readonly CdcEvent[]]>([
    ["that was changed before the other gave it up", "1b 2c", [set(1, "a"), set(2, "c"), set(1, "b")]],
    ["that the other gave up before its last change", "1d 2a", [set(1, "c"), set(2, "a"), set(1, "d")]],
    ["that they swap", "1b 2a", [set(1, "c"), set(2, "a"), set(1, "b")]],
    [
      "that they swap, and one is deleted and created again",
      "1b 2a",
      [change("delete", { id: 1 }, null), set(2, "a"), change("create", { id: 1 }, { id: 1, u: "b" })],
    ],
    ["that they swap by a key", "2a 3b", [{ ...set(3, "c"), before: { id: 1, u: "a" } } as CdcEvent, set(2, "a"), set(3, "b")]],
    [
      "that a row without its large value gave up",
      "1d 2c 3b",
      [set(1, "d", { big: "x" }), set(2, "c", { big: UNAVAILABLE } as Columns), change("create", { id: 3 }, { id: 3, u: "b", big: "x" })],
    ],
    [
      "before a truncate",
      "4b",
      [
        set(1, "c"),
        { ...set(2, "a"), kind: "truncate" } as CdcEvent,
        set(4, "a"),
        set(5, "b"),
        set(4, "c"),
        change("delete", { id: 5 }, null),
        set(4, "b"),
      ],
    ],
  ])("take one %s", async (_, expected, events) => {
    const sink = await sinkOf("id int primary key, u text, big text, exclude using btree (u with =)");
    await pool.query("insert into copy.users values (1, 'a', 'long'), (2, 'b', 'long')");
    await apply(sink, BigInt(events.length), ...events);
    const found = await rows("select id, u from copy.users order by id");
    expect(found.map(({ id, u }) => `${id}${u}`).join(" ")).toBe(expected);
    expect(await rows("select big from copy.users where id = 2 and big <> 'long'")).toEqual([]);

    await pool.query("truncate copy.users; alter table copy.users drop constraint users_u_excl, add unique (u)");
    await pool.query("insert into copy.users values (1, 'a', 'long'), (2, 'b', 'long')");
    await apply(sink, BigInt(events.length * 2), ...events);
    expect((await rows("select id, u from copy.users order by id")).map(({ id, u }) => `${id}${u}`).join(" ")).toBe(expected);
  });

  test("are refused if they have one value in the end, and nothing is written", async () => {
    const sink = await sinkOf("id int primary key, u text unique");
    const refused = apply(sink, 3n, set(1, "a"), set(2, "c"), set(1, "c"));
    await expect(refused).rejects.toMatchObject({ code: "rejected", cause: { code: "23505" } });
    expect(await rows()).toEqual([]);
    expect(await rows("select next_offset from copy.cdckit_checkpoints")).toEqual([{ next_offset: null }]);
  });
});

test("a row may be deleted after the rows of its table that referred to it have left it in the same batch", async () => {
  const sink = await sinkOf("id int primary key, parent int references copy.users");
  await pool.query("insert into copy.users values (1, null), (2, null), (3, 1)");
  const left = change("update", { id: 3 }, { id: 3, parent: 2 });
  await apply(sink, 2n, left, change("delete", { id: 1 }, null));
  expect(await rows()).toEqual([
    { id: 2, parent: null },
    { id: 3, parent: 2 },
  ]);
});

test.each<[string, (...events: CdcEvent[]) => readonly CdcEvent[]]>([
  ["as the last states of its rows refuse it", (...events) => events],
  [
    "at once, because a row gets another key",
    (...events) => [{ ...change("update", { id: 3 }, { id: 3 }), before: { id: 2 } } as CdcEvent, ...events],
  ],
])("tables of one topic that refer to each other are written in the order of their changes, %s", async (_, changesOf) => {
  const sink = await sinkOf("id int primary key");
  await pool.query("create table copy.orders (id int primary key, owner int references copy.users)");
  await pool.query("insert into copy.users values (1), (2); insert into copy.orders values (1, 1)");
  const order = (op: string, id: number, after: Columns | null): CdcEvent =>
    ({ ...change(op, { id }, after), table: { schema: "public", name: "orders" } }) as CdcEvent;
  const events = changesOf(
    change("create", { id: 5 }, { id: 5 }),
    order("update", 1, { id: 1, owner: 5 }),
    change("delete", { id: 1 }, null),
    order("create", 2, { id: 2, owner: 5 }),
    order("delete", 1, null),
  );
  await apply(sink, BigInt(events.length), ...events);
  expect(await rows("select id, owner from copy.orders")).toEqual([{ id: 2, owner: 5 }]);
});

test("a key whose type has its operators in a schema that is not searched is refused with what to change", async () => {
  await pool.query("create schema if not exists extensions; create extension if not exists ltree schema extensions");
  const sink = await sinkOf("k extensions.ltree primary key");
  const refused = apply(sink, 1n, change("delete", { k: "a.b" }, null));
  await expect(refused).rejects.toThrow(/SQLSTATE 42883, .* search_path/);
});
