import type { Columns } from "@cdckit/decode";
import { memory } from "@cdckit/testkit";
import { describe, expect, expectTypeOf, test } from "vitest";
import { createConsumer } from "./consumer.ts";
import type { StandardSchema } from "./routing/row-checks.ts";

interface Order {
  readonly id: number;
  readonly total: string;
}

describe("the types of handlers", () => {
  test("a handler knows its row, its key and its operation", () => {
    const consumer = createConsumer({ driver: memory({ topics: { t: 1 } }), groupId: "g", topics: ["t"] });
    consumer
      .on<Order, { readonly id: number }>("inventory.orders", {
        create: (event) => {
          expectTypeOf(event.op).toEqualTypeOf<"create">();
          expectTypeOf(event.after).toEqualTypeOf<Order>();
          expectTypeOf(event.key).toEqualTypeOf<{ readonly id: number } | null>();
        },
        update: async (event) => {
          expectTypeOf(event.before).toEqualTypeOf<Order | null>();
        },
        delete: (event) => {
          expectTypeOf(event.after).toEqualTypeOf<null>();
        },
      })
      .on("shop.inventory.orders", {
        batch: (events) => {
          expectTypeOf(events[0]?.kind).toEqualTypeOf<"change" | "row" | "truncate" | "tombstone" | undefined>();
        },
      })
      .on("transaction", (event) => {
        expectTypeOf(event.status).toEqualTypeOf<"begin" | "end">();
      })
      .on("*", (event) => {
        expectTypeOf(event.kind).toExtend<string>();
      });
  });

  test("a handler with columns knows a row of these columns", () => {
    interface Tables {
      readonly "sales.orders": { readonly row: Order; readonly key: { readonly id: number } };
    }
    const options = { driver: memory({ topics: { t: 1 } }), groupId: "g", topics: ["t"] } as const;
    const validate = (value: unknown) => ({ value: value as { readonly id: number } });
    const schema: StandardSchema<{ readonly id: number }> = { "~standard": { version: 1, vendor: "test", validate } };
    const typed = () => createConsumer<Tables>(options);
    const untyped = () => createConsumer(options);
    typed().on("sales.orders", {
      columns: ["id"],
      ops: ["update", "delete"],
      update: ({ after, before, key }) => {
        expectTypeOf(after).toEqualTypeOf<Pick<Order, "id">>();
        expectTypeOf(before).toEqualTypeOf<Pick<Order, "id"> | null>();
        expectTypeOf(key).toEqualTypeOf<{ readonly id: number } | null>();
      },
    });
    // @ts-expect-error -- a column that the table does not have
    typed().on("sales.orders", { columns: ["id", "totl"], update: () => {} });
    // @ts-expect-error -- a column that was not asked for
    typed().on("sales.orders", { columns: ["id"], update: ({ after }) => void after.total });
    // @ts-expect-error -- no operation
    expect(() => typed().on("sales.orders", { ops: ["insert"], batch: () => {} })).toThrow("ops expects");
    typed().on("*", { columns: ["id"], create: () => {} });
    // @ts-expect-error -- a batch takes every event of the table
    expect(() => untyped().on("sales.orders", { batch: () => {}, create: () => {} })).toThrow("has batch and create");
    // @ts-expect-error -- the same with keys that are validated
    expect(() => typed().on("sales.orders", { batch: () => {}, create: () => {} }, { key: schema })).toThrow("has batch and create");
    // The compiler's error stands at the mistake, and not at the name of the table.
    const misspelt = () =>
      typed().on("sales.orders", {
        // @ts-expect-error -- no handler
        created: () => {},
      });
    expect(misspelt).toThrow('handler "created" is unknown');
    typed().on("sales.orders", {
      // @ts-expect-error -- a column that the table does not have
      columns: ["id", "totl"],
      update: () => {},
    });
    untyped().on("sales.orders", {
      columns: ["id"],
      create: ({ after }) => void expectTypeOf(after).toEqualTypeOf<Pick<Columns, "id">>(),
    });
    untyped().on<Order, { readonly id: number }, "total">("sales.orders", {
      columns: ["total"],
      create: ({ after }) => void expectTypeOf(after).toEqualTypeOf<Pick<Order, "total">>(),
    });
    // @ts-expect-error -- the row type has columns that are not asked for
    untyped().on<Order>("sales.orders", { columns: ["id"], create: () => {} });
    typed().on("sales.orders", { columns: ["id"], create: () => {} }, { row: schema });
  });

  test("with a map of tables, a name that is not in it does not compile", () => {
    interface Tables {
      readonly "sales.orders": { readonly row: Order; readonly key: { readonly id: number } };
    }
    const typed = () => createConsumer<Tables>({ driver: memory({ topics: { t: 1 } }), groupId: "g", topics: ["t"] });
    typed()
      .on("sales.orders", { create: ({ after }) => void expectTypeOf(after).toEqualTypeOf<Order>() })
      .on("*", () => {})
      .on("heartbeat", () => {});
    typed().on("*", { create: () => {} });
    // @ts-expect-error -- a misspelt table
    typed().on("sales.odrers", { create: () => {} });
    // @ts-expect-error -- a misspelt table
    typed().on("sales.odrers", { batch: () => {} });
    // @ts-expect-error -- a misspelt table
    typed().pipe("sales.odrers", () => []);
    typed().pipe("sales.orders", (events) => {
      expectTypeOf(events[0]?.kind).toEqualTypeOf<"change" | "row" | "truncate" | "tombstone" | undefined>();
      return [];
    });
    createConsumer({ driver: memory({ topics: { t: 1 } }), groupId: "g", topics: ["t"] }).on("any.table", { create: () => {} });
  });

  test("a stream knows the tables, and the operation says whether there is an after row", () => {
    interface Tables {
      readonly "sales.orders": { readonly row: Order; readonly key: { readonly id: number } };
    }
    const consumer = createConsumer<Tables>({ driver: memory({ topics: { t: 1 } }), groupId: "g", topics: ["t"] });
    const loop = async () => {
      for await (const { event, done } of consumer.stream()) {
        if (event.kind === "change" && event.op === "create") {
          expectTypeOf(event.after).toEqualTypeOf<Order>();
          expectTypeOf(event.key).toEqualTypeOf<{ readonly id: number } | null>();
        } else if (event.kind === "change" && event.op === "delete") {
          expectTypeOf(event.after).toEqualTypeOf<null>();
        } else if (event.kind === "heartbeat") {
          expectTypeOf(event.tsMs).toEqualTypeOf<number | null>();
        }
        expectTypeOf(done).toEqualTypeOf<() => void>();
      }
    };
    expectTypeOf(loop).returns.toEqualTypeOf<Promise<void>>();
  });

  test("a key that a validator has passed is not null", () => {
    interface Key {
      readonly id: number;
    }
    const key: StandardSchema<Key> = { "~standard": { version: 1, vendor: "test", validate: (value) => ({ value: value as Key }) } };
    const consumer = createConsumer({ driver: memory({ topics: { t: 1 } }), groupId: "g", topics: ["t"] });
    consumer
      .on<Order, Key>("a.orders", { create: (event) => void expectTypeOf(event.key.id).toEqualTypeOf<number>() }, { key })
      .on<Order, Key>("b.orders", { create: (event) => void expectTypeOf(event.key).toEqualTypeOf<Key | null>() });
    createConsumer<{ readonly "sales.orders": { readonly row: Order; readonly key: Key } }>({
      driver: memory({ topics: { t: 1 } }),
      groupId: "g",
      topics: ["t"],
    }).on("sales.orders", { delete: ({ key: passed }) => void expectTypeOf(passed.id).toEqualTypeOf<number>() }, { key });
  });
});
