import type { TableName } from "@cdckit/decode";
import { expect, test } from "vitest";
import { Targets } from "./targets.ts";

const target = { schema: "public", name: "orders" };

test.each<[string, readonly TableName[], string]>([
  [
    "of two schemas",
    [
      { schema: "a", name: "orders" },
      { schema: "b", name: "orders" },
    ],
    "a.orders and b.orders",
  ],
  [
    "of two schemas behind one whose message does not say its schema",
    [{ name: "orders" }, { schema: "a", name: "orders" }, { schema: "b", name: "orders" }],
    "a.orders and b.orders",
  ],
  [
    "of two databases behind one of which only the schema is known",
    [
      { schema: "a", name: "orders" },
      { database: "d", schema: "a", name: "orders" },
      { database: "e", schema: "a", name: "orders" },
    ],
    "d.a.orders and e.a.orders",
  ],
])("rows of a second source table are refused: %s", (_, sources, found) => {
  const targets = new Targets({ tableFor: null, schema: "public", keepsCheckpoints: true, checkpointTable: "cdckit_checkpoints" });
  const [last = { name: "" }, ...before] = sources.toReversed();
  targets.checkSources(target, before.toReversed());
  expect(() => targets.checkSources(target, [last])).toThrow(`expected one source table for "public"."orders", found ${found}`);
});
