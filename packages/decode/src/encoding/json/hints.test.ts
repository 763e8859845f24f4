import { recordOf } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { createDecoder } from "../../decoder.ts";
import type { TopicHints } from "../../decoder.ts";

type Hint = NonNullable<TopicHints["columns"]>[string];

/** The value of one column of a Debezium row in plain JSON, as Debezium 3.5 writes it. */
async function decodeColumn(json: string, hint: Hint, numbers: "double" | "exact" = "double"): Promise<unknown> {
  const decoder = createDecoder({ topics: { t: { columns: { column: hint } } }, values: { numbers } });
  const value = Buffer.from(
    `{"before":null,"after":{"column":${json}},"source":{"connector":"postgresql","db":"d","schema":"s","table":"t"},"op":"c","ts_ms":1}`,
  );
  const [event] = await decoder.decode(recordOf(value));
  return event?.kind === "change" ? event.after?.["column"] : event;
}

describe("a hint on a plain JSON column", () => {
  test.each<[Hint, string, unknown]>([
    ["io.debezium.time.Date", "19782", "2024-02-29"],
    ["io.debezium.time.IsoDate", '"+292278994-08-16Z"', "infinity"],
    [{ name: "org.apache.kafka.connect.data.Decimal", parameters: { scale: "0" } }, '"AQ=="', "1"],
    [{ name: "io.debezium.data.Bits", parameters: { length: "8" } }, '"AQ=="', "00000001"],
    ["bytes", '"AP8="', Buffer.from([0, 255])],
  ])("counts for the key, too: %o", async (hint, json, expected) => {
    const decoder = createDecoder({ topics: { t: { columns: { column: hint } } } });
    const key = Buffer.from(`{"column":${json},"__dbz__physicalTableIdentifier":"s.t","id":1}`);
    const source = '"source":{"connector":"postgresql","db":"d","schema":"s","table":"t"},"ts_ms":1';
    const row = `{"column":${json},"id":1}`;
    const values = [`{"before":null,"after":${row},"op":"c",${source}}`, `{"before":${row},"after":null,"op":"d",${source}}`, null];
    for (const value of values) {
      const [event] = await decoder.decode(recordOf(value === null ? null : Buffer.from(value), { key, topic: "t" }));
      expect(event).toMatchObject({ key: { column: expected, id: 1 } });
      expect(event).not.toHaveProperty("key.__dbz__physicalTableIdentifier");
      if (event?.kind === "change") {
        expect(event.after ?? event.before).toEqual(event.key);
      }
    }
  });

  test("reads a decimal that carries its scale, with its integer in base64", async () => {
    expect(await decodeColumn(`{"scale":2,"value":"MDk="}`, "io.debezium.data.VariableScaleDecimal")).toBe("123.45");
    expect(await decodeColumn(`{"scale":0,"value":"gA=="}`, "io.debezium.data.VariableScaleDecimal")).toBe("-128");
  });

  test("reads a point with its WKB as bytes and its coordinates as doubles, for each form of numbers", async () => {
    const wkb = "AQEAAAAAAAAAAADwPwAAAAAAAABA";
    const point = { x: 1.5, y: -2.25, srid: null, wkb: Buffer.from(wkb, "base64") };
    for (const numbers of ["double", "exact"] as const) {
      expect(await decodeColumn(`{"x":1.5,"y":-2.25,"wkb":"${wkb}","srid":null}`, "io.debezium.data.geometry.Point", numbers)).toEqual(
        point,
      );
    }
  });

  test("names no member of a value in the error of a number that is out of range", async () => {
    const value = Buffer.from(
      '{"before":null,"after":{"p":{"canary":1e999}},"source":{"connector":"postgresql","db":"d","schema":"s","table":"t"},"op":"c"}',
    );
    const decoder = createDecoder({ topics: { t: { columns: { p: "io.debezium.data.geometry.Point" } } } });
    const error: unknown = await Promise.resolve()
      .then(() => decoder.decode(recordOf(value)))
      .then(
        ([event]) => (event?.kind === "change" ? event.after : event),
        (thrown: unknown) => thrown,
      );
    expect(error).toMatchObject({ code: "value-invalid" });
    expect(String(error)).not.toContain("canary");
  });

  test("reads vectors as numbers, for each form of numbers", async () => {
    for (const numbers of ["double", "exact"] as const) {
      expect(await decodeColumn("[0.1,2,-3.5]", "io.debezium.data.DoubleVector", numbers)).toEqual([0.1, 2, -3.5]);
      expect(await decodeColumn("[0.1,2]", "io.debezium.data.FloatVector", numbers)).toEqual([Math.fround(0.1), 2]);
      expect(await decodeColumn(`{"dimensions":25,"vector":[[1,0.5],[24,-2]]}`, "io.debezium.data.SparseDoubleVector", numbers)).toEqual({
        dimensions: 25,
        vector: new Map([
          [1, 0.5],
          [24, -2],
        ]),
      });
      expect(await decodeColumn(`{"a":1,"b":-0.5,"c":2.25}`, "io.debezium.data.geometry.Line", numbers)).toEqual({
        a: 1,
        b: -0.5,
        c: 2.25,
      });
    }
  });

  test("leaves a UUID as text", async () => {
    const uuid = "3f2504e0-4f89-11d3-9a0c-0305e82c3301";
    expect(await decodeColumn(`"${uuid}"`, "io.debezium.data.Uuid")).toBe(uuid);
  });

  test("refuses invalid base64", async () => {
    await expect(decodeColumn(`{"scale":2,"value":"%%%%"}`, "io.debezium.data.VariableScaleDecimal")).rejects.toThrow(
      /^\[value-invalid\] in after.column: expected base64/,
    );
  });
});
