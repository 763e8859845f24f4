import type { CdcEvent, TableName } from "@cdckit/decode";
import { describe, expect, test, vi } from "vitest";
import { isConsumerError } from "../errors.ts";
import { Router } from "./router.ts";

const orders: TableName = { database: "shop", schema: "inventory", name: "orders" };

function change(op: string, table: TableName): CdcEvent {
  return { kind: "change", op, table, record: { topic: "t" } } as unknown as CdcEvent; // the router reads nothing else
}

function tableless(kind: string): CdcEvent {
  return { kind, table: null, record: { topic: "t" } } as unknown as CdcEvent; // the router reads nothing else
}

function handlerOf(router: Router, event: CdcEvent): unknown {
  const target = router.targetOf(event);
  return typeof target === "string" ? target : target.handle;
}

function codeOf(action: () => void): string {
  try {
    action();
  } catch (error) {
    return isConsumerError(error) ? error.code : "another error";
  }
  return "no error";
}

describe("routing of table events", () => {
  test("two parts are schema.table if the source has schemas, and database.table if it has none", () => {
    const router = new Router();
    const create = vi.fn();
    router.add("inventory.orders", { create });
    expect(handlerOf(router, change("create", orders))).toBe(create);
    expect(handlerOf(router, change("create", { database: "inventory", name: "orders" }))).toBe(create);
    expect(handlerOf(router, change("create", { database: "inventory", schema: "dbo", name: "orders" }))).toBe("table-without-handler");
  });

  test("three parts are exact, and come before two", () => {
    const router = new Router();
    const [wide, exact] = [vi.fn(), vi.fn()];
    router.add("inventory.orders", { create: wide, update: wide });
    router.add("shop.inventory.orders", { create: exact });
    expect(handlerOf(router, change("create", orders))).toBe(exact);
    expect(handlerOf(router, change("update", orders))).toBe(wide);
    expect(handlerOf(router, change("create", { ...orders, database: "other" }))).toBe(wide);
  });

  test('"*" takes what no other handler took', () => {
    const router = new Router();
    const [create, rest, anything] = [vi.fn(), vi.fn(), vi.fn()];
    router.add("*", { create: rest, delete: rest });
    router.add("*", anything);
    router.add("inventory.orders", { create });
    expect(handlerOf(router, change("create", orders))).toBe(create);
    expect(handlerOf(router, change("delete", orders))).toBe(rest);
    expect(handlerOf(router, change("update", orders))).toBe(anything);
    expect(handlerOf(router, tableless("heartbeat"))).toBe(anything);
  });

  test("an event without a handler says why", () => {
    const router = new Router();
    router.add("inventory.orders", { create: vi.fn() });
    expect(handlerOf(router, change("update", orders))).toBe("operation-without-handler");
    expect(handlerOf(router, change("create", { schema: "inventory", name: "customers" }))).toBe("table-without-handler");
    expect(handlerOf(router, tableless("transaction"))).toBe("control-event-without-handler");
    expect(handlerOf(router, tableless("tombstone"))).toBe("table-without-handler");
  });

  test("a batch handler takes every event of its table", () => {
    const router = new Router();
    const batch = vi.fn();
    router.add("inventory.orders", { batch });
    for (const event of [change("create", orders), { kind: "tombstone", table: orders, record: { topic: "t" } } as unknown as CdcEvent]) {
      expect(router.targetOf(event)).toEqual({ kind: "batch", handle: batch });
    }
  });

  test("neighbouring events of different tables go to their own handlers", () => {
    const router = new Router();
    const [one, two] = [vi.fn(), vi.fn()];
    router.add("a.t", { create: one });
    router.add("b.t", { create: two });
    const events = ["a", "b", "a", "a", "b"].map((schema) => change("create", { schema, name: "t" }));
    expect(events.map((event) => handlerOf(router, event))).toEqual([one, two, one, one, two]);
  });

  test("tables with the names of properties of every object are tables like any other", () => {
    const router = new Router();
    const create = vi.fn();
    router.add("__proto__.constructor", { create });
    expect(handlerOf(router, change("create", { schema: "__proto__", name: "constructor" }))).toBe(create);
    expect(handlerOf(router, change("create", { schema: "toString", name: "valueOf" }))).toBe("table-without-handler");
  });
});

test.each([
  ["none at all", {}],
  ["one that is undefined", { update: undefined }],
  ["columns alone", { columns: ["id"] }],
])("an object of handlers with %s is refused, because every event would be committed unhandled", (_, handlers) => {
  for (const pattern of ["*", "orders"]) {
    const router = new Router();
    expect(codeOf(() => router.add(pattern, handlers))).toBe("invalid-handler");
    expect(router.isEmpty).toBe(true);
  }
});

describe("routing of control events", () => {
  test("a kind has a handler of its own", () => {
    const router = new Router();
    const heartbeat = vi.fn();
    router.add("heartbeat", heartbeat);
    expect(handlerOf(router, tableless("heartbeat"))).toBe(heartbeat);
    expect(handlerOf(router, tableless("message"))).toBe("control-event-without-handler");
  });

  test('on("tombstone") takes the tombstones that no table handler took', () => {
    const router = new Router();
    const [own, others] = [vi.fn(), vi.fn()];
    router.add("inventory.orders", { tombstone: own });
    router.add("tombstone", others);
    expect(handlerOf(router, { kind: "tombstone", table: orders, record: { topic: "t" } } as unknown as CdcEvent)).toBe(own);
    expect(handlerOf(router, tableless("tombstone"))).toBe(others);
  });
});

describe("patterns", () => {
  const isTopic = (text: string): boolean => text === "av.inventory.orders" || text === "a.b.c.d";

  test("the end of a table's name (only whole parts) and the name of its topic match", () => {
    for (const [pattern, topic, takes] of [
      ["orders", "t", true],
      ["rders", "t", false],
      ["inventory.orders", "t", true],
      ["ory.orders", "t", false],
      ["shop.inventory.orders", "t", true],
      ["av.inventory.orders", "av.inventory.orders", true],
      ["av.inventory.orders", "t", false],
      ["a.b.c.d", "a.b.c.d", true],
    ] as const) {
      const router = new Router({ isTopic });
      const create = vi.fn();
      router.add(pattern, { create });
      const event = { ...change("create", orders), record: { topic } } as unknown as CdcEvent;
      expect(handlerOf(router, event)).toBe(takes ? create : "table-without-handler");
    }
  });

  test("one table in two topics goes to the handler of each topic", () => {
    const router = new Router({ isTopic });
    const [mine, other] = [vi.fn(), vi.fn()];
    router.add("av.inventory.orders", { create: mine });
    router.add("orders", { create: other });
    const from = (topic: string): CdcEvent => ({ ...change("create", orders), record: { topic } }) as unknown as CdcEvent;
    for (const [topic, expected] of [
      ["t", other],
      ["av.inventory.orders", mine],
      ["t", other],
      ["a.b.c.d", other],
    ] as const) {
      expect(handlerOf(router, from(topic))).toBe(expected);
    }
  });

  test("a row of no known table goes to the handler of its topic", () => {
    const router = new Router({ isTopic });
    const row = vi.fn();
    router.add("av.inventory.orders", { row });
    expect(handlerOf(router, { ...tableless("row"), record: { topic: "av.inventory.orders" } } as unknown as CdcEvent)).toBe(row);
    expect(handlerOf(router, tableless("row"))).toBe("table-without-handler");
  });
});

describe("registrations that contradict themselves are refused", () => {
  test.each([
    ["no text", "", { create: vi.fn() }],
    ["four parts", "a.b.c.d", { create: vi.fn() }],
    ["an empty part", "a..b", { create: vi.fn() }],
    ["an unknown handler", "a.b", { upsert: vi.fn() }],
    ["a handler that is no function", "a.b", { create: "yes" }],
    ["batch together with others", "a.b", { batch: vi.fn(), create: vi.fn() }],
    ["a function for a table", "a.b", vi.fn()],
    ["an object for a control event", "heartbeat", { create: vi.fn() }],
    ["a generator function, of which a call runs nothing", "*", function* () {}],
    ["an asynchronous generator function", "a.b", { create: async function* () {} }],
    ["a generator method", "a.b", { *batch() {} }],
  ])("%s", (_name, pattern, handlers) => {
    expect(codeOf(() => new Router().add(pattern, handlers))).toBe("invalid-handler");
  });

  test("an object for a control event, and the message says how a table of its name is meant", () => {
    const router = new Router();
    expect(() => router.add("transaction", { create: vi.fn() })).toThrow(
      '[invalid-handler] on("transaction") expects a function, because it is a kind of control event; a table of this name needs a longer one, as "public.transaction"',
    );
    router.add("public.transaction", { create: vi.fn() });
  });

  test.each(["*.*", "public.*", "orders*", "*.orders", "av.*"])("a wildcard in %j, which would match nothing", (pattern) => {
    const router = new Router({ isTopic: (text) => text.startsWith("av.") }); // topics may be subscribed to by an expression
    expect(() => router.add(pattern, { create: vi.fn() })).toThrow(
      `[invalid-handler] on() expects a name without wildcards, got "${pattern}": name each table or topic, or give "*" alone`,
    );
    expect(router.isEmpty).toBe(true);
  });

  test.each([
    [/orders/, 'found the regular expression /orders/: name each table, or take all with "*" and look at event.table'],
    [undefined, "found a value of type undefined"],
    [null, "found null"],
    [{ create: vi.fn() }, "found a value of type object"],
  ])("a pattern that is no text: %s", (pattern, found) => {
    for (const handlers of [{ create: vi.fn() }, vi.fn()]) {
      expect(() => new Router().add(pattern as never, handlers)).toThrow(
        `[invalid-handler] on() expects a text: the name of a table or a topic, "*" or the kind of a control event, ${found}`,
      );
    }
  });

  test("a second handler for the same events", () => {
    const router = new Router();
    router.add("a.b", { create: vi.fn() });
    router.add("heartbeat", vi.fn());
    expect(codeOf(() => router.add("a.b", { create: vi.fn() }))).toBe("invalid-handler");
    expect(codeOf(() => router.add("heartbeat", vi.fn()))).toBe("invalid-handler");
    expect(codeOf(() => router.add("a.b", { update: vi.fn() }))).toBe("no error");
  });
});
