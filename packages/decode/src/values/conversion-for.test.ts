import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isDecodeError } from "../errors.ts";
import { resolveValueOptions, type ValueOptions } from "../options.ts";
import type { Conversion } from "./conversion.ts";
import { conversionFor } from "./conversion-for.ts";

function find(name: string, parameters: Record<string, string> = {}, options: ValueOptions = {}): Conversion | null {
  return conversionFor({ name, parameters }, resolveValueOptions(options), JSON.parse);
}

function ofBytes(conversion: Conversion | null, bytes: readonly number[]): unknown {
  const framed = Buffer.from([0xee, ...bytes, 0xee]);
  return conversion?.bytes?.(framed, 1, framed.length - 1);
}

describe("bits", () => {
  const name = "io.debezium.data.Bits";

  test.each([
    [[0xaa], "8", "10101010"],
    [[0x0b], "20", "00000000000000001011"],
    [[0x01, 0x02], "16", "0000001000000001"],
    [[0x01, 0x02], "10", "1000000001"],
    [[], "3", "000"],
    [[0x05], undefined, "00000101"],
    [[0x05], "2147483647", "00000101"],
  ])("%o of length %s read %s", (bytes, length, text) => {
    expect(ofBytes(find(name, length === undefined ? {} : { length }), bytes)).toBe(text);
  });

  test("beyond their length must be clear", () => {
    expect(() => ofBytes(find(name, { length: "3" }), [0x08])).toThrow(/^\[value-invalid\]/);
    expect(() => ofBytes(find(name, { length: "3" }), [0x00, 0x01])).toThrow(/^\[value-invalid\]/);
    expect(ofBytes(find(name, { length: "3" }), [0x07, 0x00])).toBe("111");
  });

  test("are a copy of their bytes, or a bigint, if the options say so", () => {
    const message = Buffer.from([0x01, 0x02]);
    const copy = find(name, { length: "12" }, { bits: "bytes" })?.bytes?.(message, 0, 2);
    message.fill(0xff);
    expect(copy).toEqual(Buffer.from([0x01, 0x02]));
    expect(ofBytes(find(name, { length: "12" }, { bits: "bigint" }), [0x01, 0x02])).toBe(0x0201n);
    expect(ofBytes(find(name, {}, { bits: "bigint" }), [])).toBe(0n);
  });

  test("are the same number in each form", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 20 }), (bytes) => {
        const number = ofBytes(find(name, {}, { bits: "bigint" }), [...bytes]) as bigint;
        expect(ofBytes(find(name), [...bytes])).toBe(number.toString(2).padStart(bytes.length * 8, "0"));
      }),
    );
  });
});

describe("an enum", () => {
  const name = "io.debezium.data.Enum";

  test("whose list has escaped commas is the member itself, as the snapshot has it", () => {
    const conversion = find(name, { allowed: "sad,happy\\, very\\, very,," });
    expect(conversion?.text?.("happy\\, very\\, very")).toBe("happy, very, very");
    for (const text of ["sad", "happy, very, very", "", "none\\, of them"]) expect(conversion?.text?.(text)).toBe(text);
  });

  test("without such commas stays as it is", () => {
    for (const parameters of [{ allowed: "sad,ok" }, { allowed: "" }, {}]) expect(find(name, parameters)).toBeNull();
  });
});

describe("an enum set", () => {
  test("is the list of its members", () => {
    const conversion = find("io.debezium.data.EnumSet", { allowed: "a,b,c" });
    expect(conversion?.text?.("a,c")).toEqual(["a", "c"]);
    expect(conversion?.text?.("")).toEqual([]);
  });
});

describe("geometry", () => {
  const wkb = Buffer.from("AQEAAAAAAAAAAAD4PwAAAAAAAATA", "base64");

  test("a point has x, y, srid and wkb, even if some were absent", () => {
    const point = find("io.debezium.data.geometry.Point");
    expect(point?.struct?.({ x: 1.5, y: -2.5, wkb, srid: null })).toEqual({ x: 1.5, y: -2.5, srid: null, wkb });
    expect(point?.struct?.({ x: 1.5, y: -2.5 })).toEqual({ x: 1.5, y: -2.5, srid: null, wkb: null });
  });

  test("a geometry has wkb and srid, and its extensions if there are any", () => {
    for (const name of ["io.debezium.data.geometry.Geometry", "io.debezium.data.geometry.Geography"]) {
      expect(find(name)?.struct?.({ wkb, srid: 4326 })).toEqual({ wkb, srid: 4326 });
      expect(find(name)?.struct?.({ wkb, srid: 4326, extensions: null })).toEqual({ wkb, srid: 4326 });
      expect(find(name)?.struct?.({ wkb, extensions: { type: "path" } })).toEqual({ wkb, srid: null, extensions: { type: "path" } });
    }
  });

  test("a circle's centre is a point", () => {
    const circle = find("io.debezium.data.geometry.Circle");
    expect(circle?.struct?.({ center: { x: 1, y: 2 }, radius: 3 })).toEqual({ center: { x: 1, y: 2, srid: null, wkb: null }, radius: 3 });
    expect(() => circle?.struct?.({ center: null, radius: 3 })).toThrow(/^\[value-invalid\]/);
  });
});

describe("a JSON column", () => {
  test("stays text, or is parsed by the given parser", () => {
    expect(find("io.debezium.data.Json")).toBeNull();
    const conversion = conversionFor(
      { name: "io.debezium.data.Json", parameters: {} },
      resolveValueOptions({ json: "parse" }),
      (text) => `parsed ${text}`,
    );
    expect(conversion?.text?.("{}")).toBe("parsed {}");
  });

  test("that is not JSON is refused, and the error does not quote it", () => {
    const conversion = find("io.debezium.data.Json", {}, { json: "parse" });
    expect(() => conversion?.text?.("secret")).toThrow(/^\[value-invalid\](?!.*secret)/);
  });
});

describe("a UUID", () => {
  test("of 16 bytes is written out", () => {
    const bytes = [...Buffer.from("a0eebc999c0b4ef8bb6d6bb9bd380a11", "hex")];
    expect(ofBytes(find("avro.uuid"), bytes)).toBe("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11");
    expect(() => ofBytes(find("avro.uuid"), [1, 2])).toThrow(/^\[value-invalid\]/);
  });
});

describe("Avro's duration", () => {
  test("is an ISO duration of months, days and milliseconds", () => {
    const bytes = Buffer.alloc(12);
    bytes.writeUInt32LE(14, 0);
    bytes.writeUInt32LE(4_294_967_295, 4);
    bytes.writeUInt32LE(3_723_004, 8);
    expect(ofBytes(find("avro.duration"), [...bytes])).toBe("P1Y2M4294967295DT1H2M3.004S");
    expect(() => ofBytes(find("avro.duration"), [1])).toThrow(/^\[value-invalid\]/);
  });
});

describe("every conversion", () => {
  test("leaves values that need no conversion, and unknown names, as they are", () => {
    const names = ["Uuid", "Xml", "Ltree", "Tsvector", "Enum", "TiDBVectorFloat32"];
    for (const name of names) {
      expect(find(`io.debezium.data.${name}`)?.text).toBeUndefined();
      expect(find(`io.debezium.data.${name}`)?.struct).toBeUndefined();
    }
    for (const name of ["Year", "Interval", "MicroDuration", "NanoDuration", "ZonedTime", "ZonedTimestamp"]) {
      expect(find(`io.debezium.time.${name}`)).toBeNull();
    }
    for (const name of ["", "__proto__", "constructor", "com.example.Mine"]) {
      expect(find(name)).toBeNull();
    }
  });

  test("gives a value or a DecodeError for any bytes and parameters", () => {
    const names = [
      "org.apache.kafka.connect.data.Decimal",
      "avro.big-decimal",
      "avro.decimal",
      "avro.uuid",
      "avro.duration",
      "io.debezium.data.Bits",
    ];
    const parameters = fc.record({
      scale: fc.oneof(fc.string(), fc.integer().map(String)),
      length: fc.oneof(fc.string(), fc.integer().map(String)),
    });
    fc.assert(
      fc.property(fc.constantFrom(...names), parameters, fc.uint8Array({ maxLength: 600 }), (name, given, bytes) => {
        try {
          ofBytes(find(name, given), [...bytes]);
        } catch (error) {
          expect(isDecodeError(error)).toBe(true);
        }
      }),
      { numRuns: 2000 },
    );
  });

  test("gives a value or a DecodeError for any struct", () => {
    const names = [
      "time.StructuredTimestamp",
      "time.StructuredZonedTime",
      "time.StructuredDuration",
      "data.VariableScaleDecimal",
      "data.geometry.Circle",
    ];
    const fields = [
      "year",
      "month",
      "hour",
      "nanos",
      "picoseconds",
      "offsetSeconds",
      "specialValue",
      "scale",
      "value",
      "center",
      "__proto__",
    ];
    const struct = fc.dictionary(
      fc.constantFrom(...fields),
      fc.anything({ withBigInt: true, withTypedArray: true, withNullPrototype: true }),
    );
    fc.assert(
      fc.property(fc.constantFrom(...names), struct, (name, value) => {
        try {
          find(`io.debezium.${name}`)?.struct?.(value);
        } catch (error) {
          expect(isDecodeError(error)).toBe(true);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
