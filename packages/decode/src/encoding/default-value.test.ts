import { expect, test } from "vitest";
import { defaultValueOf } from "./default-value.ts";
import type { Type } from "./type.ts";

const optional = (type: Type): Type => ({ kind: "union", branches: [{ kind: "null" }, type] });
const decimal = (scale: string): Type => ({
  kind: "bytes",
  semantic: { name: "org.apache.kafka.connect.data.Decimal", parameters: { scale } },
});
const time: Type = { kind: "long", semantic: { name: "io.debezium.time.MicroTimestamp", parameters: {} } };

test.each<readonly [string, Type, unknown, unknown]>([
  ["a boolean", { kind: "boolean" }, false, false],
  ["an integer", optional({ kind: "int" }), 7, 7],
  ["a wide integer", { kind: "long" }, 9_007_199_254_740_993n, 9_007_199_254_740_993n],
  ["an integer that was rounded", { kind: "long" }, 2 ** 60, null],
  ["a double", { kind: "double" }, 1.5, 1.5],
  ["a double that is none", { kind: "double" }, Number.POSITIVE_INFINITY, null],
  ["a document", { kind: "string", semantic: { name: "io.debezium.data.Json", parameters: {} } }, '{"a":1}', '{"a":1}'],
  [
    "a UUID",
    { kind: "string", semantic: { name: "io.debezium.data.Uuid", parameters: {} } },
    "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
    "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
  ],
  ["a text", { kind: "string" }, "", ""],
  ["a decimal", optional(decimal("2")), "AfQ=", "5.00"],
  ["a negative decimal", decimal("1"), "9Q==", "-1.1"],
  ["a decimal of a scale that cannot be", decimal("x"), "AfQ=", null],
  ["a time", time, 0, null],
  ["a year", { kind: "int", semantic: { name: "io.debezium.time.Year", parameters: {} } }, 1999, 1999],
  ["a set", { kind: "string", semantic: { name: "io.debezium.data.EnumSet", parameters: { allowed: "p,q" } } }, "p,q", "p,q"],
  ["null", optional({ kind: "int" }), null, null],
  ["none", { kind: "string" }, undefined, null],
  ["one of another type", { kind: "string" }, 5, null],
  ["a list", { kind: "array", items: { kind: "int" } }, [], null],
])("the default of a column: %s", (_, type, json, expected) => {
  expect(defaultValueOf(type, json, "base64")).toBe(expected);
});

test("the default of a decimal in Avro is its bytes as characters", () => {
  expect(defaultValueOf(decimal("2"), "\u0001\u00f4", "latin1")).toBe("5.00");
});
