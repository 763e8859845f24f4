import { recordOf } from "@cdckit/testkit";
import { expect, test } from "vitest";
import { createDecoder } from "../decoder.ts";
import { isDecodeError } from "../errors.ts";
import type { CdcEvent } from "../event.ts";
import type { RecordHeaders } from "../record.ts";
import type { SchemaSource } from "../schema-source.ts";

const schema = JSON.stringify({ type: "record", name: "Row", fields: [{ name: "id", type: "int" }] });
const deleted: RecordHeaders = [["__deleted", Buffer.from("true")]];

function decodeAll(decoder: ReturnType<typeof createDecoder>, values: readonly [Buffer | string, RecordHeaders][]): CdcEvent[] {
  return values.flatMap(([value, headers]) => {
    const record = recordOf(Buffer.from(value as Buffer), { headers });
    return decoder.decode(record) as CdcEvent[];
  });
}

/** One schema for every id, and how often it was asked for: once for each compilation. */
function peekedSchemas(): { readonly source: SchemaSource; readonly peeks: number } {
  let peeks = 0;
  const source: SchemaSource = {
    peek: (id) => {
      peeks++;
      return { id, schemaType: "AVRO", schema };
    },
    load: () => Promise.reject(new Error("never asked")),
  };
  return {
    source,
    get peeks() {
      return peeks;
    },
  };
}

test("rows that are flattened only by their headers are told apart, and the schema is compiled once for each kind", () => {
  const schemas = peekedSchemas();
  const row = Buffer.from([0, 0, 0, 0, 1, 2]);
  const records = Array.from({ length: 20 }, (_, i): [Buffer, RecordHeaders] => [row, i % 2 === 0 ? [] : deleted]);
  const kinds = decodeAll(createDecoder({ schemas: schemas.source }), records).map(({ kind }) => kind);
  expect(kinds).toEqual(records.map((_, i) => (i % 2 === 0 ? "row" : "change")));
  expect(schemas.peeks).toBe(2);
});

test("headers that come again or in another order are no other kind, and many of them cost no more than their bytes", () => {
  const schemas = peekedSchemas();
  const decoder = createDecoder({ schemas: schemas.source });
  const op: RecordHeaders[number] = ["__op", Buffer.from("c")];
  const table: RecordHeaders[number] = ["__table", Buffer.from("orders")];
  const row = Buffer.from([0, 0, 0, 0, 1, 2]);
  const events = Array.from({ length: 40 }, (_, i): CdcEvent[] =>
    decodeAll(decoder, [[row, i % 2 === 0 ? [...Array<typeof op>(i).fill(op), op, table] : [table, ...Array<typeof op>(i).fill(op)]]]),
  ).flat();
  expect(events.map((event) => (event.kind === "change" ? event.table.name : event.kind))).toEqual(events.map(() => "orders"));
  expect(schemas.peeks).toBe(1);
});

test("the last header of a name that has a value counts", () => {
  const headers: RecordHeaders = [
    ["__op", Buffer.from("c")],
    ["__table", Buffer.from("first")],
    ["__table", Buffer.from("last")],
    ["__table", null],
  ];
  expect(decodeAll(createDecoder(), [['{"id":1}', headers]])).toMatchObject([{ op: "create", table: { name: "last" } }]);
});

test("a null by itself has no envelope, whatever came before it", () => {
  const change = '{"before":null,"after":{"id":1},"op":"c","ts_ms":1,"source":{"connector":"mysql","db":"shop","table":"t"}}';
  const events = decodeAll(createDecoder(), [...Array.from({ length: 8 }, (): [string, RecordHeaders] => [change, []]), ["null", []]]);
  expect(events.at(-2)?.envelope).toBe("debezium");
  expect(events.at(-1)).toMatchObject({ kind: "unknown", envelope: "none" });
});

test("a schema that is too long is refused, however its message is written", () => {
  const decoder = createDecoder({ limits: { maxSchemaChars: 50 } });
  const message = { schema: { type: "struct", fields: [{ field: "a_rather_long_name", type: "int32" }] }, payload: {} };
  for (const text of [JSON.stringify(message), JSON.stringify(message, null, 2)]) {
    let thrown: unknown;
    try {
      decodeAll(decoder, [[text, []]]);
    } catch (error) {
      thrown = error;
    }
    expect(isDecodeError(thrown) && thrown.code).toBe("limit-exceeded");
  }
});

test.each([
  ["order-7", "text"],
  [Buffer.from([0xff, 0x01]), "bytes"],
])("explain names the encoding of a raw key (%#)", async (key, encoding) => {
  const record = recordOf(null, { key: Buffer.from(key as Buffer) });
  const { candidates } = await createDecoder().explain(record);
  expect(candidates.filter(({ layer, won }) => layer === "encoding" && won).map(({ name }) => name)).toEqual([encoding]);
  expect(createDecoder().decode(record)).toMatchObject([{ encoding }]);
});
