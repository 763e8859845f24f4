import { describe, expect, test } from "vitest";
import { type ConnectorModes, defaultModes, propagatedColumn } from "./native-column.ts";
import { nativeSemantic } from "./native-semantic.ts";

/** The semantic type of a column as `name(parameters)`, without the package of the name. */
function meaning(connector: string, typeName: string, length: number | null, scale: number | null, modes: ConnectorModes): string | null {
  const semantic = nativeSemantic(connector, { typeName, length, scale }, modes);
  if (semantic === null) {
    return null;
  }
  const parameters = Object.values(semantic.parameters).join();
  return semantic.name.replace(/^.*\.(?=\w)/, "") + (parameters === "" ? "" : `(${parameters})`);
}

describe("a native type in its connector's default modes", () => {
  // Debezium's own documentation of each connector's type mappings, and its value converters.
  test.each([
    ["postgresql", "date", 13, 0, "Date"],
    ["postgresql", "time", 15, 6, "MicroTime"],
    ["postgresql", "time", 12, 3, "Time"],
    ["postgresql", "timestamp", 29, 6, "MicroTimestamp"],
    ["postgresql", "timestamp", 23, 3, "Timestamp"],
    ["postgresql", "timestamp", null, null, null],
    ["postgresql", "timestamptz", 35, 6, "ZonedTimestamp"],
    ["postgresql", "timetz", 21, 6, "ZonedTime"],
    ["postgresql", "numeric", 10, 2, "Decimal(2)"],
    ["postgresql", "numeric", 131089, 0, "VariableScaleDecimal"],
    ["postgresql", "numeric", 5, 0, "Decimal(0)"],
    ["postgresql", "money", 2147483647, 0, "Decimal(2)"],
    ["postgresql", "bytea", 2147483647, 0, "bytes"],
    ["postgresql", "bit", 1, 0, null],
    ["postgresql", "varbit", 12, 0, "Bits(12)"],
    ["postgresql", "varbit", 1, 0, null],
    ["postgresql", "bit varying", null, null, "Bits"],
    ["postgresql", "jsonb", 2147483647, 0, "Json"],
    ["postgresql", "vector", null, null, "DoubleVector"],
    ["postgresql", "halfvec", null, null, "FloatVector"],
    ["postgresql", "sparsevec", null, null, "SparseDoubleVector"],
    ["postgresql", "path", null, null, "Geometry"],
    ["postgresql", "int8", 19, 0, null],
    ["postgresql", "text", null, null, null],
    ["postgresql", "uuid", null, null, "Uuid"],
    ["postgresql", "xml", null, null, "Xml"],
    ["postgresql", "ltree", null, null, "Ltree"],
    ["postgresql", "tsvector", null, null, "Tsvector"],
    ["postgresql", "interval", 49, 6, "MicroDuration"],
    ["postgresql", "inet", null, null, null],
    ["postgresql", "_uuid", null, null, null],
    ["mysql", "DATETIME", null, null, "Timestamp"],
    ["mysql", "DATETIME", 6, null, "MicroTimestamp"],
    ["mysql", "TIME", 3, null, "MicroTime"],
    ["mysql", "TIMESTAMP", 6, null, "ZonedTimestamp"],
    ["mysql", "DECIMAL", 65, 30, "Decimal(30)"],
    ["mysql", "DECIMAL UNSIGNED", 10, 2, "Decimal(2)"],
    ["mysql", "BIGINT UNSIGNED", 20, null, null],
    ["mysql", "SET", 1, null, "EnumSet"],
    ["mysql", "BIT", 1, null, null],
    ["mysql", "BIT", 8, null, "Bits(8)"],
    ["mysql", "MULTIPOLYGON", null, null, "Geometry"],
    ["mysql", "VECTOR", null, null, "FloatVector"],
    ["mariadb", "DATETIME(6)", null, null, "MicroTimestamp"],
    ["oracle", "NUMBER", 9, 0, null],
    ["oracle", "NUMBER", 19, 0, "Decimal(0)"],
    ["oracle", "NUMBER", 10, -2, null],
    ["oracle", "NUMBER", 10, 2, "Decimal(2)"],
    ["oracle", "NUMBER", null, null, "VariableScaleDecimal"],
    ["oracle", "FLOAT", 126, null, "VariableScaleDecimal"],
    ["oracle", "DATE", 7, null, "Timestamp"],
    ["oracle", "TIMESTAMP(6)", 6, null, "MicroTimestamp"],
    ["oracle", "TIMESTAMP(9)", 9, null, "NanoTimestamp"],
    ["oracle", "TIMESTAMP(6) WITH TIME ZONE", 6, null, "ZonedTimestamp"],
    ["oracle", "TIMESTAMP(6) WITH LOCAL TIME ZONE", 6, null, "ZonedTimestamp"],
    ["sqlserver", "datetime2", 27, 7, "NanoTimestamp"],
    ["sqlserver", "datetime", 23, 3, "Timestamp"],
    ["sqlserver", "time", 16, 7, "NanoTime"],
    ["sqlserver", "datetimeoffset", 34, 7, "ZonedTimestamp"],
    ["sqlserver", "decimal() identity", 10, 0, "Decimal(0)"],
    ["sqlserver", "money", 19, 4, "Decimal(4)"],
    ["sqlserver", "int identity", 10, 0, null],
    ["db4", "date", null, null, null],
    ["constructor", "date", null, null, null],
    ["postgresql", "__proto__", null, null, null],
  ])("of %s: %s of length %s and scale %s means %s", (connector, typeName, length, scale, expected) => {
    expect(meaning(connector, typeName, length, scale, defaultModes(connector))).toBe(expected);
  });
});

describe("a native type whose form depends on a mode", () => {
  test.each([
    ["postgresql", "timestamp", 29, 6, {}, null],
    ["postgresql", "numeric", 10, 2, {}, null],
    ["postgresql", "numeric", 10, 2, { decimal: "string" }, null],
    ["postgresql", "money", null, null, { decimal: "precise" }, null],
    ["postgresql", "bytea", null, null, {}, null],
    ["postgresql", "bytea", null, null, { binary: "hex" }, null],
    ["postgresql", "interval", 49, 6, {}, null],
    ["postgresql", "interval", 49, 6, { interval: "string" }, "Interval"],
    ["postgresql", "date", 13, 0, {}, "Date"],
    ["postgresql", "date", 13, 0, { time: "isostring" }, "IsoDate"],
    ["postgresql", "date", 13, 0, { time: "connect" }, "Date"],
    ["postgresql", "timestamp", 29, 6, { time: "connect" }, "Timestamp"],
    ["postgresql", "timestamp", 29, 6, { time: "nanoseconds" }, "NanoTimestamp"],
    ["postgresql", "time", 15, 6, { time: "adaptive_time_microseconds" }, "MicroTime"],
    ["postgresql", "timestamptz", 35, 6, {}, "ZonedTimestamp"],
    ["postgresql", "timestamptz", 35, 6, { time: "structured" }, "StructuredZonedTimestamp"],
    ["mysql", "TIME", null, null, { time: "structured" }, "StructuredDuration"],
    ["mysql", "BIGINT UNSIGNED", null, null, { unsignedBigint: "precise" }, "Decimal(0)"],
  ] as const)("%s: %s of length %s and scale %s with %o means %s", (connector, typeName, length, scale, modes, expected) => {
    expect(meaning(connector, typeName, length, scale, modes)).toBe(expected);
  });
});

describe("a column that a schema's parameters describe", () => {
  test("is read from them", () => {
    const parameters = {
      "__debezium.source.column.type": "NUMERIC",
      "__debezium.source.column.length": "10",
      "__debezium.source.column.scale": "2",
    };
    expect(propagatedColumn(parameters)).toEqual({ typeName: "NUMERIC", length: 10, scale: 2 });
  });

  test("has no length or scale if they state none, and is null without a type", () => {
    expect(propagatedColumn({ "__debezium.source.column.type": "TEXT", "__debezium.source.column.length": "x" })).toEqual({
      typeName: "TEXT",
      length: null,
      scale: null,
    });
    expect(propagatedColumn({ scale: "2" })).toBeNull();
    expect(propagatedColumn(null)).toBeNull();
  });

  test("may have another name in its table, and its numbers may be numbers", () => {
    const parameters = {
      "__debezium.source.column.type": "VARCHAR",
      "__debezium.source.column.length": 255,
      "__debezium.source.column.name": "e-mail",
    };
    expect(propagatedColumn(parameters)).toEqual({ typeName: "VARCHAR", length: 255, scale: null, name: "e-mail" });
  });
});
