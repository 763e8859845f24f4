import { describe, expect, test } from "vitest";
import { isDecodeError } from "../errors.ts";
import { resolveValueOptions, type ValueOptions } from "../options.ts";
import { type SqlDialect, SqlTexts } from "./sql-text.ts";

function convert(
  type: string,
  value: unknown,
  dialect: SqlDialect = "mysql",
  options: ValueOptions = {},
  bytes: "latin1" | "hex" = "latin1",
): unknown {
  return new SqlTexts({ dialect, bytes, values: resolveValueOptions(options), parseJson: JSON.parse }).of(type)(value);
}

const line = `010200000002000000${"0".repeat(32)}${"000000000000f03f".repeat(2)}`;

/** Type names and texts in the form of MySQL 8's information_schema and its client. */
describe("MySQL", () => {
  test.each<[string, unknown, unknown]>([
    ["tinyint(1)", "1", 1],
    ["INTEGER", "-2147483648", -2147483648],
    ["int(10) unsigned zerofill", "0000000042", 42],
    ["bigint(20)", "9223372036854775807", 9223372036854775807n],
    ["bigint unsigned", "18446744073709551615", 18446744073709551615n],
    ["bigint", "42", 42],
    ["decimal(10,2)", "1234567890.10", "1234567890.10"],
    ["DECIMAL(10)", 7, "7"],
    ["float", "3.14", Math.fround(3.14)],
    ["double(10,4)", "3.14", 3.14],
    ["date", "2024-02-29", "2024-02-29"],
    ["date", "0000-00-00", "0000-00-00"],
    ["datetime(6)", "2024-02-29 12:00:00.500000", "2024-02-29T12:00:00.5"],
    ["datetime", "0000-00-00 00:00:00", "0000-00-00T00:00:00"],
    ["timestamp", "2038-01-19 03:14:07", "2038-01-19T03:14:07"],
    ["time", "-838:59:59", "-838:59:59"],
    ["time(3)", "12:00:00.500", "12:00:00.5"],
    ["year(4)", "2024", 2024],
    ["real", "0.1", 0.1],
    ["real(12,2)", "16777217.25", 16777217.25],
    ["float4", "0.1", Math.fround(0.1)],
    ["bit(1)", "1", true],
    ["bit(1)", "65", "1000001"],
    ["bit(10)", "5", "0000000101"],
    ["bit", "65", "1000001"],
    ["set", "3", "3"],
    ["set", "a,b", ["a", "b"]],
    ["json", '{"a": 1}', '{"a": 1}'],
    ["set('a','b','c')", "a,c", ["a", "c"]],
    ["set('a','b','c')", "5", ["a", "c"]],
    ["set('a','b')", "", []],
    ["enum('it''s','(b)')", "2", "(b)"],
    ["enum('it''s','(b)')", "it's", "it's"],
    ["enum('1','2')", "2", "2"],
    ["varchar(255)", "42", "42"],
    ["blob", "\u0000\u00ff", Buffer.from([0, 255])],
    ["geometry", "as it is", "as it is"],
    ["inet6", "as it is", "as it is"],
    // ST_GeomFromText('POINT(1 2)', 4326) as MySQL stores it, and 'LINESTRING(0 0,1 1)' without an SRID
    [
      "point",
      Buffer.from("e6100000" + "0101000000" + "000000000000f03f" + "0000000000000040", "hex").toString("latin1"),
      { x: 1, y: 2, srid: 4326, wkb: Buffer.from("0101000000000000000000f03f0000000000000040", "hex") },
    ],
    ["linestring", Buffer.from(`00000000${line}`, "hex").toString("latin1"), { wkb: Buffer.from(line, "hex"), srid: null }],
    ["geometry", "POINT(1 2)", "POINT(1 2)"],
    ["point", "\u0000\u0000", "\u0000\u0000"],
    ["int", null, null],
  ])("%s %o is %o", (type, value, expected) => {
    expect(convert(type, value)).toEqual(expected);
  });
});

/** Type names in the form of wal2json and format_type(). */
describe("PostgreSQL", () => {
  test.each<[string, unknown, unknown]>([
    ["smallint", 1, 1],
    ["int", "9007199254740993", 9007199254740993n],
    ["bigint", 9223372036854775807n, 9223372036854775807n],
    ["numeric(5,3)", "3.540", "3.540"],
    ["numeric(5,3)", 3, "3.000"],
    ["numeric", "1234567890987654321.1234567890987654321", "1234567890987654321.1234567890987654321"],
    ["numeric", "NaN", "NaN"],
    ["real", "-876.563", Math.fround(-876.563)],
    ["double precision", "Infinity", Number.POSITIVE_INFINITY],
    ["boolean", true, true],
    ["boolean", "t", true],
    ["boolean", "9007199254740993", 9007199254740993n],
    ["timestamp(3) without time zone", "2024-02-29 12:00:00.5", "2024-02-29T12:00:00.5"],
    ["timestamp without time zone", "Sat Nov 02 17:30:52 2013", "Sat Nov 02 17:30:52 2013"],
    ["timestamp without time zone", "infinity", "infinity"],
    ["timestamp without time zone", "0044-03-15 12:00:00 BC", "-0043-03-15T12:00:00"],
    ["timestamp with time zone", "2018-03-27 11:58:28.988414-03", "2018-03-27T11:58:28.988414-03:00"],
    ["timestamptz", "2018-03-27 11:58:28+00", "2018-03-27T11:58:28Z"],
    ["time with time zone", "12:00:00.50+05:30", "12:00:00.5+05:30"],
    ["time without time zone", "24:00:00", "24:00:00"],
    ["bit varying(20)", "001110010101010", "001110010101010"],
    ["bit(3)", "101", "101"],
    ["numeric(5,3)[]", "{1.000}", "{1.000}"],
    ["uuid", "0b9a1b5e-8b0c-4c0e-9f5e-7b3c6b6d0e11", "0b9a1b5e-8b0c-4c0e-9f5e-7b3c6b6d0e11"],
  ])("%s %o is %o", (type, value, expected) => {
    expect(convert(type, value, "postgresql")).toEqual(expected);
  });

  test("bytea is hexadecimal, with or without its mark", () => {
    expect(convert("bytea", "\\xdead", "postgresql", {}, "hex")).toEqual(Buffer.from("dead", "hex"));
    expect(convert("bytea", "dead", "postgresql", {}, "hex")).toEqual(Buffer.from("dead", "hex"));
  });
});

describe("options", () => {
  test("int64 sets the form of 64-bit integers, and smaller ones stay numbers", () => {
    expect(convert("bigint", "1", "mysql", { int64: "bigint" })).toBe(1n);
    expect(convert("bigint", "0001", "mysql", { int64: "string" })).toBe("1");
    expect(convert("int", 1n, "mysql", { int64: "bigint" })).toBe(1);
    expect(convert("int unsigned", "1", "mysql", { int64: "bigint" })).toBe(1n);
  });

  test("time, bits, decimals and JSON have the same form as in every encoding", () => {
    expect(convert("datetime", "2024-02-29 12:00:00", "mysql", { time: "date" })).toEqual(new Date("2024-02-29T12:00:00Z"));
    expect(convert("timestamptz", "2024-02-29 12:00:00+02", "postgresql", { time: "date" })).toEqual(new Date("2024-02-29T10:00:00Z"));
    expect(convert("datetime", "2024-02-29 12:00:00", "mysql", { time: "raw" })).toBe("2024-02-29 12:00:00");
    expect(convert("bit(12)", "2561", "mysql", { bits: "bytes" })).toEqual(Buffer.from([1, 10]));
    expect(convert("bit(12)", "101000000001", "postgresql", { bits: "bigint" })).toBe(2561n);
    expect(convert("decimal(4,1)", "1.5", "mysql", { decimal: (unscaled, scale) => [unscaled, scale] })).toEqual([15n, 1]);
    expect(convert("json", "[1]", "mysql", { json: "parse" })).toEqual([1]);
  });
});

test("a member that is always a number is never the text of another one", () => {
  const texts = new SqlTexts({
    dialect: "mysql",
    bytes: "base64",
    members: "number",
    values: resolveValueOptions(),
    parseJson: JSON.parse,
  });
  expect([texts.of("enum('3','1','2')")("1"), texts.of("enum('3','1','2')")(3), texts.of("enum('a')")("0")]).toEqual(["3", "2", ""]);
  expect(texts.of("set('4','2','1')")("4")).toEqual(["1"]);
});

describe("a value that contradicts its type", () => {
  test.each([
    ["int", "secret"],
    ["double", "secret"],
    ["decimal(4,1)", "secret"],
    ["blob", "\u0416"],
    ["bit(3)", "secret"],
  ])("%s is an error that does not quote the value", (type, value) => {
    let error: unknown;
    try {
      convert(type, value);
    } catch (thrown) {
      error = thrown;
    }
    expect(isDecodeError(error) && error.code).toBe("value-invalid");
    expect((error as Error).message).not.toContain(value);
  });
});
