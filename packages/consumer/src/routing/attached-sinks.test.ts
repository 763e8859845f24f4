import type { SchemaSeen, TableName } from "@cdckit/decode";
import { expect, test } from "vitest";
import { silentLogger } from "../observe/logger.ts";
import type { Sink } from "../sink.ts";
import { AttachedSinks } from "./attached-sinks.ts";
import { MatchWatch } from "./match-watch.ts";

test("a sink hears of the schemas of tables that it takes, and of no others", () => {
  const sinks = new AttachedSinks({
    watch: new MatchWatch(),
    isTopic: (text) => text === "s.outbox",
    logger: silentLogger,
    fail: () => {},
  });
  const heard: Record<string, string[]> = { all: [], orders: [], topic: [] };
  const sinkNamed = (name: string): Sink => ({
    name,
    claim: async () => [],
    apply: async () => {},
    schemaSeen: ({ topic, table }) => heard[name]?.push(table?.name ?? topic),
    close: async () => {},
  });
  sinks.add(sinkNamed("all"), {});
  sinks.add(sinkNamed("orders"), { tables: ["public.orders", "customers"] });
  sinks.add(sinkNamed("topic"), { tables: ["s.outbox"] });
  const see = (topic: string, table: TableName | null): void => sinks.schemaSeen({ topic, table } as SchemaSeen);
  see("s", { schema: "public", name: "orders" });
  see("s", { schema: "other", name: "orders" });
  see("s", { schema: "public", name: "customers" });
  see("s.outbox", { schema: "public", name: "outbox" });
  see("s.outbox", null);
  expect(heard).toEqual({
    all: ["orders", "orders", "customers", "outbox", "s.outbox"],
    orders: ["orders", "customers"],
    topic: ["outbox", "s.outbox"],
  });
});
