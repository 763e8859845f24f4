import { expect, test } from "vitest";
import { DeletedKeys } from "./deleted-keys.ts";

const orders = { schema: "public", name: "orders" };

test("the delete of a key says whose its tombstone is, and no other tombstone is of that delete", () => {
  const keys = new DeletedKeys();
  keys.deleted("a", orders);
  keys.deleted("b", null);
  expect(keys.open.map(([, target]) => target)).toEqual([orders, null]);
  expect([keys.buried("a"), keys.buried("b"), keys.buried("c")]).toEqual([orders, null, undefined]);
  expect([keys.open, keys.buried("a")]).toEqual([[], undefined]);
});

test("a row of the key and of the table that comes before the tombstone shows that none will come", () => {
  const keys = new DeletedKeys();
  keys.deleted("a", orders);
  keys.written("a", { isOf: () => false });
  keys.written("b", { isOf: () => true });
  expect(keys.open).toHaveLength(1);
  keys.written("a", { isOf: (target) => target === orders });
  expect(keys.buried("a")).toBeUndefined();
});

test("what a batch has noted is taken back if it comes again, and stays if it was applied", () => {
  const keys = new DeletedKeys();
  keys.deleted("a", orders);
  keys.applied();
  keys.buried("a");
  keys.deleted("a", null);
  keys.deleted("b", orders);
  keys.takeBack();
  expect([keys.buried("a"), keys.buried("b")]).toEqual([orders, undefined]);
  keys.applied();
  keys.takeBack();
  expect(keys.buried("a")).toBeUndefined();
});

test("open deletes that were kept are known again", () => {
  const keys = new DeletedKeys();
  keys.deleted("a", orders);
  const later = new DeletedKeys(JSON.parse(JSON.stringify(keys.open)) as DeletedKeys["open"]);
  expect([later.buried("a"), later.open]).toEqual([orders, []]);
});

test("keys of any length and number take little", () => {
  const keys = new DeletedKeys();
  for (let i = 0; i < 2_000; i++) {
    keys.deleted(`${i} ${"x".repeat(100_000)}`, orders);
  }
  expect(JSON.stringify(keys.open).length).toBeLessThan(1_000);
  expect([keys.buried(`0 ${"x".repeat(100_000)}`), keys.buried(`1999 ${"x".repeat(100_000)}`)]).toEqual([undefined, orders]);
});
