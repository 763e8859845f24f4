import { type CdcEvent, createDecoder, type SchemaSeen } from "@cdckit/decode";
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
  const before = process.cpuUsage();
  const known = await sink.claim("g", assignments);
  expect(process.cpuUsage(before).user / 1e3).toBeLessThan(4_000); // a fifth of a second; with their square, seven
  expect(known.map(({ assignment }) => assignment)).toEqual(assignments);
});

test("a row, and a tombstone, of which nothing says the table is refused with the hint to set, and not passed as written", async () => {
  const pool = { connect: () => Promise.reject(new Error("not used")), end: async () => {} };
  const sink = postgres({ pool, delivery: "at-least-once" });
  const assignment = { topic: "__signals", partition: 0, epoch: 1 };
  await sink.claim("g", [assignment]);
  const record = { topic: "__signals", partition: 0, offset: 7n };
  const apply = (event: object, isLeftOut = false): Promise<void> => {
    const events = [event as CdcEvent]; // what the sink reads of it
    return sink.apply({ assignment, events, nextOffset: 8n, ...(isLeftOut ? { leftOut: new Set(events) } : {}) });
  };
  const row = { kind: "row", envelope: "none", table: null, row: { id: 1 }, key: { id: 1 }, record };
  const tombstone = { kind: "tombstone", table: null, key: { id: 1 }, record };
  for (const event of [row, tombstone]) {
    await expect(apply(event)).rejects.toMatchObject({
      code: "table-unknown",
      message: expect.stringMatching(/__signals\[0\] offset 7 .*decoder\.topics\["__signals"\]\.table/),
    });
    await expect(apply(event, true)).rejects.toMatchObject({ code: "unavailable" }); // it goes on to move the checkpoint
  }
});

test("a message of an outbox is no row of a table, and is passed: a hint could not name its table either", async () => {
  const pool = { connect: () => Promise.reject(new Error("not used")), end: async () => {} };
  const sink = postgres({ pool, delivery: "at-least-once" });
  const assignment = { topic: "outbox.event.order", partition: 0, epoch: 1 };
  await sink.claim("g", [assignment]);
  const decoder = createDecoder({ topics: { [assignment.topic]: { table: { name: "orders" } } } });
  const headers: readonly [string, Buffer][] = [["id", Buffer.from("6f0f0d1e-9f0b-4a53-9f39-0d8f3a1f3d11")]];
  for (const value of [
    `{"total":1}`,
    `{"specversion":"1.0","id":"1","source":"/shop","type":"OrderPlaced","iodebeziumop":"c","data":{"total":1}}`,
  ]) {
    const record = {
      topic: assignment.topic,
      partition: 0,
      offset: 7n,
      timestamp: 1n,
      key: Buffer.from(`"9"`),
      value: Buffer.from(value),
      headers,
    };
    const events = await decoder.decode(record);
    expect(events).toMatchObject([{ kind: "row", table: null }]);
    const applied = sink.apply({ assignment, events, nextOffset: 8n });
    await expect(applied).rejects.toMatchObject({ code: "unavailable" }); // it goes on to move the checkpoint
  }
});
