import { recordOf } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { createDecoder, type DecoderOptions } from "../../decoder.ts";
import { isDecodeError } from "../../errors.ts";
import type { CdcEvent } from "../../event.ts";
import type { KafkaRecord } from "../../record.ts";
import type { RegisteredSchema, SchemaId, SchemaSource } from "../../schema-source.ts";

type Known = Readonly<Record<string, Pick<RegisteredSchema, "schemaType" | "schema">>>;

/** A source of these schemas. What it does not know does not exist, unless it is down for that id. */
function sourceOf(known: Known, down: SchemaId | null = null): SchemaSource {
  return {
    peek: (id) => (known[String(id)] === undefined ? undefined : { id, ...(known[String(id)] as Known[string]) }),
    load: (id) => Promise.reject(Object.assign(new Error("no"), { code: id === down ? "unavailable" : "not-found" })),
  };
}

const kconnect = (name: string, fields: object): Known[string] => ({
  schemaType: "KCONNECT",
  schema: JSON.stringify({
    type: "struct",
    optional: false,
    name,
    fields: Object.entries(fields).map(([field, type]) => ({ field, type, optional: false })),
  }),
});
const avro = (name: string, ...fields: readonly (readonly [string, string])[]): Known[string] => ({
  schemaType: "AVRO",
  schema: JSON.stringify({ type: "record", name, fields: fields.map(([field, type]) => ({ name: field, type })) }),
});

const orders = kconnect("p.inv.orders.Key", { id: "int64" });
const people = kconnect("p.inv.people.Key", { id: "int64" });
const idRow = '{"schemaId":7,"payload":{"id":1}}';
/** The long 1, after an id of eight bytes. */
const longId = { hex: "00000000000000000702" };

async function decode(record: KafkaRecord, options: DecoderOptions): Promise<Partial<CdcEvent> | string> {
  try {
    return (await createDecoder(options).decode(record))[0] as CdcEvent;
  } catch (error) {
    if (!isDecodeError(error)) throw error;
    return error.code;
  }
}

describe("the id in the JSON of Apicurio's ExtJsonConverter", () => {
  const one = (known: Known, options: DecoderOptions = {}, topic = "p.inv.orders") =>
    decode(recordOf(idRow, { topic }), { schemas: sourceOf(known), ...options });

  test("is a content id (version 3), or a global id if no content has it (version 2)", async () => {
    expect(await one({ "contentId:7": orders })).toMatchObject({ encoding: "connect-json", schemaId: "contentId:7", row: { id: 1 } });
    expect(await one({ "globalId:7": orders })).toMatchObject({ encoding: "connect-json", schemaId: "globalId:7", row: { id: 1 } });
  });

  test("is a global id if the content with that id does not fit, or is no schema of Connect's", async () => {
    const other = kconnect("other", { id: "string" });
    expect(await one({ "contentId:7": other, "globalId:7": orders })).toMatchObject({ schemaId: "globalId:7", row: { id: 1 } });
    const binary = avro("Other", ["id", "string"]);
    expect(await one({ "contentId:7": binary, "globalId:7": orders })).toMatchObject({ schemaId: "globalId:7", row: { id: 1 } });
  });

  test("is of the kind whose schema is named after the topic if both fit, and a content id if neither is or both are", async () => {
    expect(await one({ "contentId:7": people, "globalId:7": orders })).toMatchObject({ schemaId: "globalId:7" });
    expect(await one({ "contentId:7": orders, "globalId:7": people })).toMatchObject({ schemaId: "contentId:7" });
    expect(await one({ "contentId:7": people, "globalId:7": orders }, {}, "routed")).toMatchObject({ schemaId: "contentId:7" });
    expect(await one({ "contentId:7": orders, "globalId:7": orders })).toMatchObject({ schemaId: "contentId:7" });
  });

  test("is of the kind that the user states, and of no other", async () => {
    const known = { "contentId:7": people, "globalId:7": orders };
    expect(await one(known, { apicurioIds: "contentId" })).toMatchObject({ schemaId: "contentId:7" });
    expect(await one({ "globalId:7": orders }, { apicurioIds: "contentId" })).toMatchObject({ framing: "none", row: { schemaId: 7 } });
    expect(await one({ "contentId:7": orders }, { apicurioIds: "globalId" })).toMatchObject({ framing: "none", row: { schemaId: 7 } });
  });

  test("is a column of a user's own row if no schema has it", async () => {
    expect(await one({})).toMatchObject({ framing: "none", row: { schemaId: 7, payload: { id: 1 } } });
  });

  test("waits while it is not known which of the two it is", async () => {
    const record = recordOf(idRow, { topic: "p.inv.orders" });
    expect(await decode(record, { schemas: sourceOf({}, "globalId:7") })).toBe("schema-unavailable");
    expect(await decode(record, { schemas: sourceOf({ "globalId:7": orders }, "contentId:7") })).toBe("schema-unavailable");
    expect(await decode(record, { schemas: sourceOf({ "contentId:7": orders }, "globalId:7") })).toMatchObject({ schemaId: "contentId:7" });
  });
});

describe("Apicurio's ids of eight bytes", () => {
  const number = avro("Row", ["id", "long"]);
  const text = avro("Row", ["id", "string"]);
  const one = (known: Known, options: DecoderOptions = {}) => decode(recordOf(longId), { schemas: sourceOf(known), ...options });

  test("are global ids, or content ids if only these exist and fit", async () => {
    expect(await one({ "globalId:7": number, "contentId:7": number })).toMatchObject({ schemaId: "globalId:7", row: { id: 1 } });
    expect(await one({ "contentId:7": number })).toMatchObject({ schemaId: "contentId:7", row: { id: 1 } });
    expect(await one({ "globalId:7": text, "contentId:7": number })).toMatchObject({ schemaId: "contentId:7", row: { id: 1 } });
  });

  test("end in the error of the likelier kind if neither fits", async () => {
    expect(await one({ "globalId:7": text, "contentId:7": avro("Row", ["id", "double"]) })).toBe("truncated");
    expect(await one({ "globalId:7": text })).toBe("truncated");
    expect(await one({})).toBe("schema-not-found");
  });

  test("wait while the one that fits is not named after the topic, and the other one cannot be asked for", async () => {
    const [customers, orders] = ["customers", "orders"].map((name) => ({
      schema: avro("Value", ["id", "long"]).schema.replace('"Value"', `"Value","namespace":"p.inv.${name}"`),
      schemaType: "AVRO" as const,
    }));
    const known = { "globalId:7": customers as Known[string], "contentId:7": orders as Known[string] };
    const record = recordOf(longId, { topic: "p.inv.orders" });
    expect(await decode(record, { schemas: sourceOf(known) })).toMatchObject({ schemaId: "contentId:7", row: { id: 1 } });
    for (const code of ["unavailable", "refused"]) {
      const source = sourceOf({ "globalId:7": customers as Known[string] });
      const load: SchemaSource["load"] = (id) =>
        Promise.reject(Object.assign(new Error("no"), { code: id === "contentId:7" ? code : "not-found" }));
      expect(await decode(record, { schemas: { ...source, load } })).toBe(`schema-${code}`);
    }
  });

  test("are of the kind that the user states, and of no other", async () => {
    expect(await one({ "globalId:7": number, "contentId:7": number }, { apicurioIds: "contentId" })).toMatchObject({
      schemaId: "contentId:7",
    });
    expect(await one({ "contentId:7": number }, { apicurioIds: "globalId" })).toBe("schema-not-found");
  });
});
