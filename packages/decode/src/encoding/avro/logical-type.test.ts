import { describe, expect, test } from "vitest";
import { avroType, long, readBoth, text, twins } from "./twins.contract.ts";

/** The type of a record's column. Bytes at the top may come without their length. */
function valueOf(schema: unknown, payload: Buffer): unknown {
  const record = { type: "record", name: "W", fields: [{ name: "w", type: schema }] };
  const outcome = readBoth(twins(avroType(record)), payload);
  return "value" in outcome ? (outcome.value as { readonly w: unknown }).w : outcome;
}

const zigZag = (value: number): Buffer => long(value);

/** Logical types that Apache Avro's specification calls invalid: the underlying type is used. */
const ignored: readonly (readonly [string, unknown, Buffer, unknown])[] = [
  ["bytes as a decimal without a precision", { type: "bytes", logicalType: "decimal", scale: 2 }, text("ab"), Buffer.from("ab")],
  ["a scale above the precision", { type: "bytes", logicalType: "decimal", precision: 2, scale: 3 }, text("ab"), Buffer.from("ab")],
  ["a precision of 0", { type: "bytes", logicalType: "decimal", precision: 0 }, text("ab"), Buffer.from("ab")],
  ["a negative scale", { type: "bytes", logicalType: "decimal", precision: 4, scale: -1 }, text("ab"), Buffer.from("ab")],
  ["a precision that is text", { type: "bytes", logicalType: "decimal", precision: "4" }, text("ab"), Buffer.from("ab")],
  ["a precision that two bytes do not hold", { type: "fixed", name: "F", size: 2, logicalType: "decimal", precision: 5 }, Buffer.from("ab"), Buffer.from("ab")],
  ["text as a decimal", { type: "string", logicalType: "decimal", precision: 4, scale: 2 }, text("1.5"), "1.5"],
  ["15 bytes as a UUID", { type: "fixed", name: "F", size: 15, logicalType: "uuid" }, Buffer.alloc(15, 1), Buffer.alloc(15, 1)],
  ["bytes as a UUID", { type: "bytes", logicalType: "uuid" }, text("ab"), Buffer.from("ab")],
  ["a long as a date", { type: "long", logicalType: "date" }, zigZag(20_000), 20_000],
  ["an int as a timestamp", { type: "int", logicalType: "timestamp-millis" }, zigZag(20_000), 20_000],
  ["a long as a time of milliseconds", { type: "long", logicalType: "time-millis" }, zigZag(20_000), 20_000],
  ["11 bytes as a duration", { type: "fixed", name: "F", size: 11, logicalType: "duration" }, Buffer.alloc(11, 1), Buffer.alloc(11, 1)],
  ["text as a timestamp", { type: "string", logicalType: "timestamp-micros" }, text("x"), "x"],
]; // biome-ignore format: one line per case

describe("a logical type that the specification calls invalid is ignored", () => {
  for (const [name, schema, payload, value] of ignored) {
    test(name, () => {
      expect(avroType(schema).semantic).toBeUndefined();
      expect(valueOf(schema, payload)).toEqual(value);
    });
  }
});

const meant: readonly (readonly [string, unknown, Buffer, unknown])[] = [
  ["a decimal of bytes", { type: "bytes", logicalType: "decimal", precision: 4, scale: 2 }, text("\u0001"), "0.01"],
  ["a decimal of two bytes", { type: "fixed", name: "F", size: 2, logicalType: "decimal", precision: 4 }, Buffer.from([0, 5]), "5"],
  ["a date", { type: "int", logicalType: "date" }, zigZag(1), "1970-01-02"],
];

describe("a valid logical type is not ignored", () => {
  for (const [name, schema, payload, value] of meant) {
    test(name, () => {
      expect(valueOf(schema, payload)).toEqual(value);
    });
  }
  test("a name of Connect's own takes precedence over Avro's rules", () => {
    const schema = {
      type: "bytes",
      logicalType: "decimal",
      "connect.name": "org.apache.kafka.connect.data.Decimal",
      "connect.parameters": { scale: "2" },
    };
    expect(valueOf(schema, text("\u0001"))).toBe("0.01");
  });
});

describe("plain Avro has no infinity for times", () => {
  test.each([-2_147_472_692, -2_147_472_691, -622_191_234, -625_821_272])("the date %i", (days) => {
    expect(String(valueOf({ type: "int", logicalType: "date" }, zigZag(days)))).toMatch(/^-\d+-\d\d-\d\d$/);
    expect(String(valueOf({ type: "int", "connect.name": "io.debezium.time.Date" }, zigZag(days)))).toMatch(/infinity$/);
  });
  const ends = [9_223_372_036_825_200_000n, -9_223_372_036_832_400_000n, 9_223_372_036_854_775_807n, -9_223_372_036_854_775_808n];
  for (const unit of ["millis", "micros", "nanos"]) {
    test.each(ends)(`the local timestamp %i, in ${unit}`, (value) => {
      expect(String(valueOf({ type: "long", logicalType: `local-timestamp-${unit}` }, long(value)))).not.toMatch(/infinity/);
    });
  }
});
