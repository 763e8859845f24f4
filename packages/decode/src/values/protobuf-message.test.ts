import { describe, expect, test } from "vitest";
import { resolveValueOptions, type ValueOptions } from "../options.ts";
import { conversionFor } from "./conversion-for.ts";

function of(name: string, value: Record<string, unknown>, options: ValueOptions = {}): unknown {
  const semantic = { name: `org.apache.kafka.connect.data.${name}`, parameters: {} };
  return conversionFor(semantic, resolveValueOptions(options), JSON.parse)?.struct?.(value);
}

describe("Connect's own types in Google's messages", () => {
  test.each([
    ["Timestamp", { seconds: 1709210096, nanos: 789_000_000 }, "2024-02-29T12:34:56.789"],
    ["Timestamp", { seconds: -1n, nanos: 999_999_999 }, "1969-12-31T23:59:59.999999999"],
    ["Timestamp", {}, "1970-01-01T00:00:00"],
    ["Timestamp", { seconds: 253402300800n }, "+10000-01-01T00:00:00"],
    ["Date", { year: 2024, month: 2, day: 29 }, "2024-02-29"],
    ["Date", { year: 2024 }, "2024-00-00"],
    ["Time", { hours: 12, minutes: 34, seconds: 56, nanos: 789_000_000 }, "12:34:56.789"],
    ["Time", { seconds: 1, nanos: 1_000_000 }, "00:00:01.001"],
    ["Time", { hours: 24 }, "24:00:00"],
  ])("%s %o reads %s", (name, value, text) => {
    expect(of(name, value)).toBe(text);
  });

  test("are a Date, or stay their fields, if the options say so", () => {
    expect(of("Timestamp", { seconds: 1709210096 }, { time: "date" })).toEqual(new Date("2024-02-29T12:34:56Z"));
    expect(of("Timestamp", { seconds: 1709210096 }, { time: "raw" })).toBeUndefined();
  });

  test.each([
    ["Timestamp", { seconds: 1.5 }],
    ["Timestamp", { nanos: -1 }],
    ["Time", { minutes: 60 }],
    ["Date", { month: 13 }],
  ])("%s is refused with %o", (name, value) => {
    expect(() => of(name, value)).toThrow(/^\[value-invalid\]/);
  });
});
