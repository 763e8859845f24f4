import type { Type } from "@cdckit/decode";
import { expect, test } from "vitest";
import { hintsOverTime } from "./hints-over-time.ts";

const decimal = (scale: string): Type => ({
  kind: "bytes",
  semantic: { name: "org.apache.kafka.connect.data.Decimal", parameters: { scale } },
});
const date: Type = { kind: "int", semantic: { name: "io.debezium.time.Date", parameters: {} } };
const row = (types: Readonly<Record<string, Type>>): Type => ({
  kind: "record",
  name: "Row",
  fields: Object.entries(types).map(([name, type]) => ({ name, type })),
});

test("the newest schema decides about its columns, and one that it lacks keeps the hint that it had", () => {
  const { columns, changed } = hintsOverTime([
    row({ price: decimal("2"), day: date }),
    row({ price: decimal("4"), gone: date }),
    row({ price: decimal("4") }),
  ]);
  expect(columns).toEqual({
    price: { name: "org.apache.kafka.connect.data.Decimal", parameters: { scale: "4" } },
    day: "io.debezium.time.Date",
    gone: "io.debezium.time.Date",
  });
  expect(changed).toEqual(["price"]);
});

test("a column that needed a hint once, and needs none now, has none, and is among the changed", () => {
  expect(hintsOverTime([row({ day: date }), row({ day: { kind: "string" } })])).toEqual({ columns: {}, changed: ["day"] });
});

test("what the schemas agree on has not changed", () => {
  expect(hintsOverTime([row({ day: date }), row({ day: date, note: { kind: "string" } })]).changed).toEqual([]);
});
