import { expect, test } from "vitest";
import { holdsValue, missingForm } from "./value-fit.ts";

test.each<[type: string, held: readonly unknown[], not: readonly unknown[]]>([
  [
    "double precision",
    ["19.99", "0.10", "-1e100", "NaN", "Infinity", 0.1, 2 ** 53, 2n ** 64n, 12_345_678_901_234_567_000n],
    ["12345678901234567890.123", "0.12345678901234567", "1e-400", 2n ** 53n + 1n],
  ],
  [
    "real",
    ["19.99", "1.2345679e11", "16777216", 16_777_216, 123_456_790_000, 0.1, Math.fround(1 / 3), NaN, -Infinity],
    ["123456789.5", 16_777_217, "19.990001", 1 / 3, 1e39],
  ],
  [
    "date",
    ["2024-01-01", "2024-01-01T00:00:00.000000Z", "0044-03-15 BC", new Date(0)],
    ["2024-01-01T10:00:00", "2024-01-01 00:00:00.1", new Date(1)],
  ],
  ["date[]", [["2024-01-01", null]], [["2024-01-01", "2024-01-01T10:00:00"]]],
  ["integer[]", [[1, [2, null]]], [[1, [2 ** 31]]]],
])("a column of %s takes what it can keep as it is", (type, held, not) => {
  const holds = (value: unknown): boolean => holdsValue({ type }, value);
  expect(held.filter((value) => !holds(value))).toEqual([]);
  expect(not.filter(holds)).toEqual([]);
});

test.each<[string, readonly unknown[], readonly unknown[]]>([
  [
    "numeric",
    ["1.23", "-1.2300", "100", "1.5e1", "1.5E+3", 0.1, 5, 5n, "NaN", "Infinity", null],
    ["1.234", "0.001", "1.25e-1", 1e-7, 0.125],
  ],
  [
    "timestamp with time zone",
    ["2024-01-01T10:11:12Z", "2024-01-01T10:11:12.120000+02:00", "0044-03-15T00:00:00.1 BC", new Date(120)],
    ["2024-01-01T10:11:12.123Z", "0044-03-15T00:00:00.001 BC", new Date(123)],
  ],
  [
    "interval",
    ["P1DT1.50S", "PT1.125H", "1.125 days", "1 day 00:00:01.25", "1.25", 1_010_000, -10_000n, null],
    ["PT1.125S", "PT1.1256H", "00:00:01.125", "@ 1.125 secs", "00:00:01.125 ago", 1_001_000, -1_000n],
  ],
  ["numeric[]", [["1.2", null, ["1.23"]]], [["1.2", ["1.234"]]]],
])("a column of %s with a scale of 2 takes what it can keep as it is", (type, held, not) => {
  const holds = (value: unknown): boolean => holdsValue({ type, maxScale: 2 }, value);
  expect(held.filter((value) => !holds(value))).toEqual([]);
  expect(not.filter(holds)).toEqual([]);
});

test.each<[keptUnits: number, held: readonly unknown[], not: readonly unknown[]]>([
  [1, ["P2Y", "P1Y12M", "P0D", 0, null], ["P1Y2M", "P1D", 1]],
  [2, ["P1Y2M", "P1Y2M0DT0H0M0.000000S", "1 year 2 mons"], ["P1Y2M3D", "PT4H"]],
  [3, ["P1Y2M3D", "P1W", 0n], ["P1DT4H", "P0.5D", 86_400_000_000]],
  [4, ["P1DT4H", "PT120M", 7_200_000_000], ["PT4H5M", "PT1.5H", 60_000_000n]],
  [5, ["PT4H-5M", -60_000_000], ["PT5M6S", "PT0.001S", 1]],
])("a column of intervals that keeps %d units takes what it can keep as it is", (keptUnits, held, not) => {
  const holds = (value: unknown): boolean => holdsValue({ type: "interval", keptUnits }, value);
  expect(held.filter((value) => !holds(value))).toEqual([]);
  expect(not.filter(holds)).toEqual([]);
});

test("texts of many zeros are looked at in no time that grows with their square", () => {
  const zeros = "0".repeat(300_000);
  const before = process.cpuUsage();
  expect(["real", "double precision"].map((type) => holdsValue({ type }, `1${zeros}1.5`))).toEqual([true, true]); // no finite number
  expect(holdsValue({ type: "double precision" }, `0.1${zeros}1`)).toBe(false);
  expect(missingForm("numeric", `${zeros}x`)).toBe("number");
  expect(holdsValue({ type: "interval", maxScale: 2 }, `.${zeros}${" ".repeat(300_000)}-`)).toBe(true);
  expect(holdsValue({ type: "interval", keptUnits: 2 }, `P${zeros}`)).toBe(true);
  const held = [`1.${zeros}1`, `${zeros}x`, `.${zeros}`, `${zeros}5`].map((text) =>
    holdsValue({ type: "numeric", maxScale: 2, maxWhole: 3 }, text),
  );
  expect(process.cpuUsage(before).user / 1e3).toBeLessThan(2_000); // some milliseconds; with their square, a minute
  expect(held).toEqual([false, true, true, true]);
});

test("a column of a numeric with three digits before the point takes no more of them", () => {
  const holds = (value: unknown): boolean => holdsValue({ type: "numeric", maxScale: 2, maxWhole: 3 }, value);
  const [held, not] = [
    ["123", "-000123.4", "0.5", 999, 999n, "9.99e2", 1.5, "0e0", "NaN", null, [["1"], "999"]],
    ["1234", "-1000.5", 1000, -1000n, "1e3", 1e21, ["1000"]],
  ];
  expect(held?.filter((value) => !holds(value))).toEqual([]);
  expect(not?.filter(holds)).toEqual([]);
});
