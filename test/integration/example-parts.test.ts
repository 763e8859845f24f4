// Parts of the examples that need no stack.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ChangeEvent, createConsumer, silentLogger } from "cdckit";
import type { RowEvent } from "@cdckit/decode";
import { memory, MemoryBroker } from "@cdckit/testkit";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { addresses as ofCache } from "../../examples/cache-invalidation/addresses.js";
import { addresses as ofOutbox } from "../../examples/outbox/addresses.js";
import { handleOrderEvents } from "../../examples/outbox/order-events.js";
import { addresses as ofReplica } from "../../examples/replicate-postgres/addresses.js";
import { openIndex } from "../../examples/search-index/index-file.js";
import { indexSink } from "../../examples/search-index/index-sink.js";

describe("the index of the example search-index", () => {
  const folder = mkdtempSync(join(tmpdir(), "cdckit-index-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function book(id: number, partition: number): { readonly key: string; readonly value: string; readonly partition: number } {
    const after = { id, title: `book ${id}`, author: "", summary: "" };
    const source = { connector: "postgresql", schema: "shop", table: "books" };
    return { key: JSON.stringify({ id }), value: JSON.stringify({ before: null, after, source, op: "c" }), partition };
  }

  test("has everything that the group has committed after a kill, also of a partition that no save by time has met", async () => {
    const broker = new MemoryBroker({ books: 2 });
    const path = join(folder, "index.json");
    function running(index: ReturnType<typeof openIndex>) {
      const options = { driver: memory({ broker }), groupId: "index", topics: ["books"], logger: silentLogger, signals: false } as const;
      const consumer = createConsumer(options).to(indexSink(index, { path, logger: { info: () => {} } }), { batch: { maxMs: 1 } });
      const ended = consumer.run();
      return { end: async () => (await consumer.stop(), await ended) };
    }
    const committed = async (partition: number): Promise<void> =>
      await expect.poll(() => broker.committed("index", "books", partition), { timeout: 60_000 }).toBe(1n);

    const first = openIndex(path);
    let isKilled = false;
    // A process that is killed writes no file at its end.
    const killed = running({ ...first, save: () => (isKilled ? Promise.resolve() : first.save()) });
    broker.append("books", book(1, 0));
    await committed(0);
    await first.save(); // as it is saved by time
    broker.append("books", book(2, 1));
    await committed(1);
    isKilled = true;
    await killed.end();

    const again = openIndex(path);
    const next = running(again);
    await expect.poll(() => again.count(), { timeout: 60_000 }).toBe(2);
    await next.end();
  });
});

test("the index of the example search-index is empty after a truncate, and has what comes after it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "cdckit-truncated-index-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const index = openIndex(join(folder, "index.json"));
  const source = { connector: "postgresql", schema: "shop", table: "books" };
  const driver = memory({ topics: { books: 1 } });
  const book = (id: number) => ({
    key: JSON.stringify({ id }),
    value: JSON.stringify({ before: null, after: { id, title: "", author: "", summary: "" }, source, op: "c" }),
  });
  const truncate = { value: JSON.stringify({ before: null, after: null, source, op: "t" }) };
  driver.broker.append("books", book(1), book(2), truncate, book(3));
  const consumer = createConsumer({ driver, groupId: "index", topics: ["books"], logger: silentLogger, signals: false });
  consumer.to(indexSink(index, { path: folder, logger: { info: () => {} } }), { tables: ["shop.books"], batch: { maxMs: 1 } });
  const ended = consumer.run();
  await expect.poll(() => driver.broker.committed("index", "books", 0), { timeout: 60_000 }).toBe(4n);
  await consumer.stop();
  await ended;
  expect(index.count()).toBe(1);
});

test("every example that needs the database looks for it, and for Kafka Connect, in the same place", () => {
  expect(ofOutbox().connectionString).toBe(ofReplica().sourceUrl);
  expect(ofOutbox().connectionString).toBe(ofCache().connectionString);
  expect(ofOutbox().connectUrl).toBe(ofReplica().connectUrl);
});

describe("the events of the example outbox", () => {
  const event = (headers: readonly (readonly [string, Buffer])[]): ChangeEvent | RowEvent =>
    ({ kind: "row", row: { order: 1, reason: "late" }, record: { headers } }) as unknown as RowEvent; // what the handler reads
  const type = ["eventType", Buffer.from("OrderCancelled")] as const;

  test("are handed over with their ids, and one without an id is refused: it would count as applied before", async () => {
    const ids: string[] = [];
    const { row } = handleOrderEvents({ OrderPlaced: () => {}, OrderCancelled: (_, id) => void ids.push(id) });
    await row?.(event([type, ["id", Buffer.from("4711")]]) as never);
    await expect(row?.(event([type]) as never)).rejects.toThrow(new TypeError("an event without the header id"));
    expect(ids).toEqual(["4711"]);
  });
});
