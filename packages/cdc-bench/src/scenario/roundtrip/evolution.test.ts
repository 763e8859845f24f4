import { describe, expect, test } from "vitest";
import { createDataSet, type Row, seededDataSets } from "../../codec/data-sets.ts";
import { int32, record, string } from "../../codec/shape.ts";
import { testCodecContract } from "../../codec/codec-contract.ts";
import { avroFramedCodec, type Coping, copingOf, withAddedField, withFieldValue } from "./evolution.ts";
import { roundtripCodecs } from "./roundtrip-codecs.ts";

const seeded = seededDataSets["soa"]!;
const set = createDataSet("soa", seeded, 2, 1);
const { shape: newShape, field } = withAddedField(set.shape);
const shapes = { old: set.shape, new: newShape };
const row = set.rows[0]!;

test("the added field has a name that no other field has", () => {
  expect(withAddedField(record("R", { note: string, note2: int32 })).field).toBe("note3");
});

describe("a reader of the other schema", () => {
  const expected: Readonly<Record<string, readonly [oldReadsNew: Coping | "error", newReadsOld: Coping | "error"]>> = {
    json: ["kept", "absent"],
    "json, gzip": ["kept", "absent"],
    "json, brotli 4": ["kept", "absent"],
    "json, zstd": ["kept", "absent"],
    "json-schema (ajv)": ["error", "error"],
    "avro, headless (avsc)": ["error", "error"],
    "avro, schema id (avsc)": ["dropped", "default"],
    "protobuf (protobufjs)": ["dropped", "default"],
    msgpack: ["kept", "absent"],
    "cbor (cborg)": ["kept", "absent"],
  };

  test("copes or does not, as is known of each codec", async () => {
    const codecs = await roundtripCodecs({ shapes, field, plugIns: [], names: [] });
    const written = withFieldValue(row, field);
    for (const { name, versions } of codecs) {
      const attempt = async (writer: "old" | "new", reader: "old" | "new", value: Row): Promise<string> => {
        try {
          return copingOf(value, await versions[reader].deserialize(await versions[writer].serialize(value)), field, reader);
        } catch {
          return "error";
        }
      };
      expect([name, await attempt("new", "old", written), await attempt("old", "new", row)]).toEqual([name, ...expected[name]!]);
      expect([name, await attempt("new", "new", written), await attempt("old", "old", row)]).toEqual([name, "same", "same"]);
    }
  });

  test("that gives other values is wrong, whatever it does with the field", () => {
    expect(copingOf({ id: 1 }, { id: 2 }, "note", "old")).toBe("wrong");
    expect(copingOf({ id: 1, note: "a" }, { id: 1, note: "b" }, "note", "new")).toBe("wrong");
    expect(copingOf({ id: 1, note: "a" }, { id: 1 }, "note", "new")).toBe("wrong");
    expect(copingOf({ id: 1 }, { id: 1, note: "made up" }, "note", "new")).toBe("wrong");
    expect(copingOf({ id: 1 }, { id: 1, note: "made up" }, "note", "old")).toBe("wrong");
  });
});

testCodecContract({ describe, test, expect }, { codec: avroFramedCodec(shapes, "old", field), values: [set.rows[0]!, set.rows[1]!] });

test("a message of an unknown schema is refused", () => {
  const codec = avroFramedCodec(shapes, "old", field);
  expect(() => codec.deserialize(Buffer.from([0, 0, 0, 0, 9, 1]))).toThrow("names no schema");
  expect(() => codec.deserialize(Buffer.from([1]))).toThrow("names no schema");
});
