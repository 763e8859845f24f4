import { expect, test } from "vitest";
import { BoundedMap } from "./bounded-map.ts";

test("the entry that was added first is removed for a new one", () => {
  const map = new BoundedMap<string, number>(2);
  map.set("a", 1);
  map.set("b", 2);
  map.set("a", 3); // a known key: nothing is removed
  map.set("c", 4);
  expect([map.get("a"), map.get("b"), map.get("c")]).toEqual([undefined, 2, 4]);
});

test("a costly entry removes as many as needed, and is kept itself", () => {
  const map = new BoundedMap<string, number>(10, 4, (key) => key.length);
  map.set("aa", 1);
  map.set("bb", 2);
  map.set("ccc", 3);
  expect([map.get("aa"), map.get("bb"), map.get("ccc")]).toEqual([undefined, undefined, 3]);
  map.set("d", 4);
  expect([map.get("ccc"), map.get("d")]).toEqual([3, 4]);
});

test("the cost may be that of the value, and a value in place of another costs the difference", () => {
  const map = new BoundedMap<string, string>(10, 4, (_key, value) => value.length);
  map.set("a", "xx");
  map.set("b", "x");
  map.set("b", "xx");
  expect([map.get("a"), map.get("b")]).toEqual(["xx", "xx"]);
  map.set("a", "x");
  map.set("c", "x");
  expect([map.get("a"), map.get("b"), map.get("c")]).toEqual(["x", "xx", "x"]);
  map.set("d", "x");
  expect([map.get("a"), map.get("b"), map.get("c"), map.get("d")]).toEqual([undefined, "xx", "x", "x"]);
});
