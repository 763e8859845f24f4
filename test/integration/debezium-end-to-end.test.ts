import { type CdcEvent, type ChangeEvent, type Columns, type TopicHints, UNAVAILABLE } from "@cdckit/decode";
import { createConsumer } from "@cdckit/consumer";
import { kafkajs } from "@cdckit/kafkajs";
import pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { endOffsets } from "../../scripts/stack/topics.mjs";
import { type ColumnCase, columnCases } from "./end-to-end-columns.ts";
import { changesOf, type TrueChange, type TruthTable } from "./sql-truth.ts";
import { withStack } from "./stack.ts";

const formats = ["js", "jn", "av"] as const;
type Format = (typeof formats)[number];

const plainColumns = (names: readonly string[]): readonly ColumnCase[] => names.map((name) => ({ name, type: "" }));

interface FollowedTable extends TruthTable {
  readonly cases: readonly ColumnCase[];
}

function followed(name: string, keyColumns: readonly string[], cases: readonly ColumnCase[]): FollowedTable {
  const columns = cases.map((column) => ({ name: column.name, expression: column.truth ?? `${column.name}::text` }));
  return { name, keyColumns, cases, columns };
}

const amount: ColumnCase = {
  name: "amount",
  type: "",
  hint: { name: "org.apache.kafka.connect.data.Decimal", parameters: { scale: "2" } },
};
const alltypes = followed("e2e.alltypes", ["id"], [...plainColumns(["id"]), ...columnCases]);
const composite = followed("e2e.composite", ["tenant", "sku"], plainColumns(["tenant", "sku", "quantity"]));
const nopk = followed("e2e.nopk", [], [...plainColumns(["note"]), amount]);
const toasted = followed("e2e.toasted", ["id"], plainColumns(["id", "version", "document"]));
const tables = [alltypes, composite, nopk, toasted];

/** What plain JSON cannot know, from the table's own columns. */
const hints = Object.fromEntries(
  tables.map(({ name, cases }): [string, TopicHints] => {
    const columns = Object.fromEntries(cases.flatMap((column) => (column.hint === undefined ? [] : [[column.name, column.hint]])));
    return [`jn.${name}`, { columns }];
  }),
);

const found = await withStack();

describe.skipIf(found.skip !== false)("real Debezium, end to end", { meta: { skipReason: String(found.skip) } }, () => {
  const truth = new Map<FollowedTable, TrueChange[]>(tables.map((table) => [table, []]));
  const events = new Map<string, CdcEvent[]>();

  beforeAll(async () => {
    if (found.skip !== false) throw new Error("unreachable: the suite is skipped");
    const { postgres, brokers, registryUrl } = found.part;
    await writeHistory({ ...postgres }, truth);
    const topics = formats.flatMap((format) => tables.map(({ name }) => `${format}.${name}`));
    const wanted = topics.map((topic) => recordsOf(truth.get(tableOf(topic)) ?? []));
    await consume({ brokers, registryUrl, topics, total: wanted.reduce((sum, count) => sum + count, 0) }, events);
    const ends = await endOffsets(brokers, topics);
    expect(Object.fromEntries(topics.map((topic, i) => [topic, ends[i]]))).toEqual(
      Object.fromEntries(topics.map((topic, i) => [topic, wanted[i]])),
    );
  }, 240_000);

  for (const format of formats) {
    describe(format, () => {
      for (const table of [alltypes, composite, nopk]) {
        test(`${table.name} has exactly the changes that SQL made, column by column`, () => {
          const seen = changes(events, format, table).map((event) => shown(event, table, format));
          const expected = (truth.get(table) ?? []).map((change) => fromSql(change, table));
          expect(seen).toEqual(expected);
        });
      }

      test("keys are the primary keys, and null without one", () => {
        for (const event of changes(events, format, composite)) {
          const row = event.after ?? event.before;
          expect(event.key).toEqual({ tenant: row?.["tenant"], sku: row?.["sku"] });
        }
        for (const event of changes(events, format, nopk)) {
          expect(event.key).toBeNull();
        }
      });

      test("each delete is followed by a tombstone of its key", () => {
        const all = events.get(`${format}.${composite.name}`) ?? [];
        const deletes = all.filter((event) => event.kind === "change" && event.op === "delete");
        expect(deletes.length).toBeGreaterThan(0);
        for (const event of deletes) {
          expect(all[all.indexOf(event) + 1]).toMatchObject({ kind: "tombstone", key: event.key });
        }
      });

      test("a changed primary key is told on both halves", () => {
        const [moved, arrived] = changes(events, format, composite).filter(({ keyChange }) => keyChange !== null);
        expect([moved?.op, moved?.keyChange]).toEqual(["delete", { kind: "moved-to", key: { tenant: 1, sku: "renamed" } }]);
        expect([arrived?.op, arrived?.keyChange]).toEqual(["create", { kind: "moved-from", key: { tenant: 1, sku: "old name" } }]);
      });

      test("a large column that did not change is UNAVAILABLE, and applyTo fills it in", () => {
        const [created, updated] = changes(events, format, toasted);
        expect(updated).toMatchObject({ op: "update", after: { id: 1, version: 2, document: UNAVAILABLE } });
        expect(updated?.applyTo(created?.after ?? null)).toEqual({ ...created?.after, version: 2 });
        expect(String(created?.after?.["document"]).length).toBe(20_000);
      });
    });
  }

  test("JSON with schema and Avro give the same values, of the same types", () => {
    for (const table of tables) {
      expect(changes(events, "av", table).map((event) => whatChanged(event))).toEqual(
        changes(events, "js", table).map((event) => whatChanged(event)),
      );
    }
  });

  test("plain JSON with hints gives the same values, of the same types, but where it cannot", () => {
    for (const table of tables) {
      const differing = new Set(table.cases.filter(({ showPlain }) => showPlain !== undefined).map(({ name }) => name));
      const without = (event: ChangeEvent): unknown => whatChanged(event, differing);
      expect(changes(events, "jn", table).map(without)).toEqual(changes(events, "js", table).map(without));
    }
  });

  test("each format is recognised as what the connector wrote", () => {
    const recognised = formats.map((format) =>
      changes(events, format, alltypes).map(({ framing, encoding, envelope }) => `${framing} ${encoding} ${envelope}`),
    );
    expect(recognised.map((list) => [...new Set(list)])).toEqual([
      ["none connect-json debezium"],
      ["none json debezium"],
      ["confluent avro debezium"],
    ]);
  });
});

const ordinary = `true, -7, 42, 9007199254740993, 12345, 0.1, 0.1, 1234.5, 0.00000000000000000012345678901234567890, 1234.56, 'ab', 'Grüße', '😀 "quoted" \\ and a tab\t',
  '\\x00ff10', '2024-02-29', '23:59:59.999999', '10:15:30+05', '2038-01-19 03:14:07.999999', '2024-02-29 12:34:56.789', '2024-06-01 12:00:00.5+02',
  '1 day 02:03:04.5', '3f2504e0-4f89-11d3-9a0c-0305e82c3301', '{"a": 1.10, "b": [9007199254740993]}', '{"a": {"b": null}}', '<a>x</a>', '192.168.1.5', '10.0.0.0/8',
  '08:00:2b:01:02:03', B'1', B'1010101011', B'101', '{1,2,-3}', '{a,"b c","",NULL}', 'happy', '(1.5,-2.25)', 'a=>1, "b c"=>NULL', 'CaseLess', 'Top.Science', '[1,10)'`;
const extreme = `false, -32768, 2147483647, 9223372036854775807, 4294967295, '-Infinity', 'NaN', -12345678901234.567891, 99999999999999999999999999999999999999, '-$0.01', '', '', '',
  '\\x', 'infinity', '00:00:00', '00:00:00-12', 'infinity', '1969-12-31 23:59:59.999', '-infinity',
  '-00:00:00.000001', '00000000-0000-0000-0000-000000000000', '"text"', '[]', '<a/>', '::1', '::/0',
  'ff:ff:ff:ff:ff:ff', B'0', B'0000000000', B'', '{}', '{}', 'sad', '(0,0)', '', '', '', 'empty'`;
const negative = `true, 32767, -2147483648, -9223372036854775808, 0, '1e-45', 1.7976931348623157e308, 0.000001, -0.10, '$92233720368547758.07', 'abcde', 'x', '__debezium is no placeholder',
  '\\xff', '1969-12-31', '00:00:00.000001', '23:59:59.999999-11', '1969-12-31 23:59:59.999999', '1970-01-01', '1970-01-01 00:00:00+00',
  '00:00:00', 'ffffffff-ffff-ffff-ffff-ffffffffffff', '0', '1', '<b c="d"/>', '10.1.2.3/8', '2001:db8::/32',
  '00:00:00:00:00:01', B'1', B'0000000001', B'1111111111111111', '{2147483647}', '{"{}","\\\\"}', 'ok', '(1e10,1e-10)', '"k"=>"v"', 'x', 'a.b.c', '(,5)'`;

/** Everything that happens to the tables, a change at a time, with what SQL says about each. */
async function writeHistory(database: pg.ClientConfig, truth: Map<FollowedTable, TrueChange[]>): Promise<void> {
  const client = new pg.Client(database);
  await client.connect();
  await client.query("set timezone = 'UTC'");
  const run = async (table: FollowedTable, ...statements: string[]): Promise<void> => {
    for (const sql of statements) truth.get(table)?.push(...(await changesOf(client, table, sql)));
  };
  await run(
    alltypes,
    `insert into e2e.alltypes values (1, ${ordinary})`,
    "insert into e2e.alltypes (id) values (2)",
    `insert into e2e.alltypes values (3, ${extreme})`,
    `insert into e2e.alltypes values (4, ${negative})`,
    "update e2e.alltypes set a_text = 'changed', a_numeric = 0.1, a_boolean = null, some_integers = null where id = 1",
    `update e2e.alltypes set (${columnCases.map(({ name }) => name).join(", ")}) = (select ${columnCases.map(({ name }) => name).join(", ")} from e2e.alltypes where id = 1) where id = 2`,
    "delete from e2e.alltypes where id = 3",
    "update e2e.alltypes set id = 40 where id = 4",
    "insert into e2e.alltypes (id, a_text) select n, 'row ' || n from generate_series(100, 399) as n",
    "delete from e2e.alltypes where id = 250",
  );
  await run(
    composite,
    "insert into e2e.composite values (1, 'old name', 5)",
    "insert into e2e.composite values (2, '', 0), (2, 'ü', -1)",
    "update e2e.composite set quantity = 6 where tenant = 1",
    "update e2e.composite set sku = 'renamed' where tenant = 1",
    "delete from e2e.composite where tenant = 2 and sku = ''",
  );
  await run(
    nopk,
    "insert into e2e.nopk values ('a', 1.5)",
    "insert into e2e.nopk values ('b', null)",
    "delete from e2e.nopk where note = 'a'",
  );
  await run(toasted, "insert into e2e.toasted values (1, 1, repeat('0123456789', 2000))", "update e2e.toasted set version = 2");
  await client.end();
}

/** A delete is two records, in a table without a key too: the second is the tombstone. */
function recordsOf(list: readonly TrueChange[]): number {
  return list.length + list.filter(({ op }) => op === "delete").length;
}

async function consume(
  { brokers, registryUrl, topics, total }: { brokers: string; registryUrl: string; topics: readonly string[]; total: number },
  events: Map<string, CdcEvent[]>,
): Promise<void> {
  const consumer = createConsumer({
    driver: kafkajs({ brokers: [brokers] }),
    groupId: `end-to-end-${process.pid}`,
    topics,
    registry: { url: registryUrl },
    decoder: { topics: hints },
    signals: false,
  });
  let count = 0;
  const take = (event: CdcEvent): void => {
    const { topic } = event.record;
    events.set(topic, [...(events.get(topic) ?? []), event.detach()]);
    if (++count === total) void consumer.stop();
  };
  await consumer.on("*", take).on("tombstone", take).run();
}

function tableOf(topic: string): FollowedTable {
  return tables.find(({ name }) => topic.endsWith(name)) ?? alltypes;
}

function changes(events: ReadonlyMap<string, CdcEvent[]>, format: Format, { name }: FollowedTable): ChangeEvent[] {
  return (events.get(`${format}.${name}`) ?? []).filter((event): event is ChangeEvent => event.kind === "change");
}

/** An event in the words of SQL. */
function shown({ op, before, after }: ChangeEvent, { cases }: FollowedTable, format: Format): unknown {
  const show = (row: Columns | null): unknown =>
    row &&
    Object.fromEntries(
      cases.map(({ name, show: plainly = String, showPlain }) => {
        const value = row[name];
        return [name, value === null ? null : ((format === "jn" ? showPlain : undefined) ?? plainly)(value)];
      }),
    );
  return { op, before: show(before), after: show(after) };
}

/** What SQL says, in the form of the value table. */
function fromSql({ op, before, after }: TrueChange, { cases }: FollowedTable): unknown {
  const form = (row: TrueChange["before"]): unknown =>
    row &&
    Object.fromEntries(
      cases.map(({ name, fromSql: convert = String }) => {
        const text = row[name];
        return [name, text === null || text === undefined ? null : convert(text)];
      }),
    );
  return { op, before: form(before), after: form(after) };
}

const nothing: ReadonlySet<string> = new Set();

/** What an event says that does not depend on how it was written. */
function whatChanged({ op, table, key, before, after, keyChange }: ChangeEvent, without: ReadonlySet<string> = nothing): unknown {
  const rest = (row: Columns | null): unknown => row && Object.fromEntries(Object.entries(row).filter(([name]) => !without.has(name)));
  return { op, table, key, keyChange, before: rest(before), after: rest(after) };
}
