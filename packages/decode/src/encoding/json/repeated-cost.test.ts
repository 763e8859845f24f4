import { recordOf } from "@cdckit/testkit";
import { expect, test } from "vitest";
import { createDecoder } from "../../decoder.ts";
import { isDecodeError } from "../../errors.ts";

function outcome(schema: unknown, payload: string, spaced = false): string {
  const value = Buffer.from(`{"schema":${JSON.stringify(schema)},${spaced ? " " : ""}"payload":${payload}}`);
  try {
    void createDecoder().decode(recordOf(value, { topic: "a.b.c" }));
    return "events";
  } catch (error) {
    return isDecodeError(error) ? error.code : "another error";
  }
}

const time = { type: "int64", name: "io.debezium.time.Timestamp" };
const digits = `[${"1,".repeat(200_000)}1]`;

test.each([
  ["a list", { type: "array", items: time }, digits],
  ["a map's values", { type: "map", keys: { type: "int64" }, values: time }, `[${"[1,1],".repeat(100_000)}[1,1]]`],
  ["a list in a struct", { type: "struct", fields: [{ ...{ type: "array", items: time }, field: "a" }] }, `{"a":${digits}}`],
])("converting the values of %s has a cost, in any spelling of the message", (_, schema, payload) => {
  expect(outcome(schema, payload)).toBe("limit-exceeded");
  expect(outcome(schema, payload, true)).toBe("limit-exceeded");
});

test("a value that occurs once in a row has no additional cost", () => {
  const schema = {
    type: "struct",
    fields: [
      { ...time, field: "at" },
      { type: "array", items: { type: "int64" }, field: "a" },
    ],
  };
  expect(outcome(schema, `{"at":1,"a":${digits}}`)).toBe("events");
});

test("sixteen thousand converted values in a list are read", () => {
  expect(outcome({ type: "array", items: time }, `[${"1700000000000,".repeat(16_383)}1]`)).toBe("events");
});

test("a schema with more fields than any table has is refused, and that of MySQL's widest table is read", () => {
  const fields = (count: number): unknown[] => Array.from({ length: count }, (_, i) => ({ type: "int32", optional: true, field: `f${i}` }));
  const row = (field: string): unknown => ({ type: "struct", fields: fields(4_096), field });
  expect(outcome({ type: "struct", fields: [row("before"), row("after"), { type: "string", field: "op" }] }, '{"op":"c"}')).toBe("events");
  expect(outcome({ type: "struct", fields: fields(19_000) }, "{}")).toBe("limit-exceeded");
});
