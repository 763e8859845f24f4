import fc from "fast-check";
import { expect, test } from "vitest";
import { shortNames } from "./short-names.ts";

const shortened = (...names: readonly string[]): readonly string[] => names.map((name) => shortNames(names).get(name) ?? "");

test("what all names have in common is left out", () => {
  expect(shortened("cdc-bench-1f-json.sales.orders", "cdc-bench-1f-confluent-avro.sales.orders")).toEqual(["json", "confluent-avro"]);
  expect(shortened("shop.public.orders", "shop.public.items")).toEqual(["orders", "items"]);
  expect(shortened("shop.public.orders")).toEqual(["shop.public.orders"]);
  expect(shortNames([]).size).toBe(0);
  expect(shortened("a", "b")).toEqual(["a", "b"]);
  expect(shortened("x-json", "x-json-with-schema")).toEqual(["json", "json-with-schema"]);
});

test("short names differ where the names do, and none is empty", () => {
  const name = fc
    .array(fc.constantFrom("a", "b", "json", "avro"), { minLength: 1, maxLength: 4 })
    .chain((parts) => fc.constantFrom(".", "-", "_").map((separator) => parts.join(separator)));
  fc.assert(
    fc.property(fc.uniqueArray(name, { maxLength: 5 }), (names) => {
      const short = shortened(...names);
      expect(new Set(short).size).toBe(names.length);
      expect(short.every((each) => each !== "")).toBe(true);
    }),
  );
});
