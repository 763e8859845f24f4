import { chownSync, statSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { inspect } from "node:util";
import { type CdcEvent, type Columns, DecodeError, UNAVAILABLE } from "@cdckit/decode";
import { postgres, type PostgresClient, type PostgresOptions, type PostgresPool, type PostgresSink } from "@cdckit/postgres";
import pg from "pg";
import { beforeEach, describe, expect, test } from "vitest";
import { TcpProxy } from "../chaos/tcp-proxy.ts";
import { ownPostgres } from "./own-postgres.ts";
import { selfSigned } from "./self-signed.ts";

const partition = Object.freeze({ topic: "shop.public.orders", partition: 0, epoch: 1 });
const { server, pool } = await ownPostgres({ max: 20 });

beforeEach(async () => {
  await pool.query("drop schema if exists copy cascade");
});

async function claimed(options: PostgresOptions = {}): Promise<PostgresSink> {
  const sink = postgres({ pool: pool as never, schema: "copy", create: true, ...options });
  await pool.query("create schema if not exists copy");
  await sink.claim("g", [partition]);
  return sink;
}

function change(op: string, key: Columns, after: Columns | null, name = "orders"): CdcEvent {
  const table = { schema: "public", name };
  return { kind: "change", op, table, key, before: null, after, record: { topic: `shop.public.${name}` } } as unknown as CdcEvent; // what a sink reads
}

const created = (id: number, more: Columns = {}, name = "orders"): CdcEvent => change("create", { id }, { id, ...more }, name);
const updated = (id: number, more: Columns): CdcEvent => change("update", { id }, { id, ...more });
const apply = (sink: PostgresSink, nextOffset: bigint, ...events: CdcEvent[]): Promise<void> =>
  sink.apply({ assignment: partition, events, nextOffset });

async function rows(sql = "select * from copy.orders order by id"): Promise<readonly Record<string, unknown>[]> {
  return (await pool.query<Record<string, unknown>>(sql)).rows;
}

/** The real pool, with something done around a statement. */
function disturbed(
  around: (text: string, ask: () => ReturnType<PostgresClient["query"]>) => ReturnType<PostgresClient["query"]>,
  from: pg.Pool = pool,
): PostgresPool {
  return {
    connect: async () => {
      const client = await from.connect();
      return {
        query: (query) => around(query.text, () => client.query(query as pg.QueryConfig)),
        release: (error) => client.release(error),
        on: (name, listener) => client.on(name, listener),
        off: (name, listener) => client.off(name, listener),
      };
    },
    end: async () => {},
  };
}

/** Waits for a statement that waits for a lock. */
async function untilBlocked(): Promise<number> {
  for (;;) {
    const [blocked] = await rows("select pid from pg_locks where not granted");
    if (blocked !== undefined) {
      return Number(blocked["pid"]);
    }
  }
}

async function whileLocked(table: string, work: () => Promise<void>): Promise<void> {
  const lock = await pool.connect();
  await lock.query(`begin; lock table ${table} in access exclusive mode`);
  try {
    await work();
  } finally {
    await lock.query("rollback");
    lock.release();
  }
}

/** Lets the server speak TLS with those who ask for it. Gives its certificate, which is for 127.0.0.1. */
async function speakTls(): Promise<string> {
  const [{ data_directory: folder } = {}] = await rows("show data_directory");
  const { uid, gid } = statSync(String(folder)); // the server takes no key of somebody else
  const { cert, key } = selfSigned("postgres");
  for (const [name, text] of [
    ["server.crt", cert],
    ["server.key", key],
  ] as const) {
    const path = join(String(folder), name);
    writeFileSync(path, text, { mode: 0o600 });
    chownSync(path, uid, gid);
  }
  await pool.query("alter system set ssl = on");
  await pool.query("select pg_reload_conf()");
  while ((await rows("select setting from pg_settings where name = 'ssl' and setting = 'on'")).length === 0) {
    // Each session reads the settings again when it hears of it.
  }
  return cert;
}

describe("a connection", () => {
  test("that breaks in the middle of a batch leaves nothing behind, and the batch can be applied again", async () => {
    const sink = await claimed();
    await apply(sink, 1n, created(1));
    await whileLocked("copy.orders", async () => {
      const applying = apply(sink, 3n, created(2), created(3));
      const refused = expect(applying).rejects.toMatchObject({ code: "unavailable", retriable: true });
      await pool.query("select pg_terminate_backend($1)", [await untilBlocked()]);
      await refused;
    });
    expect(await rows()).toEqual([{ id: "1" }]);
    await apply(sink, 3n, created(2), created(3));
    expect(await rows()).toEqual([{ id: "1" }, { id: "2" }, { id: "3" }]);
  });

  test("that swallows what is sent on it is given up in time and replaced, and so are the others that were open then", async () => {
    const proxy = await TcpProxy.listen(0, server.database.port, { speaksKafka: false });
    const { user, password, database } = server.database;
    await pool.query("create schema if not exists copy");
    const sink = postgres({
      connectionString: `postgres://${user}:${password}@127.0.0.1:${proxy.port}/${database}`,
      schema: "copy",
      create: true,
      statementTimeoutMs: 1_000,
    });
    const other = { ...partition, partition: 1 };
    try {
      await sink.claim("g", [partition, other]);
      // Two connections, both of them idle then.
      await Promise.all([apply(sink, 1n, created(1)), sink.apply({ assignment: other, events: [], nextOffset: 1n })]);
      proxy.swallowOld();
      const startedMs = performance.now();
      await expect(apply(sink, 2n, created(2))).rejects.toMatchObject({ code: "unavailable", retriable: true });
      await apply(sink, 2n, created(2)); // PostgreSQL ends the session that swallowed when its transaction has been idle for too long
      await sink.apply({ assignment: other, events: [], nextOffset: 2n });
      expect(performance.now() - startedMs).toBeLessThan(1_000 + 15_000);
      expect(await rows()).toEqual([{ id: "1" }, { id: "2" }]);
    } finally {
      await sink.close();
      await proxy.close();
    }
  });

  test.each(["disable", "no-verify"])("that is answered stays open when another one is given up (sslmode=%s)", async (sslmode) => {
    await speakTls();
    const { user, password, host, port, database } = server.database;
    const sink = postgres({
      connectionString: `postgres://${user}:${password}@${host}:${port}/${database}?sslmode=${sslmode}`,
      schema: "copy",
      create: true,
      statementTimeoutMs: 1_000,
    });
    const other = { ...partition, topic: "shop.public.items" };
    const applyOther = (nextOffset: bigint): Promise<void> =>
      sink.apply({ assignment: other, events: [created(Number(nextOffset), {}, "items")], nextOffset });
    try {
      await pool.query("create schema if not exists copy");
      await sink.claim("g", [partition, other]);
      await Promise.all([apply(sink, 1n, created(1)), applyOther(1n)]); // a connection for each of them
      await whileLocked("copy.orders", async () => {
        let isOver = false;
        const refused = expect(apply(sink, 2n, created(2))).rejects.toThrow("no answer within 1000 ms");
        const over = refused.finally(() => {
          isOver = true;
        });
        for (let nextOffset = 2n; !isOver; nextOffset++) {
          await applyOther(nextOffset);
        }
        await over;
      });
    } finally {
      await sink.close();
    }
  });

  test("whose certificate does not fit says what is wrong with it", async () => {
    const ca = await speakTls();
    const failureOf = async (ssl: object, host: string): Promise<unknown> => {
      const own = new pg.Pool({ ...server.database, host, ssl });
      const sink = postgres({ pool: own as never, schema: "copy" });
      return sink.claim("g", [partition]).finally(() => void own.end());
    };
    await expect(failureOf({}, "127.0.0.1")).rejects.toMatchObject({
      code: "login-failed",
      message: expect.stringContaining("its certificate is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT): name the authority in ssl.ca"),
    });
    await expect(failureOf({ ca }, "localhost")).rejects.toMatchObject({
      code: "login-failed",
      message: expect.stringContaining(
        "its certificate is for another name (ERR_TLS_CERT_ALTNAME_INVALID): connect by a name that it holds",
      ),
    });
  });

  test("to a database that is read-only is replaced: it may lead to a standby, and a new one to the server that has taken over", async () => {
    const { user, password, host, port, database } = server.database;
    const sink = postgres({ connectionString: `postgres://${user}:${password}@${host}:${port}/${database}`, schema: "copy", create: true });
    const admin = await pool.connect();
    await admin.query(`alter database ${database} set default_transaction_read_only = on`); // counts for connections from now on
    try {
      await expect(sink.claim("g", [partition])).rejects.toMatchObject({ code: "unavailable", cause: { code: "25006" } });
      await admin.query(`alter database ${database} reset default_transaction_read_only`);
      expect(await sink.claim("g", [partition])).toEqual([]);
    } finally {
      await admin.query(`alter database ${database} reset default_transaction_read_only`);
      admin.release();
      await sink.close();
    }
  });

  test("that breaks while nothing is asked of it does not end the process", async () => {
    let isDue = true;
    const pause = disturbed(async (text, ask) => {
      const answer = await ask();
      if (text.startsWith("update") && isDue) {
        isDue = false;
        await pool.query("select pg_terminate_backend(pid) from pg_stat_activity where state = 'idle in transaction'");
        while ((await rows("select 1 from pg_stat_activity where state = 'idle in transaction'")).length > 0) {
          // Until it is gone, and its end has been heard of.
        }
        await new Promise((resolve) => setImmediate(resolve));
      }
      return answer;
    });
    const sink = await claimed({ pool: pause });
    await expect(apply(sink, 1n, created(1))).rejects.toMatchObject({ code: "unavailable" });
    await apply(sink, 1n, created(1));
    expect(await rows()).toEqual([{ id: "1" }]);
  });

  test("that is ended in the moment that it is ready does not end the process", async () => {
    const proxy = createServer((client) => {
      const upstream = connect(server.database.port, "127.0.0.1");
      client.on("error", () => {}).pipe(upstream);
      let held = Buffer.alloc(0);
      upstream.on("data", (bytes) => {
        held = Buffer.concat([held, bytes]);
        const backend = held.indexOf("K\0\0\0\x0c", 0, "latin1"); // https://www.postgresql.org/docs/current/protocol-message-formats.html
        if (backend === -1) {
          client.write(held);
          held = Buffer.alloc(0);
        } else if (held.subarray(-6).equals(Buffer.from("Z\0\0\0\x05I", "latin1"))) {
          void pool.query("select pg_terminate_backend($1)", [held.readInt32BE(backend + 5)]);
        }
      });
      upstream.on("end", () => client.end(held)); // that it is ready, and its end, at once
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    const { user, password, database } = server.database;
    const { port } = proxy.address() as AddressInfo; // it listens
    const sink = postgres({ connectionString: `postgres://${user}:${password}@127.0.0.1:${port}/${database}`, schema: "copy" });
    const unheard: unknown[] = [];
    const hear = (error: unknown): void => void unheard.push(error);
    process.setUncaughtExceptionCaptureCallback(hear);
    await expect(sink.claim("g", [partition])).rejects.toMatchObject({ code: "unavailable", retriable: true });
    process.setUncaughtExceptionCaptureCallback(null);
    expect(unheard).toEqual([]);
    await sink.close();
    proxy.close();
  });

  test("that breaks while a transaction is being committed: what was committed is not applied again", async () => {
    let isDue = true;
    const losing = disturbed(async (text, ask) => {
      const answer = await ask();
      if (text === "commit" && isDue) {
        isDue = false;
        throw new Error("Connection terminated unexpectedly");
      }
      return answer;
    });
    const fine = await claimed();
    await pool.query("create table copy.orders (id bigint primary key, n integer not null default 0)");
    await pool.query(
      "create function copy.count() returns trigger language plpgsql as 'begin new.n = coalesce(old.n, 0) + 1; return new; end';" +
        "create trigger counted before insert or update on copy.orders for each row execute function copy.count()",
    );
    await apply(fine, 1n, created(1));
    const sink = postgres({ pool: losing, schema: "copy" });
    isDue = false;
    await sink.claim("g", [partition]);
    isDue = true;
    await expect(apply(sink, 2n, created(2))).rejects.toMatchObject({ code: "unavailable" });
    await apply(sink, 2n, created(2));
    await apply(sink, 3n, updated(1, {}));
    expect(await rows("select id::int, n from copy.orders order by id")).toEqual([
      { id: 1, n: 1 },
      { id: 2, n: 1 },
    ]);
  });

  test("whose owner is frozen in the middle of a transaction does not keep the partition for ever", { timeout: 30_000 }, async () => {
    let thaw: () => void = () => {};
    let frozen: () => void = () => {};
    const isFrozen = new Promise<void>((resolve) => {
      frozen = resolve;
    });
    const freezing = disturbed(async (text, ask) => {
      const answer = await ask();
      if (text.startsWith("update")) {
        frozen();
        await new Promise<void>((resolve) => {
          thaw = resolve;
        });
      }
      return answer;
    });
    const sink = await claimed({ pool: freezing });
    const applying = apply(sink, 1n, created(1)).then(
      () => "applied",
      (error: { code: string }) => error.code,
    );
    await isFrozen;
    const after = postgres({ pool: pool as never, schema: "copy", create: true });
    const claim = (): Promise<unknown> =>
      after.claim("g", [partition]).catch((error: { retriable: boolean }) => error.retriable && claim()); // as a consumer does
    expect(await claim()).toEqual([]);
    await apply(after, 1n, created(2));
    thaw();
    expect(await applying).toBe("unavailable");
    expect(await rows()).toEqual([{ id: "2" }]);
  });
});

test("close does not wait for a batch that waits for ever, and nothing of it is applied", async () => {
  const { host, port, user, password, database } = server.database;
  await pool.query("create schema copy; create table copy.orders (id bigint primary key)");
  for (const own of [{ connectionString: `postgres://${user}:${password}@${host}:${port}/${database}` }, { pool: pool as never }]) {
    const sink = postgres({ schema: "copy", ...own });
    await sink.claim("g", [partition]);
    await whileLocked("copy.orders", async () => {
      const refused = expect(apply(sink, 1n, created(1))).rejects.toMatchObject({ code: "unavailable" });
      await untilBlocked();
      await sink.close();
      await refused;
    });
    const next = await claimed();
    await apply(next, 1n, created(2));
    expect(await rows()).toEqual([{ id: "2" }]);
    await pool.query("delete from copy.orders; delete from copy.cdckit_checkpoints");
  }
});

describe("a table that PostgreSQL rewrites", () => {
  const wide = created(2, { n: 3_000_000_000 });

  /** Every change of a table takes so long. */
  async function slowAlter(seconds: number): Promise<void> {
    await pool.query(`create function copy.nap() returns event_trigger language plpgsql as $$ begin perform pg_sleep(${seconds}); end $$`);
    await pool.query("create event trigger nap on ddl_command_end when tag in ('ALTER TABLE') execute function copy.nap()");
  }

  test("has the time that it takes", async () => {
    const sink = await claimed({ widen: true, statementTimeoutMs: 1_000 });
    await pool.query("create table copy.orders (id bigint primary key, n integer)");
    await slowAlter(1.5);
    await apply(sink, 1n, wide);
    expect(await rows()).toEqual([{ id: "2", n: "3000000000" }]);
  });

  test("has it also if another statement is given up meanwhile", async () => {
    const { user, password, host, port, database } = server.database;
    const connectionString = `postgres://${user}:${password}@${host}:${port}/${database}`;
    const options: PostgresOptions = { connectionString, widen: true, statementTimeoutMs: 1_000 };
    await pool.query("create schema if not exists copy");
    await pool.query("create table copy.orders (id bigint primary key, n integer); create table copy.items (id bigint primary key)");
    await slowAlter(2.5);
    const sink = postgres({ schema: "copy", create: true, ...options });
    const other = { ...partition, topic: "shop.public.items" };
    try {
      await sink.claim("g", [partition, other]);
      await whileLocked("copy.items", async () => {
        const altering = apply(sink, 1n, wide);
        const refused = sink.apply({ assignment: other, events: [created(1, {}, "items")], nextOffset: 1n });
        await expect(refused).rejects.toThrow("no answer within 1000 ms");
        await altering;
      });
    } finally {
      await sink.close();
    }
    expect(await rows()).toEqual([{ id: "2", n: "3000000000" }]);
  });

  test("is let go when the sink is closed", async () => {
    const sink = await claimed({ widen: true });
    await pool.query("create table copy.orders (id bigint primary key, n integer)");
    await slowAlter(3_600);
    const altering = expect(apply(sink, 1n, wide)).rejects.toThrow('altering "copy"."orders"');
    const isAltering = async (): Promise<boolean> =>
      (await rows("select 1 from pg_stat_activity where query like 'alter table%' and state = 'active'")).length > 0;
    while (!(await isAltering())) {
      // Until it has begun.
    }
    await sink.close();
    await altering;
    while (await isAltering()) {
      // Until PostgreSQL has noticed.
    }
    expect((await rows("select data_type from information_schema.columns where column_name = 'n'"))[0]).toEqual({ data_type: "integer" });
  });
});

describe("trouble that passes", () => {
  test("a lock of somebody else is named, not waited for until a statement has taken too long", async () => {
    const sink = await claimed();
    await apply(sink, 1n, created(1));
    await whileLocked("copy.orders", async () => {
      await expect(apply(sink, 2n, created(2))).rejects.toMatchObject({
        code: "unavailable",
        retriable: true,
        message: expect.stringContaining('writing to "copy"."orders": PostgreSQL could not do it now (55P03, another session holds a lock'),
      });
    });
    await apply(sink, 2n, created(2));
    expect(await rows()).toEqual([{ id: "1" }, { id: "2" }]);
  });

  test("a lock that a claim waits for is named, too, with the table of the checkpoints", async () => {
    const sink = await claimed();
    await whileLocked("copy.cdckit_checkpoints", async () => {
      await expect(sink.claim("g", [partition])).rejects.toMatchObject({
        code: "unavailable",
        retriable: true,
        message: expect.stringMatching(
          /^\[unavailable\] claiming partitions in "copy"\."cdckit_checkpoints": .* \(55P03, another session holds a lock/,
        ),
      });
    });
  });

  test("a deadlock may be tried again", async () => {
    const sink = await claimed({ create: false });
    await pool.query("create table copy.orders (id bigint primary key); insert into copy.orders values (1)");
    await pool.query(
      "create function copy.fail() returns trigger language plpgsql as 'begin raise exception using errcode = ''40P01''; end';" +
        "create trigger failing before insert on copy.orders for each row execute function copy.fail()",
    );
    await expect(apply(sink, 1n, created(2))).rejects.toMatchObject({ code: "unavailable", retriable: true });
  });

  test.each(["53100", "53200", "53300", "40001", "57P01", "57P03", "08006", "55P03", "57014", "58030", "25006", "25P03", "25P04"])(
    "%s may be tried again",
    async (state) => {
      const sink = await claimed({ create: false });
      await pool.query("create table copy.orders (id bigint primary key)");
      await pool.query(
        `create function copy.fail() returns trigger language plpgsql as 'begin raise exception using errcode = ''${state}''; end';` +
          "create trigger failing before insert on copy.orders for each row execute function copy.fail()",
      );
      await expect(apply(sink, 1n, created(2))).rejects.toMatchObject({ code: "unavailable", retriable: true });
    },
  );
});

describe("trouble that is not PostgreSQL's", () => {
  test("a tableFor that throws, or gives no table, is told with its name, not tried for ever", async () => {
    const broken = new TypeError("cannot read properties of undefined");
    const sink = await claimed({
      tableFor: () => {
        throw broken;
      },
    });
    await expect(apply(sink, 1n, created(1))).rejects.toMatchObject({ code: "table-for-failed", retriable: false, cause: broken });
    for (const named of [undefined, 5, "orders", {}, { name: "" }, { name: "orders", schema: 5 }]) {
      const nameless = await claimed({ tableFor: () => named as never });
      await expect(apply(nameless, 1n, created(1))).rejects.toMatchObject({ code: "table-for-failed" });
    }
    const waiting = await claimed({ tableFor: (async () => Promise.reject(broken)) as never }); // its own rejection would end the process
    await expect(apply(waiting, 1n, created(1))).rejects.toThrow(
      "[table-for-failed] expected tableFor to return { name }, { schema, name } or null for public.orders, found a promise: it must not be async",
    );
  });

  test("a state of a trigger's own that looks like a code of Node is a refusal, and no value is told", async () => {
    const sink = await claimed({ create: false });
    await pool.query(
      "create table copy.orders (id bigint primary key, note text);" +
        "create function copy.refuse() returns trigger language plpgsql as 'begin raise exception ''no %'', new.note using errcode = ''E0001''; end';" +
        "create trigger refusing before insert on copy.orders for each row execute function copy.refuse()",
    );
    const error: unknown = await apply(sink, 1n, created(1, { note: "hunter2" })).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "rejected", retriable: false, cause: { code: "E0001" } });
    expect(inspect(error)).not.toContain("hunter2");
  });

  test("a batch that is larger than a text can be is not tried for ever, and each of its rows can be written", async () => {
    const sink = await claimed({ create: false });
    await pool.query("create table copy.orders (id bigint primary key, note text)");
    const note = "x".repeat(2 ** 20);
    const large = Array.from({ length: 512 }, (_, id) => created(id, { note }));
    await expect(apply(sink, 512n, ...large)).rejects.toMatchObject({
      code: "rejected",
      retriable: false,
      message: expect.stringContaining("batch.maxBytes"),
    });
    await apply(sink, 1n, created(0, { note }));
    expect(await rows("select id, length(note) from copy.orders")).toEqual([{ id: "0", length: 2 ** 20 }]);
  });

  test("a value that does not decode when it is read is the record's fault", async () => {
    const late = new DecodeError("malformed", "late");
    const row = {
      id: 1,
      get note(): string {
        throw late;
      },
    };
    const sink = await claimed({ create: false });
    await pool.query("create table copy.orders (id bigint primary key, note text)");
    await expect(apply(sink, 1n, change("create", { id: 1 }, row))).rejects.toBe(late);
  });
});

describe("a rollback", () => {
  test("takes back what was made for the batch, and the next one makes it again", async () => {
    const sink = await claimed({ widen: true });
    await pool.query("create table copy.items (id bigint primary key check (id < 5))");
    await apply(sink, 1n, created(1));
    await expect(apply(sink, 2n, created(2, { more: "x" }), created(7, {}, "items"))).rejects.toMatchObject({ code: "rejected" });
    await apply(sink, 2n, created(2, { more: "x" }));
    await expect(apply(sink, 3n, created(1, {}, "fresh"), created(7, {}, "items"))).rejects.toMatchObject({ code: "rejected" });
    await apply(sink, 3n, created(1, {}, "fresh"));
    expect([await rows(), await rows("select * from copy.fresh")]).toEqual([
      [
        { id: "1", more: null },
        { id: "2", more: "x" },
      ],
      [{ id: "1" }],
    ]);
  });

  test("what one partition makes is nothing to another before it is committed", async () => {
    const other = Object.freeze({ ...partition, partition: 1 });
    const held = { isHeld: false, reached: (): void => {}, release: (): void => {} };
    const slow = disturbed(async (text, ask) => {
      if (text === "commit" && held.isHeld) {
        held.isHeld = false;
        held.reached();
        await new Promise<void>((resolve) => {
          held.release = resolve;
        });
      }
      return ask();
    });
    const sink = await claimed({ pool: slow });
    await sink.claim("g", [partition, other]);
    const reached = new Promise<void>((resolve) => {
      held.reached = resolve;
    });
    held.isHeld = true;
    const first = apply(sink, 1n, created(1, { a: 1 }));
    await reached; // the table is made, and nobody else sees it
    const second = sink.apply({ assignment: other, events: [created(2, { a: 1 })], nextOffset: 1n });
    await Promise.race([second, untilBlocked()]);
    held.release();
    await Promise.all([first, second]);
    expect(await rows("select count(*)::int as n from copy.orders")).toEqual([{ n: 2 }]);
  });

  test("what another member has made meanwhile is seen, whatever isolation the database gives its transactions", async () => {
    const second = Object.freeze({ ...partition, partition: 1 });
    const other = await claimed();
    await other.claim("g", [second]);
    const isolated = new pg.Pool({ ...server.database, options: "-c default_transaction_isolation=repeatable\\ read" });
    let isMade = false;
    const sink = await claimed({
      pool: disturbed(async (text, ask) => {
        if (!isMade && text.includes("cdckit tables")) {
          isMade = true;
          await other.apply({ assignment: second, events: [created(2)], nextOffset: 1n });
        }
        return ask();
      }, isolated),
    });
    try {
      await apply(sink, 1n, created(1));
    } finally {
      await isolated.end();
    }
    expect(await rows("select id from copy.orders order by id")).toEqual([{ id: "1" }, { id: "2" }]);
  });

  test("partitions that meet a new table together make it once", async () => {
    const partitions = Array.from({ length: 8 }, (_, i) => Object.freeze({ ...partition, partition: i }));
    const sink = await claimed({ widen: true });
    await sink.claim("g", partitions);
    const each = (nextOffset: bigint, more: Columns): Promise<unknown> =>
      Promise.all(partitions.map((assignment, i) => sink.apply({ assignment, events: [created(i, more)], nextOffset })));
    await each(1n, { a: 1 });
    await each(2n, { a: 1, b: 2 });
    expect(await rows("select count(*)::int as n, sum(b)::int as b from copy.orders")).toEqual([{ n: 8, b: 16 }]);
  });
});

describe("a tombstone", () => {
  const tombstone = (id: number, table: object, topic = "shop.public.orders"): CdcEvent =>
    ({ kind: "tombstone", table, key: { id }, record: { topic, partition: 0 } }) as unknown as CdcEvent; // what a sink reads
  const routed = (event: CdcEvent): CdcEvent =>
    ({ ...event, record: { topic: "shop.public.routed", partition: 0 } }) as unknown as CdcEvent;

  test("whose table is known by its topic alone does not delete the row that was created behind it", async () => {
    const sink = await claimed();
    const inDatabase = (event: CdcEvent): CdcEvent =>
      ({ ...event, table: { database: "shop", schema: "public", name: "orders" } }) as unknown as CdcEvent;
    const byTopic = tombstone(1, { database: null, schema: "public", name: "orders" });
    await apply(sink, 4n, inDatabase(created(1)), inDatabase(change("delete", { id: 1 }, null)), byTopic, inDatabase(created(1, { n: 2 })));
    expect(await rows()).toEqual([{ id: "1", n: "2" }]);
  });

  test("deletes the row of the topic's table after a restart, whatever the application lets pg make of JSON and of numbers", async () => {
    const texts = new Set([pg.types.builtins.JSONB, pg.types.builtins.INT4]);
    const types = {
      getTypeParser: (oid: number, format?: "text" | "binary") => (texts.has(oid) ? String : pg.types.getTypeParser(oid, format)),
    };
    const own = new pg.Pool({ ...server.database, types: types as never });
    await pool.query("create schema copy; create table copy.orders (id bigint primary key, n varchar(3))");
    const assignment = Object.freeze({ ...partition, topic: "shop.public.routed" });
    try {
      const row = { ...created(1, { n: "abc" }), kind: "row", row: { id: 1, n: "abc" }, envelope: "none" } as unknown as CdcEvent;
      const sink = await claimed({ pool: own as never });
      await sink.claim("g", [assignment]);
      await sink.apply({ assignment, events: [routed(row)], nextOffset: 1n });
      expect(await rows()).toEqual([{ id: "1", n: "abc" }]);
      const restarted = await claimed({ pool: own as never, widen: true });
      await restarted.claim("g", [assignment]);
      const deleted = routed(tombstone(1, { schema: "public", name: "routed" }));
      await restarted.apply({ assignment, events: [deleted], nextOffset: 2n });
      expect(await rows()).toEqual([]);
      await apply(restarted, 3n, created(2, { n: "four" }));
      expect(await rows()).toEqual([{ id: "2", n: "four" }]);
    } finally {
      await own.end();
    }
  });

  test("of a topic that is not named after its table deletes nothing of another", async () => {
    const sink = await claimed({ create: false });
    await pool.query("create table copy.orders (id bigint primary key); create table copy.routed (id bigint primary key)");
    await pool.query("insert into copy.routed values (1)");
    const elsewhere = tombstone(1, { schema: "public", name: "routed" }, "shop.public.routed");
    await apply(sink, 3n, routed(created(1)), routed(change("delete", { id: 1 }, null)), elsewhere);
    expect([await rows(), await rows("select id::int from copy.routed")]).toEqual([[], [{ id: 1 }]]);
  });
});

describe("columns that are UNAVAILABLE", () => {
  test("stay as they are, also if the table does not let them be null", async () => {
    const sink = await claimed({ create: false });
    await pool.query("create table copy.orders (id bigint primary key, note text, big text not null)");
    await apply(sink, 1n, created(1, { note: "a", big: "long" }));
    await apply(sink, 2n, updated(1, { note: "b", big: UNAVAILABLE }));
    expect(await rows()).toEqual([{ id: "1", note: "b", big: "long" }]);
  });

  test("of a row that the table does not have are told, and nothing is written", async () => {
    const sink = await claimed({ create: false });
    await pool.query("create table copy.orders (id bigint primary key, note text, big text)");
    const refused = apply(sink, 2n, created(1), updated(2, { note: "a secret", big: UNAVAILABLE }));
    await expect(refused).rejects.toMatchObject({ code: "row-incomplete", retriable: false });
    await expect(refused).rejects.toThrow(/"copy"\."orders".*"big".*changed the primary key.*REPLICA IDENTITY FULL/);
    expect(await rows()).toEqual([]);
  });

  test("of a row whose key was changed are not another row's of before", async () => {
    const sink = await claimed({ create: false });
    await pool.query("create table copy.orders (id bigint primary key, big text); insert into copy.orders values (1, 'of another row')");
    await expect(
      apply(sink, 2n, change("delete", { id: 1 }, null), change("create", { id: 1 }, { id: 1, big: UNAVAILABLE })),
    ).rejects.toMatchObject({ code: "row-incomplete" });
    await expect(apply(sink, 2n, created(1, { big: UNAVAILABLE }))).rejects.toMatchObject({ code: "row-incomplete" });
  });

  test("may be of a row that was deleted since, if rows come again", async () => {
    const sink = await claimed({ delivery: "at-least-once" });
    const history = [
      created(1, { note: "a", big: "long" }),
      updated(1, { note: "b", big: UNAVAILABLE }),
      change("delete", { id: 1 }, null),
    ];
    await apply(sink, 3n, ...history);
    for (const event of history.slice(1)) {
      await apply(sink, 3n, event);
    }
    expect(await rows()).toEqual([]);
  });
});

describe("tables and schemas that are not there", () => {
  test("are named, with what to do, if the sink may not make them", async () => {
    const claiming = postgres({ pool: pool as never, schema: "copy" }).claim("g", [partition]);
    await expect(claiming).rejects.toThrow(
      'claiming partitions in "copy"."cdckit_checkpoints": PostgreSQL refused it with SQLSTATE 3F000, there is no such schema',
    );
  });

  test("are made with the first rows, not with deletes of none", async () => {
    await pool.query("drop schema if exists copy cascade");
    const sink = postgres({ pool: pool as never, schema: "copy", create: true });
    await sink.claim("g", [partition]);
    await apply(sink, 1n, change("delete", { id: 1 }, null));
    await apply(sink, 2n, created(2, { note: "a" }));
    expect(await rows()).toEqual([{ id: "2", note: "a" }]);
  });
});

describe("a table of the user's own", () => {
  test("may generate its keys: they are the source's", async () => {
    const sink = await claimed({ create: false });
    await pool.query("create table copy.orders (id bigint generated always as identity primary key, note text)");
    await apply(sink, 1n, created(7, { note: "a" }));
    expect(await rows()).toEqual([{ id: "7", note: "a" }]);
  });

  test("need not be there to be truncated", async () => {
    const sink = await claimed();
    await apply(sink, 2n, { ...change("delete", { id: 1 }, null), kind: "truncate" } as CdcEvent, created(1));
    expect(await rows()).toEqual([{ id: "1" }]);
  });

  test("of checkpoints needs no right to create one", async () => {
    await claimed();
    await pool.query("drop role if exists writer; create role writer login password 'writer'");
    await pool.query("grant usage on schema copy to writer; grant all on copy.cdckit_checkpoints to writer");
    const { host, port, database } = server.database;
    const sink = postgres({ connectionString: `postgres://writer:writer@${host}:${port}/${database}`, schema: "copy" });
    expect(await sink.claim("g", [partition])).toEqual([]);
    await sink.close();
    await pool.query("drop owned by writer; drop role writer");
  });
});
