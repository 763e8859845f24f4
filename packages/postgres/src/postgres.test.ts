import type { SchemaSeen } from "@cdckit/decode";
import { expect, test } from "vitest";
import type { PostgresClient } from "./options.ts";
import { postgres } from "./postgres.ts";

test("nothing is kept of the schemas of tables that tableFor leaves out", () => {
  const read: string[] = [];
  const seen = (name: string): SchemaSeen =>
    ({
      table: { name },
      side: "value",
      get row() {
        read.push(name);
        return null;
      },
    }) as unknown as SchemaSeen; // what a sink reads
  const sink = postgres({
    tableFor: ({ name }) => {
      if (name === "odd") {
        throw new Error("who knows");
      }
      return name === "orders" ? { name } : null;
    },
  });
  ["orders", "customers", "odd"].forEach((name) => sink.schemaSeen(seen(name)));
  expect(read).toEqual(["orders", "odd"]);
});

test("50,000 partitions are claimed in no time that grows with their square", async () => {
  const assignments = Array.from({ length: 50_000 }, (_, i) => ({
    topic: `shop.public.table_${Math.floor(i / 10)}`,
    partition: i % 10,
    epoch: 1,
  }));
  const claims = assignments.map(({ topic, partition }) => ({
    topic,
    partition,
    topic_id: null,
    topic_tables: null,
    next_offset: "7",
    fence: "1",
  }));
  const query = async ({ text }: { readonly text: string }): ReturnType<PostgresClient["query"]> => {
    const rows = text.startsWith("insert") ? claims : [{ present: true, columns: ["topic_id", "topic_tables"] }];
    return { rows, rowCount: rows.length };
  };
  const sink = postgres({ pool: { connect: async () => ({ query, release: () => {} }), end: async () => {} } });
  const startedMs = performance.now();
  const known = await sink.claim("g", assignments);
  expect(performance.now() - startedMs).toBeLessThan(4_000); // a fifth of a second; with their square, seven
  expect(known.map(({ assignment }) => assignment)).toEqual(assignments);
});
