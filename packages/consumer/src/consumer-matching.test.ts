import type { RecordCursor } from "@cdckit/decode";
import { memory, MemoryBroker, virtualClock } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { type Consumer, createConsumer } from "./consumer.ts";
import type { Logger } from "./observe/logger.ts";
import type { ConsumerOptions } from "./options.ts";
import type { Sink } from "./sink.ts";

const envelope = (schema: string, table: string, op: string) =>
  JSON.stringify({
    op,
    before: null,
    after: { id: 1 },
    source: { version: "3.5.0.Final", connector: "postgresql", name: "av", db: "adventure", schema, table, ts_ms: 1, snapshot: "false" },
    ts_ms: 1,
  });

interface Trial {
  readonly warnings: string[];
  readonly health: ReturnType<Consumer["health"]>;
  /** After the run. */
  readonly healthAtEnd: ReturnType<Consumer["health"]>;
  readonly error: unknown;
  readonly committed: bigint | null;
}

/** Consumes creates of two tables, each in its topic, and reads the health 6 s later. */
async function consume(attach: (consumer: Consumer) => unknown, options: Partial<ConsumerOptions> = {}, lasts = 6_000): Promise<Trial> {
  const clock = virtualClock();
  const broker = new MemoryBroker({ "av.sales.orders": 1, "av.sales.items": 1, "av.sales.quiet": 1, dead: 1 }, { clock });
  broker.append("av.sales.orders", ...Array.from({ length: 5 }, () => ({ key: null, value: envelope("sales", "orders", "c") })));
  broker.append("av.sales.items", { key: null, value: envelope("sales", "items", "c") });
  const warnings: string[] = [];
  const logger: Logger = {
    debug: () => {},
    info: () => {},
    warn: (fields) => void warnings.push(String(fields["reason"])),
    error: () => {},
  };
  const consumer = createConsumer({
    driver: memory({ broker }),
    groupId: "g",
    topics: [/^av\./],
    signals: false,
    clock,
    logger,
    ...options,
  });
  attach(consumer);
  let health = consumer.health();
  clock.after(lasts, () => {
    health = consumer.health();
    void consumer.stop();
  });
  const error = await clock.run(
    consumer.run().then(
      () => null,
      (thrown: unknown) => thrown,
    ),
  );
  return { warnings, health, healthAtEnd: consumer.health(), error, committed: broker.committed("g", "av.sales.orders", 0) };
}

const sink = (name: string): Sink => ({ name, claim: async () => [], apply: async () => {}, close: async () => {} });

describe("a handler that matches nothing", () => {
  test.each([
    ["a table that does not exist", (consumer: Consumer) => consumer.on("sales.odrers", { create: () => {} })],
    ["an operation that does not come", (consumer: Consumer) => consumer.on("sales.orders", { update: () => {} })],
    ["a sink's table that does not exist", (consumer: Consumer) => consumer.to(sink("copy"), { tables: ["sales.odrers"] })],
    ["a pipe's", (consumer: Consumer) => consumer.pipe("sales.odrers", () => [])],
  ])("%s is a warning and a reason, with the tables that were read", async (_name, attach) => {
    const { warnings, health, error } = await consume(attach);
    expect(error).toBe(null);
    expect(health.ready).toBe(true);
    const reason = health.reasons.find((text) => text.includes("has taken nothing"));
    expect(reason).toContain("adventure.sales.orders (create), adventure.sales.items (create)");
    expect(warnings.filter((text) => text.includes("has taken nothing"))).toEqual([reason]);
  });

  test("is a warning even after a short run", async () => {
    const { warnings, health, healthAtEnd } = await consume((consumer) => consumer.on("sales.odrers", { create: () => {} }), {}, 1_000);
    expect(warnings.join()).toContain("has taken nothing");
    expect(health.reasons.join()).not.toContain("has taken nothing"); // the next record may be for the handler
    expect(healthAtEnd.reasons).toEqual(["stopped", ...warnings]);
  });

  test.each([
    ["the table", "sales.orders"],
    ["its last part", "orders"],
    ["its full name", "adventure.sales.orders"],
    ["its topic", "av.sales.orders"],
    ["a table whose topic had no records", "sales.quiet"],
  ])("%s is no warning", async (_name, pattern) => {
    const seen: string[] = [];
    const { warnings, health } = await consume((consumer) => consumer.on(pattern, { create: (event) => void seen.push(event.table.name) }));
    expect(seen).toEqual(pattern.endsWith("quiet") ? [] : Array.from({ length: 5 }, () => "orders"));
    expect(warnings).toEqual([]);
    expect(health.reasons).toEqual([]);
  });

  test("the end of two tables' names is a warning that names both", async () => {
    const { warnings, health } = await consume(
      (consumer) => consumer.on("sales.orders", { create: () => {} }).on("t", { create: () => {} }),
      {
        decoder: {
          decode: () => [],
          explain: () => Promise.reject(new Error("not used")),
          decodeAt: ({ batch, record }) => {
            const offset = batch.offsetAt(record);
            const at = { topic: batch.topic, partition: 0, offset };
            return [{ kind: "change", op: "create", table: { schema: offset % 2n === 0n ? "a" : "b", name: "t" }, record: at } as never];
          },
        },
      },
    );
    expect(health.reasons.join()).toContain('on("t") with create is ambiguous: it takes a.t and b.t');
    expect(warnings.join()).toContain("a.t and b.t");
  });
});

describe.each([[{}], [{ concurrency: 4 }], [{ batch: { maxEvents: 2 } }]])("with %j", (delivery) => {
  test("the record of an event is asked for once a table: our decoder makes it where somebody reads it, which most handlers do not", async () => {
    let asked = 0;
    const decodeAt = ({ batch, record }: RecordCursor): never[] => {
      const at = { topic: batch.topic, partition: 0, offset: batch.offsetAt(record) };
      const event = {
        kind: "change",
        op: "create",
        table: { schema: "s", name: batch.topic },
        get record() {
          asked++;
          return at;
        },
      };
      return [event as never]; // as much of an event as is looked at
    };
    const decoder = { decode: () => [], explain: () => Promise.reject(new Error("not used")), decodeAt };
    const { committed } = await consume((consumer) => consumer.on("*", { create: () => {} }), { decoder, delivery });
    expect([committed, asked]).toEqual([5n, 2]);
  });
});

describe("strict", () => {
  for (const delivery of [{}, { concurrency: 4 }, { batch: { maxEvents: 2 } }]) {
    test(`halts in front of an event that nobody takes, with ${JSON.stringify(delivery)}`, async () => {
      const { error, committed } = await consume((consumer) => consumer.on("sales.items", { create: () => {} }), {
        strict: true,
        delivery,
      });
      expect(error).toMatchObject({ code: "unhandled-event", at: { topic: "av.sales.orders", offset: 0n } });
      expect(String(error)).toContain("the create of adventure.sales.orders at av.sales.orders[0]@0");
      expect(committed ?? 0n).toBe(0n);
    });

    test(`dead letters do not take it, with ${JSON.stringify(delivery)}`, async () => {
      const failure = { poison: "dead-letter", deadLetterTopic: "dead", breaker: false } as const;
      const { error } = await consume((consumer) => consumer.on("orders", { update: () => {} }), { strict: true, delivery, failure });
      expect(error).toMatchObject({ code: "unhandled-event" });
    });

    test(`goes on where each event is taken, with ${JSON.stringify(delivery)}`, async () => {
      const { error, committed } = await consume((consumer) => consumer.on("orders", { create: () => {} }).on("*", () => {}), {
        strict: true,
        delivery,
      });
      expect([error, committed]).toEqual([null, 5n]);
    });
  }

  test("an event that no sink takes halts the consumer before a checkpoint passes it", async () => {
    const applied: bigint[] = [];
    const copy = { ...sink("copy"), apply: async ({ nextOffset }: { readonly nextOffset: bigint }) => void applied.push(nextOffset) };
    const all = await consume((consumer) => consumer.to(copy), { strict: true });
    expect([all.error, all.committed]).toEqual([null, 5n]);
    applied.length = 0;
    const one = await consume((consumer) => consumer.to(copy, { tables: ["sales.items"] }), { strict: true, topics: ["av.sales.orders"] });
    expect(one.error).toMatchObject({ code: "unhandled-event" });
    expect([applied, one.committed ?? 0n]).toEqual([[], 0n]);
  });

  test("is true or false", () => {
    expect(() => createConsumer({ driver: memory({ topics: { t: 1 } }), groupId: "g", topics: ["t"], strict: 1 as never })).toThrow(
      /strict must be/,
    );
  });
});
