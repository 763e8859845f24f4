import { bundledRecording, loadRecording, recordOf } from "@cdckit/testkit";
import { fromBundle } from "@cdckit/registry";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createDecoder } from "../decoder.ts";
import type { CdcEvent } from "../event.ts";
import { comparePosition, positionOf, type SourcePosition } from "./position.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The event of a Debezium message with that source. */
function eventOf(source: Fields, rest: Fields = {}, headers: readonly (readonly [string, Buffer])[] = []): CdcEvent {
  const value = { before: null, after: { id: 1 }, source: { name: "p", table: "t", ts_ms: 1, ...source }, op: "u", ts_ms: 2, ...rest };
  const record = recordOf(JSON.stringify(value), { offset: 1n, timestamp: 1n, headers });
  return (createDecoder().decode(record) as readonly CdcEvent[])[0] as CdcEvent;
}

function place(source: Fields, rest: Fields = {}): SourcePosition {
  const position = positionOf(eventOf(source, rest));
  expect(position).not.toBe(null);
  return position as SourcePosition;
}

function compare(a: Fields, b: Fields): number | null {
  return comparePosition(place(a), place(b));
}

const pg = { connector: "postgresql", txId: 5 };
const gtid = (n: number, rest: Fields = {}): Fields => ({
  connector: "mysql",
  server_id: 1,
  gtid: `3E11FA47-71CA-11E1-9E33-C80AA9429562:${n}`,
  file: "binlog.000009",
  pos: 100,
  row: 0,
  ...rest,
});
const file = (name: string, pos: number, row = 0): Fields => ({ connector: "mysql", server_id: 1, file: name, pos, row });
const mssql = (commit: string, change: string, serial = 1): Fields => ({
  connector: "sqlserver",
  commit_lsn: commit,
  change_lsn: change,
  event_serial_no: serial,
});
const oracle = (commit_scn: string, rest: Fields = {}): Fields => ({
  connector: "oracle",
  commit_scn,
  txId: "1.2.3",
  scn: "7",
  rs_id: "0x01",
  ssn: 0,
  ...rest,
});
const mongo = (ts_ms: number, ord: number): Fields => ({ connector: "mongodb", ts_ms, ord, collection: "c" });
const uuid = "a790d864-9ba1-11ea-99f6-0242ac11000a";
const vitess = (set: string, shard = "-80"): Fields => ({
  connector: "vitess",
  keyspace: "inv",
  shard,
  vgtid: JSON.stringify([{ keyspace: "inv", shard, gtid: `MySQL56/${set}` }]),
});
const spanner = (ts_ns: number, sequence: string, mod_number = 0, transaction = "a"): Fields => ({
  connector: "spanner",
  ts_ns,
  server_transaction_id: transaction,
  sequence,
  mod_number,
});

describe("positions of one stream", () => {
  test.each<[string, Fields, Fields]>([
    ["PostgreSQL: a later commit", { ...pg, sequence: '["100","90"]', lsn: 90 }, { ...pg, sequence: '["110","80"]', lsn: 80 }],
    ["PostgreSQL: a later LSN of one transaction", { ...pg, sequence: '["100","90"]' }, { ...pg, sequence: '["100","105"]' }],
    ["PostgreSQL: LSNs are numbers, not text", { ...pg, sequence: '["9","9"]' }, { ...pg, sequence: '["9","10"]' }],
    ["PostgreSQL without a sequence, in one transaction", { ...pg, lsn: 90 }, { ...pg, lsn: 91 }],
    ["DeltaForge's text of an LSN", { ...pg, lsn: "0/FFFFFFFF" }, { ...pg, lsn: "1/0" }],
    ["MySQL: a later transaction, in any file", gtid(23, { file: "binlog.000009" }), gtid(100, { file: "binlog.000001" })],
    ["MySQL: a later event of one transaction", gtid(23), gtid(23, { pos: 101 })],
    ["MySQL: a later row of one event", gtid(23), gtid(23, { row: 1 })],
    ["MySQL by files", file("binlog.999999", 5_000), file("binlog.1000000", 4)],
    ["MySQL by files: the row", file("binlog.000001", 4, 0), file("binlog.000001", 4, 10)],
    ["MariaDB", { ...gtid(1), connector: "mariadb", gtid: "0-1-9" }, { ...gtid(1), connector: "mariadb", gtid: "0-2-10" }],
    ["SQL Server, part by part", mssql("00000025:00000d98:00a2", "00000025:00000d98:0001"), mssql("00000025:00000d98:0a00", "0:0:0")],
    ["SQL Server: the serial number", mssql("1:1:1", "1:1:1", 1), mssql("1:1:1", "1:1:1", 2)],
    ["Db2", { connector: "db2", commit_lsn: "0:f", change_lsn: "0:1" }, { connector: "db2", commit_lsn: "0:10", change_lsn: "0:1" }],
    ["Informix", { connector: "informix", commit_lsn: "99" }, { connector: "informix", commit_lsn: "100" }],
    ["Oracle: the commit", oracle("99", { scn: "9" }), oracle("100", { scn: "8" })],
    ["Oracle: the sequence in a transaction", oracle("99", { txSeq: 2 }), oracle("99", { txSeq: 10 })],
    ["Oracle: the redo record", oracle("99"), oracle("99", { rs_id: "0x02" })],
    ["Oracle XStream", oracle("99", { lcr_position: "00aa" }), oracle("98", { lcr_position: "00ab" })],
    ["MongoDB", mongo(5, 9), mongo(5, 10)],
    ["MongoDB: the second", mongo(5_000, 9), mongo(10_000, 1)],
    ["Vitess: a larger set", vitess(`${uuid}:1-9`), vitess(`${uuid}:1-10`)],
    ["Vitess: a larger set of ranges", vitess(`${uuid}:1-9`), vitess(`${uuid}:1-9:11`)],
    ["Cassandra", { connector: "cassandra", ts_us: 5 }, { connector: "cassandra", ts_us: 6 }],
    ["Spanner", spanner(5, "9"), spanner(6, "1")],
    ["Spanner: the record", spanner(5, "9"), spanner(5, "10")],
    ["Spanner: the row of a record", spanner(5, "9", 1), spanner(5, "9", 2)],
    ["TiCDC", { connector: "TiCDC", commit_ts: 5 }, { connector: "TiCDC", commit_ts: 6 }],
  ])("%s", (_, earlier, later) => {
    expect(compare(earlier, later)).toBeLessThan(0);
    expect(compare(later, earlier)).toBeGreaterThan(0);
    expect(compare(earlier, earlier)).toBe(0);
  });

  test("the total order decides if transaction metadata is on", () => {
    const at = (total_order: number): SourcePosition =>
      place({ ...pg, sequence: '["9","9"]' }, { transaction: { id: "5", total_order, data_collection_order: 1 } });
    expect(comparePosition(at(9), at(10))).toBeLessThan(0);
  });

  test("of the two halves of a key change the delete comes first", () => {
    const source = { ...pg, sequence: '["9","9"]', lsn: 9 };
    const half = (name: string): SourcePosition => positionOf(eventOf(source, {}, [[name, Buffer.from('{"id":2}')]])) as SourcePosition;
    expect(comparePosition(half("__debezium.newkey"), half("__debezium.oldkey"))).toBeLessThan(0);
  });

  test("int64 values compare the same in any form", () => {
    const record = Buffer.from(
      '{"before":null,"after":{"id":1},"source":{"connector":"TiCDC","name":"p","table":"t","commit_ts":451715718242828295},"op":"c","ts_ms":1}',
    );
    const positions = (["safe", "bigint", "string"] as const).map((int64) => {
      const decoder = createDecoder({ values: { int64 } });
      const events = decoder.decode(recordOf(record, { offset: 1n, timestamp: 1n }));
      return positionOf((events as readonly CdcEvent[])[0] as CdcEvent);
    });
    expect(positions).toEqual(
      Array.from({ length: 3 }, () => ({ connector: "tidb", order: "commit", stream: "p", parts: ["451715718242828295", "0"] })),
    );
  });

  test("a position is the same after it was written to JSON and read back", () => {
    const position = place(gtid(7));
    expect(JSON.parse(JSON.stringify(position))).toEqual(position);
  });
});

describe("positions that do not compare", () => {
  test.each<[string, Fields, Fields]>([
    ["of two connectors", gtid(1), { ...pg, lsn: 1 }],
    ["of two servers", gtid(1), gtid(2, { gtid: "11111111-71CA-11E1-9E33-C80AA9429562:2" })],
    ["of two logical names", { ...pg, lsn: 1 }, { ...pg, lsn: 2, name: "q" }],
    ["by transactions and by files", gtid(1), file("binlog.000001", 4)],
    ["of two files of one transaction", gtid(1), gtid(1, { file: "binlog.000010" })],
    ["of two transactions of PostgreSQL without a sequence", { ...pg, lsn: 1 }, { ...pg, lsn: 2, txId: 6 }],
    ["of two transactions at one SCN", oracle("9"), oracle("9", { txId: "3.2.1" })],
    ["of two shards", vitess(`${uuid}:1-9`), vitess(`${uuid}:1-10`, "80-")],
    ["of two histories", vitess(`${uuid}:1-9`), vitess(`${uuid}:1-8:10`)],
    ["of two transactions of Spanner at one time", spanner(5, "1"), spanner(5, "1", 0, "b")],
    ["that are not valid", mssql("x", "1"), mssql("y", "1")],
  ])("%s", (_, a, b) => {
    expect(compare(a, b)).toBe(null);
    expect(compare(b, a)).toBe(null);
  });

  test("of an unknown order", () => {
    const position = { connector: "mysql", order: "moon", stream: "p", parts: [] };
    expect(comparePosition(position, position)).toBe(null);
  });
});

describe("no position", () => {
  test.each<[string, Fields]>([
    ["a connector that states no order", { connector: "yugabytedb", lsn: "1:5::0:0" }],
    ["no connector", {}],
    ["a row that a snapshot read", { ...pg, lsn: 5, snapshot: "incremental" }],
    ["a source without its position", { connector: "mysql" }],
    ["rows of one event that nothing tells apart", { ...gtid(1), row: null }],
    ["a vgtid that is not JSON", { connector: "vitess", keyspace: "inv", shard: "-", vgtid: "{" }],
  ])("%s", (_, source) => {
    expect(positionOf(eventOf(source))).toBe(null);
  });

  test("a flattened row that a snapshot read, of which only the operation says so", () => {
    const flattened = (op: string): CdcEvent => {
      const row = { id: 1, __op: op, __connector: "postgresql", __name: "p", __txId: 7, __lsn: 5 };
      return (createDecoder().decode(recordOf(JSON.stringify(row))) as readonly CdcEvent[])[0] as CdcEvent;
    };
    expect(positionOf(flattened("u"))).toMatchObject({ connector: "postgresql", parts: ["7", "5", null, "0"] });
    expect(positionOf(flattened("r"))).toBe(null);
  });

  test("an event without a source", () => {
    const record = recordOf(null, { offset: 1n, timestamp: 1n });
    expect(positionOf((createDecoder().decode(record) as readonly CdcEvent[])[0] as CdcEvent)).toBe(null);
  });
});

describe("recordings of Debezium for PostgreSQL", () => {
  test.each(["tjn", "tjs", "tav"])("%s: each table's changes are in order", async (prefix) => {
    let positions = 0;
    for (const table of ["inv.composite_pk", "inv.nopk", "inv.evolve", "inv.toast", "message"]) {
      const { file: path, schemasFile } = bundledRecording(`postgres-debezium-3.5/${prefix}.${table}`);
      const decoder = createDecoder({ schemas: fromBundle(schemasFile) });
      let last: SourcePosition | null = null;
      for (const record of await loadRecording(path)) {
        const [event] = await decoder.decode(record);
        const position: SourcePosition | null = positionOf(event as CdcEvent);
        if (last !== null && position !== null) {
          expect(comparePosition(last, position)).toBeLessThan(0);
        }
        last = position ?? last;
        positions += position === null ? 0 : 1;
      }
    }
    expect(positions).toBe(14);
  });
});

describe("comparePosition", () => {
  const connectors: readonly (readonly [string, string])[] = [
    ["postgresql", "commit"],
    ["postgresql", "transaction"],
    ["mysql", "gtid"],
    ["mysql", "file"],
    ["sqlserver", "lsn"],
    ["oracle", "scn"],
    ["oracle", "lcr"],
    ["mongodb", "time"],
    ["vitess", "vgtid"],
    ["spanner", "time"],
    ["tidb", "commit"],
    ["cockroachdb", "time"],
  ];
  const part = fc.oneof(
    fc.constant(null),
    fc.constantFrom(
      "0",
      "1",
      "2",
      "10",
      "9007199254740993",
      "a",
      "b",
      "1:2",
      "1:a",
      "1:10",
      "MySQL56/u:1-3",
      "MySQL56/u:1-2:4",
      "u:1,v:1",
      "0-1-5",
    ),
  );
  const positions = fc.constantFrom(...connectors).chain(([connector, order]) =>
    fc.array(
      fc.record({
        connector: fc.constant(connector),
        order: fc.constant(order),
        stream: fc.constantFrom("p", "p", "p", "q"),
        parts: fc.array(part, { maxLength: 7 }),
      }),
      { minLength: 3, maxLength: 3 },
    ),
  );

  test("is antisymmetric", () => {
    fc.assert(
      fc.property(positions, ([a, b]) => {
        const [forth, back] = [
          comparePosition(a as SourcePosition, b as SourcePosition),
          comparePosition(b as SourcePosition, a as SourcePosition),
        ];
        expect(back).toBe(forth === null || forth === 0 ? forth : -forth);
      }),
      { numRuns: 5_000 },
    );
  });

  test("is transitive", () => {
    fc.assert(
      fc.property(positions, ([a, b, c]) => {
        const [ab, bc] = [
          comparePosition(a as SourcePosition, b as SourcePosition),
          comparePosition(b as SourcePosition, c as SourcePosition),
        ];
        if (ab !== null && bc !== null && ab <= 0 && bc <= 0) {
          const ac = comparePosition(a as SourcePosition, c as SourcePosition);
          expect(ac).toBe(ab < 0 || bc < 0 ? -1 : 0);
        }
      }),
      { numRuns: 20_000 },
    );
  });
});
