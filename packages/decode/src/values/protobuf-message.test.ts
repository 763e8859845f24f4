import { describe, expect, test } from "vitest";
import { resolveValueOptions, type ValueOptions } from "../options.ts";
import { conversionFor } from "./conversion-for.ts";

function of(name: string, value: Record<string, unknown>, options: ValueOptions = {}): unknown {
  return conversionFor({ name, parameters: {} }, resolveValueOptions(options), JSON.parse)?.struct?.(value);
}

describe("a Protobuf message that is one value", () => {
  test.each([
    ["google.protobuf.Timestamp", { seconds: 1709210096, nanos: 789_000_000 }, "2024-02-29T12:34:56.789Z"],
    ["google.protobuf.Timestamp", { seconds: -1n, nanos: 999_999_999 }, "1969-12-31T23:59:59.999999999Z"],
    ["google.protobuf.Timestamp", {}, "1970-01-01T00:00:00Z"],
    ["google.protobuf.Timestamp", { seconds: 253402300800n }, "+10000-01-01T00:00:00Z"],
    ["org.apache.kafka.connect.data.Timestamp", { seconds: 1709210096, nanos: 789_000_000 }, "2024-02-29T12:34:56.789"],
    ["google.type.Date", { year: 2024, month: 2, day: 29 }, "2024-02-29"],
    ["google.type.Date", { year: 2024 }, "2024-00-00"],
    ["org.apache.kafka.connect.data.Date", { year: 2024, month: 2, day: 29 }, "2024-02-29"],
    ["google.type.TimeOfDay", { hours: 12, minutes: 34, seconds: 56, nanos: 789_000_000 }, "12:34:56.789"],
    ["google.type.TimeOfDay", { hours: 24 }, "24:00:00"],
    ["org.apache.kafka.connect.data.Time", { seconds: 1, nanos: 1_000_000 }, "00:00:01.001"],
    ["google.protobuf.Duration", { seconds: 90, nanos: 500_000_000 }, "P0Y0M0DT0H0M90.5S"],
    ["google.protobuf.Duration", { seconds: 0, nanos: -500_000_000 }, "P0Y0M0DT0H0M-0.5S"],
    ["confluent.type.Decimal", { value: Buffer.from("3039", "hex"), precision: 10, scale: 2 }, "123.45"],
    ["confluent.type.Decimal", { value: Buffer.from("3039", "hex") }, "12345"],
  ])("%s %o reads %s", (name, value, text) => {
    expect(of(name, value)).toBe(text);
  });

  test("is a Date where dates are wanted and it is an instant, and stays its fields where raw values are", () => {
    expect(of("google.protobuf.Timestamp", { seconds: 1709210096, nanos: 789_000_000 }, { time: "date" })).toEqual(
      new Date("2024-02-29T12:34:56.789Z"),
    );
    expect(of("google.protobuf.Timestamp", { seconds: 1 }, { time: "raw" })).toBeUndefined();
  });

  test.each([
    ["google.protobuf.Timestamp", { seconds: 1.5 }],
    ["google.protobuf.Timestamp", { nanos: -1 }],
    ["google.type.TimeOfDay", { minutes: 60 }],
    ["google.protobuf.Duration", { nanos: 1_000_000_000 }],
    ["google.type.Date", { month: 13 }],
    ["confluent.type.Decimal", { value: Buffer.alloc(0), scale: 2 }],
  ])("%s is refused with %o", (name, value) => {
    expect(() => of(name, value)).toThrow(/^\[value-invalid\]/);
  });
});
