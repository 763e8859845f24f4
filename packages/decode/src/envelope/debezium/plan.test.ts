import { describe, expect, test } from "vitest";
import { type CdcEvent, createDecoder } from "../../index.ts";

interface Names {
  readonly db: string;
  readonly schema: string | null;
  readonly table: string;
}

const decoder = createDecoder();

/** A change of a Debezium connector whose topic holds several tables. */
function tableOf({ db, schema, table }: Names): unknown {
  const source = { version: "3.0.0.Final", connector: "postgresql", name: "shop", ts_ms: 1, snapshot: "false", db, schema, table };
  const value = Buffer.from(JSON.stringify({ before: null, after: { id: 1 }, source, op: "c", ts_ms: 2 }));
  const record = { topic: "all.tables", partition: 0, offset: 0n, timestamp: 0n, key: null, value, headers: [] };
  const [event] = decoder.decode(record) as readonly CdcEvent[];
  return event?.kind === "change" ? event.table : null;
}

function expected({ db, schema, table }: Names): object {
  return { database: db, ...(schema === null ? {} : { schema }), name: table };
}

describe("the table of a change", () => {
  test("is that of its own source block, also if a topic has more tables than are remembered", () => {
    const names = Array.from({ length: 1_500 }, (_, i): Names => ({ db: `shop${i % 3}`, schema: `s${i % 7}`, table: `t${i}` }));
    for (const one of [...names, ...names.toReversed(), ...names.slice(-20), ...names.slice(-20)]) {
      expect(tableOf(one)).toEqual(expected(one));
    }
  });

  test("is not taken for another one whose names give the same text", () => {
    const names: readonly Names[] = [
      { db: "a.b", schema: "c", table: "d" },
      { db: "a", schema: "b.c", table: "d" },
      { db: "a", schema: "b", table: "c.d" },
      { db: "a", schema: null, table: "d" },
      { db: "a", schema: "null", table: "d" },
    ];
    for (const one of [...names, ...names]) {
      expect(tableOf(one)).toEqual(expected(one));
    }
  });

  test("has its whole name, also if that is too long to be remembered", () => {
    const long = { db: "shop", schema: "s", table: "t".repeat(5_000) };
    for (const one of [long, { ...long, table: `${long.table}2` }, long]) {
      expect(tableOf(one)).toEqual(expected(one));
    }
  });
});

test("the columns of YugabyteDB's fork of PostgreSQL's connector have no wrappers, also beside changes of PostgreSQL in the same topic", () => {
  const own = createDecoder();
  const rowOf = (version: string, id: unknown): unknown => {
    const source = { version, connector: "postgresql", name: "shop", ts_ms: 1, db: "shop", schema: "public", table: "orders" };
    const value = Buffer.from(JSON.stringify({ before: null, after: { note: null, id }, source, op: "c", ts_ms: 2 }));
    const key = Buffer.from(JSON.stringify({ id }));
    const [event] = own.decode({
      topic: "orders",
      partition: 0,
      offset: 0n,
      timestamp: 0n,
      key,
      value,
      headers: [],
    }) as readonly CdcEvent[];
    return event?.kind === "change" ? { after: event.after, key: event.key } : null;
  };
  const yugabyte = "dz.2.5.2.yb.2024.1";
  const wrapped = { value: 7, set: true };
  for (let i = 0; i < 200; i++) {
    expect(rowOf("3.5.0.Final", 7)).toEqual({ after: { note: null, id: 7 }, key: { id: 7 } });
    expect(rowOf(yugabyte, wrapped)).toEqual({ after: { id: 7 }, key: { id: 7 } });
    expect(rowOf("3.5.0.Final", wrapped)).toEqual({ after: { note: null, id: wrapped }, key: { id: wrapped } });
  }
});
