import { memory } from "@cdckit/testkit";
import { describe, expectTypeOf, test } from "vitest";
import { createConsumer } from "./consumer.ts";

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
});
