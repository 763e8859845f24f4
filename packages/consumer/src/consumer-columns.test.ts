import type { CdcEvent, ChangeEvent } from "@cdckit/decode";
import { memory, MemoryBroker, virtualClock } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { type Consumer, createConsumer } from "./consumer.ts";
import type { ConsumerOptions } from "./options.ts";
import type { StandardSchema } from "./routing/row-checks.ts";
import type { Sink } from "./sink.ts";

/** Handlers with `columns` and `ops`: what they get, what others get, and what is decoded. */

interface Order {
  readonly id: number;
  readonly state: string;
  readonly total: number;
}

const row = (id: number): Order => ({ id, state: "open", total: 10 * id });

function change(op: string, id: number, table: string = "orders"): string {
  const before = op === "c" || op === "r" ? null : row(id);
  const after = op === "d" ? null : row(id);
  const source = { version: "3.5.0.Final", connector: "postgresql", name: "shop", db: "shop", schema: "public", table, ts_ms: 1 };
  return JSON.stringify({ before, after, source, op, ts_ms: 1 });
}

const key = (id: number): string => JSON.stringify({ id });

interface Written {
  readonly key: string | null;
  readonly value: string | null;
}

const life: readonly Written[] = ["c", "u", "d"].map((op) => ({ key: key(1), value: change(op, 1) }));

interface Trial {
  readonly warnings: readonly string[];
  readonly reasons: readonly string[];
  readonly error: unknown;
  readonly committed: bigint | null;
  readonly dead: number;
}

/** Consumes the records of the topic `shop.public.orders`. */
async function consume(
  attach: (consumer: Consumer) => unknown,
  records: readonly Written[] = life,
  options: Partial<ConsumerOptions> = {},
): Promise<Trial> {
  const clock = virtualClock();
  const topic = "shop.public.orders";
  const broker = new MemoryBroker({ [topic]: 1, dead: 1 }, { clock });
  broker.append(topic, ...records);
  const warnings: string[] = [];
  const warn = (fields: object): void => void warnings.push(String((fields as Record<string, unknown>)["reason"]));
  const logger = { debug: () => {}, info: () => {}, warn, error: () => {} };
  const driver = memory({ broker });
  const consumer = createConsumer({ driver, groupId: "g", topics: [topic], signals: false, clock, logger, ...options });
  attach(consumer);
  let reasons: readonly string[] = [];
  clock.after(6_000, () => {
    ({ reasons } = consumer.health());
    void consumer.stop();
  });
  const error = await clock.run(
    consumer.run().then(
      () => null,
      (thrown: unknown) => thrown,
    ),
  );
  return { warnings, reasons, error, committed: broker.committed("g", topic, 0), dead: Number(broker.endOffset("dead", 0)) };
}

const imagesOf = ({ op, before, after }: ChangeEvent): unknown => [op, before, after];

describe("a handler with columns", () => {
  test("gets rows with these columns, and everything else of the event", async () => {
    const seen: unknown[] = [];
    const see = (event: ChangeEvent): void => void seen.push([...(imagesOf(event) as unknown[]), event.key, event.source.connector]);
    await consume((consumer) => consumer.on("public.orders", { columns: ["id", "state"], create: see, update: see, delete: see }));
    const cut = { id: 1, state: "open" };
    expect(seen).toEqual([
      ["create", null, cut, { id: 1 }, "postgresql"],
      ["update", cut, cut, { id: 1 }, "postgresql"],
      ["delete", cut, null, { id: 1 }, "postgresql"],
    ]);
  });

  test("leaves whole rows to handlers without columns, and to other tables", async () => {
    const seen: unknown[] = [];
    const see = (event: ChangeEvent): void => void seen.push([event.table.name, ...(imagesOf(event) as unknown[])]);
    const records = [0, 1, 2].flatMap((id) => [...life, { key: key(id), value: change("c", id, "items") }]);
    await consume(
      (consumer) =>
        consumer
          .on("orders", { columns: ["total"], create: see })
          .on("orders", { columns: ["id"], delete: see })
          .on("orders", { update: see })
          .on("*", (event) => see(event as ChangeEvent)),
      records,
    );
    expect(seen).toEqual(
      [0, 1, 2].flatMap((id) => [
        ["orders", "create", null, { total: 10 }],
        ["orders", "update", row(1), row(1)],
        ["orders", "delete", { id: 1 }, null],
        ["items", "create", null, row(id)],
      ]),
    );
  });

  test("takes batches, and rows without an envelope", async () => {
    const batches: unknown[] = [];
    const rows: unknown[] = [];
    await consume((consumer) =>
      consumer.on("orders", {
        columns: ["id"],
        batch: (events) => void batches.push(...events.map((event) => event.kind === "change" && event.before)),
      }),
    );
    await consume(
      (consumer) => consumer.on("orders", { columns: ["id"], row: (event) => void rows.push(event.row) }),
      [{ key: null, value: JSON.stringify(row(4)) }],
    );
    expect(batches).toEqual([null, { id: 1 }, { id: 1 }]);
    expect(rows).toEqual([{ id: 4 }]);
  });

  test("has its rows validated as it gets them", async () => {
    const given: unknown[] = [];
    const validate = (value: unknown): { value: { id: number } } => {
      given.push(value);
      return { value: { id: (value as { id: number }).id + 100 } };
    };
    const schema: StandardSchema<{ id: number }> = { "~standard": { version: 1, vendor: "test", validate } };
    const seen: unknown[] = [];
    const see = (event: ChangeEvent): void => void seen.push(event.after);
    await consume((consumer) => consumer.on("orders", { columns: ["id"], create: see as never }, { row: schema as never }));
    expect([given, seen]).toEqual([[{ id: 1 }], [{ id: 101 }]]);
  });

  test("merges its columns with applyTo, and detaches like any other", async () => {
    const kept: CdcEvent[] = [];
    const merged: unknown[] = [];
    const update = (event: ChangeEvent): void => {
      merged.push(event.applyTo({ id: 1, state: "new" }));
      kept.push(event.detach());
    };
    await consume((consumer) => consumer.on("orders", { columns: ["id", "state"], update }));
    expect(merged).toEqual([{ id: 1, state: "open" }]);
    expect((kept[0] as ChangeEvent).source.connector).toBe("postgresql");
    expect(Buffer.from(kept[0]?.record.value ?? []).toString()).toBe(change("u", 1));
  });

  test("does not narrow what a sink of the same table gets", async () => {
    const applied: unknown[] = [];
    const sink: Sink = {
      name: "copy",
      claim: async () => [],
      apply: async ({ events }) => void applied.push(...events.map((event) => (event as ChangeEvent).after)),
      close: async () => {},
    };
    await consume((consumer) => consumer.on("orders", { columns: ["id"], create: () => {} }).to(sink));
    expect(applied).toEqual([row(1), row(1), null]);
  });

  test("a validator changes nothing of what a sink of the same table gets", async () => {
    const applied: unknown[] = [];
    const sink: Sink = {
      name: "copy",
      claim: async () => [],
      apply: async ({ events }) => void applied.push(...events.map((event) => event.toObject())),
      close: async () => {},
    };
    const validate = (value: unknown): { value: { id: string } } => ({ value: { id: String((value as { id: number }).id) } });
    const schema: StandardSchema<{ id: string }> = { "~standard": { version: 1, vendor: "test", validate } };
    const seen: unknown[] = [];
    const see = (event: CdcEvent): void => void seen.push(event.toObject());
    const handlers = { create: see, update: see, delete: see, row: see, tombstone: see } as const;
    const records = [...life, { key: key(1), value: null }, { key: key(4), value: JSON.stringify(row(4)) }];
    await consume((consumer) => consumer.on("orders", handlers as never, { row: schema, key: schema }).to(sink), records);
    expect(applied).toMatchObject([
      { key: { id: 1 }, before: null, after: row(1) },
      { key: { id: 1 }, before: row(1), after: row(1) },
      { key: { id: 1 }, before: row(1), after: null },
      { kind: "tombstone", key: { id: 1 } },
      { kind: "row", key: { id: 4 }, row: row(4) },
    ]);
    expect(seen).toMatchObject([
      { key: { id: "1" }, before: null, after: { id: "1" } },
      { key: { id: "1" }, before: { id: "1" }, after: { id: "1" } },
      { key: { id: "1" }, before: { id: "1" }, after: null },
      { kind: "tombstone", key: { id: "1" } },
      { kind: "row", key: { id: "4" }, row: { id: "4" } },
    ]);
  });

  test("a record that does not decode is a dead letter, and its bytes are whole", async () => {
    const records = [...life, { key: key(1), value: '{"before":null,"after":{"id":1' }, ...life];
    const failure = { poison: "dead-letter", deadLetterTopic: "dead" } as const;
    const { committed, dead } = await consume((consumer) => consumer.on("orders", { columns: ["id"], batch: () => {} }), records, {
      failure,
    });
    expect([committed, dead]).toEqual([7n, 1]);
  });

  test("with a column that no row has is a warning and a reason", async () => {
    const { warnings, reasons } = await consume((consumer) => consumer.on("orders", { columns: ["id", "stat"], create: () => {} }));
    const text = 'reads columns that no row has had: "stat"';
    expect(reasons.filter((reason) => reason.includes(text))).toHaveLength(1);
    expect(warnings.filter((warning) => warning.includes(text))).toHaveLength(1);
    const { reasons: none } = await consume((consumer) => consumer.on("orders", { columns: ["id"], create: () => {} }));
    expect(none.filter((reason) => reason.includes("columns"))).toEqual([]);
  });

  test.each([[[]], ["id"], [[1]], [[""]]])("columns %j are refused", async (columns) => {
    await expect(consume((consumer) => consumer.on("orders", { columns: columns as never, create: () => {} }))).rejects.toThrow(
      'on("orders"): columns expects a list of at least one name of a column',
    );
  });
});

describe("a handler with ops", () => {
  test("gets no change with another operation, but tombstones and truncates", async () => {
    const kinds: string[] = [];
    const records = [...life, { key: key(1), value: null }];
    const batch = (events: readonly CdcEvent[]): void =>
      void kinds.push(...events.map((event) => (event.kind === "change" ? event.op : event.kind)));
    const { committed } = await consume((consumer) => consumer.on("orders", { ops: ["create", "update"], batch }), records);
    expect(kinds).toEqual(["create", "update", "tombstone"]);
    expect(committed).toBe(4n);
  });

  test("halts with strict before a change with another operation", async () => {
    const { error, committed } = await consume((consumer) => consumer.on("orders", { ops: ["create"], create: () => {} }), life, {
      strict: true,
    });
    expect([(error as Error | null)?.name, committed]).toEqual(["ConsumerError", 1n]);
  });

  test("has broken changes of other operations set aside, and the others counted as filtered", async () => {
    const broken = { key: key(1), value: change("u", 1).replace('"total":10', '"total":1x') };
    const updates = Array.from({ length: 300 }, () => ({ key: key(1), value: change("u", 1) }));
    const failure = { poison: "dead-letter", deadLetterTopic: "dead" } as const;
    const seen: unknown[] = [];
    const handlers = { ops: ["delete"], delete: (event: ChangeEvent) => void seen.push(event.before) } as const;
    const { committed, dead } = await consume((consumer) => consumer.on("orders", handlers), [...updates, broken, ...life], { failure });
    expect([seen, committed, dead]).toEqual([[row(1)], 304n, 1]);
  });

  test("that leave out its own handlers, or are no operations, are refused", async () => {
    await expect(consume((consumer) => consumer.on("orders", { ops: ["create"], delete: () => {} }))).rejects.toThrow(
      "a handler for delete",
    );
    await expect(consume((consumer) => consumer.on("orders", { ops: ["insert" as never], batch: () => {} }))).rejects.toThrow(
      "ops expects",
    );
  });
});
