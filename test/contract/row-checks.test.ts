import { createConsumer, isConsumerError, type StandardSchema } from "@cdckit/consumer";
import { memory } from "@cdckit/testkit";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";

interface Product {
  readonly id: number;
  readonly name: string;
}

const good = JSON.stringify({
  op: "u",
  before: { id: 1, name: "nut" },
  after: { id: 1, name: "bolt" },
  source: { connector: "postgresql", schema: "inventory", table: "products" },
});
const bad = good.replace('"bolt"', "7");

const validators: readonly (readonly [string, StandardSchema<Product>])[] = [
  ["zod", z.object({ id: z.number(), name: z.string() })],
  ["valibot", v.object({ id: v.number(), name: v.string() })],
  ["arktype", type({ id: "number", name: "string" })],
];

async function consume(
  values: readonly string[],
  row: StandardSchema<Product>,
  batch = false,
): Promise<{ seen: unknown[]; error: unknown; committed: bigint | null }> {
  const driver = memory({ topics: { t: 1 } });
  for (const value of values) {
    driver.broker.append("t", { key: '{"id":1}', value });
  }
  const consumer = createConsumer({ driver, groupId: "g", topics: ["t"], signals: false });
  const seen: unknown[] = [];
  const see = (event: unknown): void => {
    seen.push(event);
    if (seen.length === values.length) {
      void consumer.stop();
    }
  };
  const handlers = batch ? { batch: (events: readonly unknown[]) => events.forEach(see) } : { update: see };
  consumer.on("inventory.products", handlers, { row });
  const error: unknown = await consumer.run().catch((thrown: unknown) => thrown);
  return { seen, error, committed: driver.broker.committed("g", "t", 0) };
}

describe.each(validators)("rows checked by %s", (_name, row) => {
  test("an event that passes reaches its handler", async () => {
    const { seen, error } = await consume([good, good], row);
    expect(error).toBeUndefined();
    expect(seen).toMatchObject([{ after: { id: 1, name: "bolt" } }, { after: { id: 1, name: "bolt" } }]);
  });

  test("one with a column that the source did not send says that it is UNAVAILABLE, and what to do", async () => {
    const { error } = await consume([good.replace('"bolt"', '"__debezium_unavailable_value"')], row);
    expect((error as Error).message).toMatch(/^\[invalid-row\] .* at name; .*; name is UNAVAILABLE.*union.*REPLICA IDENTITY FULL/);
  });

  test.each([false, true])("one that does not halts the consumer before it, without saying the value (in a batch: %s)", async (batch) => {
    const { seen, error, committed } = await consume([good, bad], row, batch);
    expect(isConsumerError(error) && error.code).toBe("invalid-row");
    expect((error as Error).message).toMatch(/^\[invalid-row\] t\[0\]@1: .*name/);
    expect((error as Error).message).not.toContain("7");
    expect(seen.length).toBe(1); // of a batch, too: its records are handed on one by one before it halts
    expect(committed).toBe(1n);
  });
});

test("what a validator gives takes the row's place, also if it takes its time", async () => {
  const row = z.object({ id: z.number(), name: z.string().transform(async (name) => name.toUpperCase()) });
  const { seen } = await consume([good], row);
  expect(seen).toMatchObject([{ before: { name: "NUT" }, after: { name: "BOLT" } }]);
});

test("a before image of the key alone is not checked, and a truncate passes", async () => {
  const gone = JSON.stringify({
    op: "d",
    before: { id: 1, name: null },
    after: null,
    source: { connector: "postgresql", schema: "inventory", table: "products" },
  });
  const { seen, error } = await consume([gone], z.object({ id: z.number(), name: z.string() }), true);
  expect(error).toBeUndefined();
  expect(seen).toMatchObject([{ op: "delete", before: { id: 1, name: null } }]);
});

test("a validator that is none is named when it is given", () => {
  const consumer = createConsumer({ driver: memory({ topics: { t: 1 } }), groupId: "g", topics: ["t"] });
  const refused = (checks: unknown) => () => consumer.on("a.b", { create: () => {} }, checks as never);
  expect(refused({ row: {} })).toThrow(/"row" is no Standard Schema/);
  expect(refused({ rows: z.string() })).toThrow(/"rows" is unknown/);
});

test("what is no object of validators is refused: with a validator in its place, no row would be checked", () => {
  const consumer = createConsumer({ driver: memory({ topics: { t: 1 } }), groupId: "g", topics: ["t"] });
  const refused = (checks: unknown) => () => consumer.on("a.b", { create: () => {} }, checks as never);
  for (const [checks, found] of [
    ...validators.map(([, validator]) => [validator, "a validator"] as const),
    [null, "null"],
    [[], "an array"],
    [() => {}, "a function"],
  ] as const) {
    expect(refused(checks)).toThrow(`on("a.b") expects validators as { row, key }, found ${found}`);
  }
  const withFunction = () => consumer.on("*", (() => {}) as never, { row: z.string() } as never);
  expect(withFunction).toThrow('on("*") takes validators with an object of handlers alone');
});

test("a column with very many items that do not pass is named in a short message, and in a short time", async () => {
  const tags = Array.from({ length: 60_000 }, () => "x");
  const value = JSON.stringify({
    op: "c",
    before: null,
    after: { tags, ["n".repeat(1_000)]: 1 },
    source: { connector: "postgresql", schema: "inventory", table: "products" },
  });
  const driver = memory({ topics: { t: 1 } });
  driver.broker.append("t", { key: '{"id":1}', value });
  const consumer = createConsumer({ driver, groupId: "g", topics: ["t"], signals: false });
  const row = z.object({ tags: z.array(z.number()) }).catchall(z.string());
  const before = process.cpuUsage();
  const { message } = (await consumer
    .on("products", { create: () => {} }, { row })
    .run()
    .catch((error: unknown) => error)) as Error;
  expect(message).toMatch(/ does not at tags\.0, tags\.1, .*tags\.9 and 59991 more places; /);
  expect(message.length).toBeLessThan(1_000);
  expect(process.cpuUsage(before).user / 1e3).toBeLessThan(5_000);
});

test("the types of tables come from a map of them, or from validators", () => {
  interface Tables {
    readonly "inventory.products": { readonly row: Product; readonly key: { readonly id: number } };
  }
  const consumer = createConsumer<Tables>({ driver: memory({ topics: { t: 1 } }), groupId: "g", topics: ["t"] });
  consumer.on("inventory.products", {
    create: (event) => {
      expectTypeOf(event.after).toEqualTypeOf<Product>();
      expectTypeOf(event.key).toEqualTypeOf<{ readonly id: number } | null>();
    },
  });
  createConsumer({ driver: memory({ topics: { t: 1 } }), groupId: "g", topics: ["t"] }).on(
    "inventory.orders",
    {
      create: (event) => {
        expectTypeOf(event.after).toEqualTypeOf<{ total: string }>();
      },
    },
    { row: z.object({ total: z.string() }) },
  );
});
