import { describe, expect, test } from "vitest";
import { isDecodeError } from "../errors.ts";
import { resolveValueOptions, type ValueOptions } from "../options.ts";
import type { Conversion } from "./conversion.ts";
import { conversionFor } from "./conversion-for.ts";
import { tidbSemantic } from "./tidb-column.ts";

function conversion(tidbType: string, parameters: Readonly<Record<string, string>> = {}, options: ValueOptions = {}): Conversion | null {
  const semantic = tidbSemantic(tidbType, parameters);
  return semantic === null ? null : conversionFor(semantic, resolveValueOptions(options), JSON.parse);
}

/** The names and values are from pkg/sink/codec/avro/avro.go and pkg/sink/codec/debezium/codec.go of github.com/pingcap/tiflow. */
describe("a column whose schema states its TiDB type", () => {
  test("is the number above 2^63 that its long encodes, or its text", () => {
    const { int, bigint, text } = conversion("BIGINT UNSIGNED") ?? {};
    expect([int?.(-1), int?.(7), bigint?.(-(2n ** 63n)), text?.("18446744073709551615")]).toEqual([
      2n ** 64n - 1n,
      7,
      2n ** 63n,
      2n ** 64n - 1n,
    ]);
    expect(conversion("bigint unsigned", {}, { int64: "string" })?.int?.(-1)).toBe("18446744073709551615");
  });

  test("is bits of its length, the highest byte first", () => {
    const bytes = Buffer.from("0203", "hex");
    expect(conversion("BIT", { length: "10" })?.bytes?.(bytes, 0, 2)).toBe("1000000011");
    expect(conversion("BIT", { length: "10" })?.bytes?.(bytes, 1, 2)).toBe("0000000011");
    expect(conversion("BIT", { length: "1" })?.bytes?.(bytes, 0, 0)).toBe(false);
    expect(conversion("BIT")?.bytes?.(bytes, 0, 2)).toBe("1000000011");
  });

  test("of more bits than a BIT has is an error", () => {
    let error: unknown;
    try {
      conversion("BIT")?.bytes?.(Buffer.alloc(9, 0xff), 0, 9);
    } catch (thrown) {
      error = thrown;
    }
    expect(isDecodeError(error) && error.code).toBe("value-invalid");
  });

  test("is a date, a time, a set or JSON in the same form as from all formats", () => {
    expect(conversion("DATETIME")?.text?.("1969-07-20 20:17:40.500000")).toBe("1969-07-20T20:17:40.5");
    expect(conversion("TIME")?.text?.("-00:00:00.500000")).toBe("-00:00:00.5");
    expect(conversion("TIME", {}, { time: "raw" })?.text?.("-00:00:00.500000")).toBe("-00:00:00.500000");
    expect(conversion("SET")?.text?.("a,c")).toEqual(["a", "c"]);
    expect(conversion("JSON", {}, { json: "parse" })?.text?.('{"a": 1}')).toEqual({ a: 1 });
  });

  test("is bytes if they arrive as base64", () => {
    expect(conversion("varbinary")?.text?.("wyj/XAA=")).toEqual(Buffer.from("c328ff5c00", "hex"));
  });

  test("stays as it is if its type says no more than its schema, or if it has no type", () => {
    expect(["INT", "TEXT", "ENUM", "YEAR", "TiDBVECTORFloat32", "__proto__", ""].map((type) => tidbSemantic(type, {}))).toEqual(
      Array.from({ length: 7 }, () => null),
    );
    expect(tidbSemantic(undefined, {})).toBeNull();
  });
});
