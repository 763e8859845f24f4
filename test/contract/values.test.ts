import { applyTo, createDecoder, type SchemaSource, UNAVAILABLE, type ValueOptions } from "@cdckit/decode";
import { describe, expect, test } from "vitest";
import { type ValueCase, valueCases } from "./value-cases.ts";
import { avroWritten, type ConnectType, type Raw, writers, type Written } from "./value-writers.ts";

/** Encodings whose readers a topic's hints do not reach yet: what only a hint tells them is not tested through the decoder. */
const unhinted: readonly string[] = ["protobuf"];

const encodings = Object.keys(writers) as (keyof typeof writers)[];

function sourceOf({ schema }: Written): SchemaSource {
  return {
    peek: (id) => (schema !== null && id === schema.id ? schema : undefined),
    load: (id) => Promise.reject(Object.assign(new Error(`no schema ${String(id)}`), { code: "not-found" })),
  };
}

/** The value of the column `c`. */
async function columnOf(written: Written, type: ConnectType, values: ValueOptions): Promise<unknown> {
  const hint = type.name === undefined ? {} : { c: { name: type.name, parameters: type.parameters ?? {} } };
  const decoder = createDecoder({
    schemas: sourceOf(written),
    values,
    ...(written.needsHint ? { topics: { "s.public.t": { columns: hint } } } : {}),
  });
  const [event] = await decoder.decode(written.record);
  expect(event).toMatchObject({ kind: "change", envelope: "debezium", op: "update" });
  return event?.kind === "change" ? event.after?.["c"] : undefined;
}

function title({ type, raw }: ValueCase): string {
  const shown = JSON.stringify(raw, (_, value: unknown) =>
    typeof value === "bigint" ? String(value) : value instanceof Map ? [...value] : value,
  );
  return `${type.name ?? type.type} ${shown.length > 100 ? `${shown.slice(0, 100)}...` : shown}`;
}

describe.each(encodings)("in %s", (encoding) => {
  const carried = valueCases.filter(
    ({ except, type }) => except?.[encoding] === undefined && (type.name === undefined || !unhinted.includes(encoding)),
  );

  test.each(carried.map((one) => [title(one), one] as const))("%s", async (_, { type, raw, value, modes = [] }) => {
    const written = writers[encoding](type, raw);
    for (const [options, expected] of [[{}, value] as const, ...modes]) {
      expect(await columnOf(written, type, options), JSON.stringify(options)).toEqual(expected);
    }
  });

  test.each(carried.filter(({ type }) => type.type !== "map" && type.type !== "array").map((one) => [title(one), one] as const))(
    "%s may be null",
    async (_, { type }) => {
      expect((await columnOf(writers[encoding](type, null), type, {})) ?? null).toBeNull();
    },
  );
});

describe("Avro's own logical types", () => {
  const fixed = (size: number, logicalType: string, more = {}): unknown => ({ type: "fixed", name: "F", size, logicalType, ...more });
  const uuid = Buffer.from("a0eebc999c0b4ef8bb6d6bb9bd380a11", "hex");

  test.each<[string, unknown, unknown, unknown, ValueOptions?]>([
    ["decimal in bytes", { type: "bytes", logicalType: "decimal", precision: 9, scale: 2 }, Buffer.from("cfc7", "hex"), "-123.45"],
    ["decimal without a scale", { type: "bytes", logicalType: "decimal", precision: 9 }, Buffer.from("3039", "hex"), "12345"],
    ["decimal in fixed bytes", fixed(8, "decimal", { precision: 9, scale: 2 }), Buffer.from("ffffffffffffcfc7", "hex"), "-123.45"],
    ["big-decimal", { type: "bytes", logicalType: "big-decimal" }, Buffer.from("04303904", "hex"), "123.45"], // length 2, unscaled, scale 2
    [
      "uuid in text",
      { type: "string", logicalType: "uuid" },
      "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
      "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
    ],
    ["uuid in 16 bytes", fixed(16, "uuid"), uuid, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"],
    ["date", { type: "int", logicalType: "date" }, 19_782, "2024-02-29"],
    ["time-millis", { type: "int", logicalType: "time-millis" }, 86_399_999, "23:59:59.999"],
    ["time-micros", { type: "long", logicalType: "time-micros" }, 86_399_999_999n, "23:59:59.999999"],
    ["timestamp-millis", { type: "long", logicalType: "timestamp-millis" }, 1_709_210_096_789n, "2024-02-29T12:34:56.789Z"],
    ["timestamp-micros", { type: "long", logicalType: "timestamp-micros" }, 1_709_210_096_789_001n, "2024-02-29T12:34:56.789001Z"],
    ["timestamp-nanos", { type: "long", logicalType: "timestamp-nanos" }, 1_709_210_096_789_001_002n, "2024-02-29T12:34:56.789001002Z"],
    [
      "timestamp-micros as a Date",
      { type: "long", logicalType: "timestamp-micros" },
      1_709_210_096_789_001n,
      new Date("2024-02-29T12:34:56.789Z"),
      { time: "date" },
    ],
    ["local-timestamp-millis", { type: "long", logicalType: "local-timestamp-millis" }, 1_709_210_096_789n, "2024-02-29T12:34:56.789"],
    [
      "local-timestamp-micros",
      { type: "long", logicalType: "local-timestamp-micros" },
      1_709_210_096_789_001n,
      "2024-02-29T12:34:56.789001",
    ],
    [
      "local-timestamp-nanos",
      { type: "long", logicalType: "local-timestamp-nanos" },
      1_709_210_096_789_001_002n,
      "2024-02-29T12:34:56.789001002",
    ],
    ["duration", fixed(12, "duration"), Buffer.from("0e000000040000005ccf3800", "hex"), "P1Y2M4DT1H2M3.1S"],
    ["a name that nobody knows", { type: "long", logicalType: "mine" }, 7n, 7],
  ])("%s", async (_, type, raw, expected, options = {}) => {
    const schema = { type: "record", name: "Row", fields: [{ name: "c", type }] };
    const written = avroWritten(schema, { c: raw });
    const [event] = await createDecoder({ schemas: sourceOf(written), values: options }).decode(written.record);
    expect(event?.kind === "row" ? event.row["c"] : event).toEqual(expected);
  });
});

describe("what was not sent because it did not change", () => {
  const placeholder = "__debezium_unavailable_value";
  const bytes = Buffer.from(placeholder);
  const ofBytes = [...bytes].map(BigInt);
  const text: ConnectType = { type: "string" };
  /** Section by section of Debezium's UnchangedToastedPlaceholder. */
  const forms: readonly (readonly [string, ConnectType, Raw])[] = [
    ["text", text, placeholder],
    ["an hstore as JSON", { type: "string", name: "io.debezium.data.Json" }, JSON.stringify({ [placeholder]: placeholder })],
    ["bytea", { type: "bytes" }, bytes],
    ["a BLOB as base64", text, bytes.toString("base64")], // MySQL's and Oracle's, by binary.handling.mode
    ["a BLOB as hex", text, bytes.toString("hex")],
    ["text[]", { type: "array", items: text }, [placeholder]],
    ["jsonb[]", { type: "array", items: { type: "string", name: "io.debezium.data.Json" } }, [placeholder]],
    ["bytea[]", { type: "array", items: { type: "bytes" } }, [bytes]],
    ["int4[]", { type: "array", items: { type: "int32" } }, ofBytes],
    ["int8[]", { type: "array", items: { type: "int64" } }, ofBytes],
    ["date[]", { type: "array", items: { type: "int32", name: "io.debezium.time.Date" } }, ofBytes],
    ["an hstore as a map", { type: "map", keys: text, values: text }, new Map([[placeholder, placeholder]])],
    ["uuid[]", { type: "array", items: { type: "string", name: "io.debezium.data.Uuid" } }, ["b68a35a7-17ad-35b3-af2a-ae46edb4545a"]],
  ];

  describe.each(encodings)("in %s", (encoding) => {
    test.each(forms)("is UNAVAILABLE as %s, whatever the options, and comes from the row before", async (_, type, raw) => {
      const written = writers[encoding](type, raw);
      for (const options of [{}, { int64: "bigint" }, { int64: "string" }, { time: "date" }, { json: "parse" }] as const) {
        const value = await columnOf(written, type, options);
        expect(value, JSON.stringify(options)).toBe(UNAVAILABLE);
        expect(applyTo<Record<string, unknown>>({ id: 1, c: value }, { id: 1, c: "before" })).toEqual({ id: 1, c: "before" });
      }
    });

    test("has the placeholder that was configured, and no other", async () => {
      const options = { unavailablePlaceholder: "nicht da" };
      expect(await columnOf(writers[encoding](text, "nicht da"), text, options)).toBe(UNAVAILABLE);
      expect(await columnOf(writers[encoding](text, placeholder), text, options)).toBe(placeholder);
    });
  });
});
