import { expect, test } from "vitest";
import type { TopicExtent } from "./cluster.ts";
import { findHeldBack, heldBackNote } from "./held-back.ts";

function extent(topic: string, ends: readonly bigint[]): TopicExtent {
  return { topic, partitions: ends.map((endOffset, partition) => ({ partition, startOffset: 0n, endOffset })), maxRecords: 0n };
}

function highs(topic: string, ends: readonly bigint[]): ReadonlyMap<string, ReadonlyMap<number, bigint>> {
  return new Map([[topic, new Map(ends.map((end, partition) => [partition, end]))]]);
}

test("offsets behind an end that does not move are held back", async () => {
  const extents = [extent("orders", [5n, 7n, 0n])];
  const found = await findHeldBack(
    extents,
    async () => highs("orders", [8n, 7n, 2n]),
    async () => extents,
  );
  expect(found).toEqual([{ topic: "orders", offsets: 5n, partitions: [0, 2] }]);
  expect(found.map(heldBackNote)).toEqual([
    expect.stringMatching(/^orders: an open transaction holds back 5 offsets of partitions 0, 2: /),
  ]);
});

test("what was written after the ends were asked for is not held back", async () => {
  const found = await findHeldBack(
    [extent("orders", [5n, 7n])],
    async () => highs("orders", [8n, 9n]),
    async () => [extent("orders", [9n, 7n])],
  );
  expect(found).toEqual([{ topic: "orders", offsets: 2n, partitions: [1] }]);
});

test("the ends are asked for once more only if something is behind them", async () => {
  const found = await findHeldBack(
    [extent("orders", [5n])],
    async () => highs("orders", [5n]),
    () => Promise.reject(new Error("asked again")),
  );
  expect(found).toEqual([]);
});
