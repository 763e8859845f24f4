import { recordOf } from "@cdckit/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createDecoder, type DecoderOptions } from "../../decoder.ts";
import { isDecodeError } from "../../errors.ts";
import type { CdcEvent, RowEvent } from "../../event.ts";
import type { KafkaRecord, RecordHeaders } from "../../record.ts";
import type { RegisteredSchema, SchemaId, SchemaSource } from "../../schema-source.ts";

const md5 = "0123456789abcdef0123456789abcdef";
const schemaIdHeader: RecordHeaders = [["schemaId", Buffer.from(md5)]];
const schema = JSON.stringify({ type: "record", name: "Key", fields: [{ name: "id", type: "int" }] });

type Failure = "not-found" | "not-found-for-certain" | "unavailable" | "refused";

/** A source that knows the given ids and fails for all others in one way. */
function sourceOf(failure: Failure, known: readonly SchemaId[] = []): SchemaSource {
  const answers = new Map<SchemaId, RegisteredSchema>(known.map((id) => [id, { id, schemaType: "AVRO", schema }]));
  return {
    peek: (id) => answers.get(id),
    load: () => {
      const certainty = failure === "not-found" ? { isCertain: false } : {};
      const code = failure === "not-found-for-certain" ? "not-found" : failure;
      return Promise.reject(Object.assign(new Error("no"), { code, ...certainty }));
    },
  };
}

async function decode(record: KafkaRecord, options: DecoderOptions): Promise<unknown> {
  try {
    return (await createDecoder(options).decode(record))[0];
  } catch (error) {
    return isDecodeError(error) ? error.code : error;
  }
}

const id = "0102030405060708090a0b0c0d0e0f10";
const glueLike = Buffer.from(`0300${id}a1a2a3a4`, "hex");
const guidLike = Buffer.from(`01${id}a1a2a3`, "hex");
const longIdLike = Buffer.from("0000000000000000ff00000000000000aa", "hex").subarray(0, 12);
const glueId = "glue:01020304-0506-0708-090a-0b0c0d0e0f10";

describe("a header schemaId that is the user's own", () => {
  const row = recordOf('{"id":1}', { headers: schemaIdHeader });

  test("does not change JSON if no source knows the id", async () => {
    const event = await decode(row, { schemas: sourceOf("not-found-for-certain") });
    expect(event).toMatchObject({ kind: "row", framing: "none", encoding: "json", schemaId: null });
    expect((event as RowEvent).row).toEqual({ id: 1 });
    expect(await decode(row, {})).toMatchObject({ framing: "none", encoding: "json" });
  });

  test("is listed by explain with its evidence", async () => {
    const { candidates } = await createDecoder({ schemas: sourceOf("not-found-for-certain") }).explain(row);
    const azure = candidates.find(({ side, name }) => side === "value" && name === "azure");
    expect(azure?.evidence).toMatch(/^header schemaId is 0123.*; no source knows its schema, and all bytes can be read without it$/);
  });

  test.each<[Failure, string]>([
    ["unavailable", "schema-unavailable"],
    ["refused", "schema-refused"],
    ["not-found", "schema-not-found"],
  ])("is not dropped if the source fails (%s)", async (failure, code) => {
    expect(await decode(row, { schemas: sourceOf(failure) })).toBe(code);
  });

  test("ends in the error that its schema is not found if the bytes have no other format", async () => {
    const record = recordOf('{"id":1}x', { headers: schemaIdHeader });
    expect(await decode(record, { schemas: sourceOf("not-found-for-certain") })).toBe("schema-not-found");
  });

  test("waits for the schema that the bytes themselves name, and reports if it cannot be loaded", async () => {
    const framed: KafkaRecord = recordOf({ hex: "000000000702" }, { headers: schemaIdHeader });
    expect(await decode(framed, { schemas: sourceOf("not-found-for-certain", [7]) })).toMatchObject({ framing: "confluent", schemaId: 7 });
    const down: SchemaSource = {
      peek: () => undefined,
      load: (asked) => Promise.reject(Object.assign(new Error("no"), { code: asked === 7 ? "unavailable" : "not-found" })),
    };
    expect(await decode(framed, { schemas: down })).toBe("schema-unavailable");
  });
});

describe("a key of the user's own bytes that begin like a frame", () => {
  test.each([
    ["glue", glueLike],
    ["confluent-guid", guidLike],
    ["apicurio", longIdLike],
  ])("of %s is bytes if its schema certainly does not exist, and explain says why", async (framing, key) => {
    const record = recordOf("{}", { key });
    expect(await decode(record, { schemas: sourceOf("not-found-for-certain") })).toMatchObject({ key });
    const { candidates } = await createDecoder({ schemas: sourceOf("not-found-for-certain") }).explain(record);
    const verdict = candidates.find(({ side, layer, name }) => side === "key" && layer === "framing" && name === framing);
    expect(verdict?.evidence).toContain("no source knows its schema");
    for (const failure of ["unavailable", "refused", "not-found"] as const) {
      expect(await decode(record, { schemas: sourceOf(failure) })).toBe(`schema-${failure}`);
    }
  });

  test.each([
    ["glue", Buffer.from(`0305${id}a1a2a3a4`, "hex"), "bytes"],
    ["ocf", "Obj\u0001\u0002", "text"],
  ])("of %s is read as if the mark were not there if the frame is broken, and explain says so", async (framing, key, encoding) => {
    const { candidates } = await createDecoder({ schemas: sourceOf("not-found-for-certain") }).explain(recordOf("{}", { key }));
    const verdicts = candidates.filter(({ side, won, name }) => side === "key" && (name === framing || (won && name === encoding)));
    const [broken, read] = verdicts.map(({ evidence }) => evidence);
    expect(broken).toMatch(/; the frame is broken, and all bytes can be read without it$/);
    expect(read).toMatch(/^neither framed nor JSON/);
  });

  test("may be UTF-8 as well, and explain does not say otherwise", async () => {
    const { candidates } = await createDecoder({}).explain(recordOf("{}", { key: { hex: "0000000500000009" } }));
    expect(candidates.find(({ side, won, layer }) => side === "key" && won && layer === "encoding")).toMatchObject({
      name: "bytes",
      evidence: "neither framed nor JSON, and no text: not UTF-8, or the control character of a frame begins it",
    });
  });

  test("stays bytes after a schema has confirmed that framing, because results do not depend on earlier records", async () => {
    const decoder = createDecoder({ schemas: sourceOf("not-found-for-certain", [2, glueId]) });
    const keyOf = async (hex: string): Promise<unknown> => {
      const events = (await decoder.decode(recordOf("{}", { key: { hex } }))) as CdcEvent[];
      return events[0]?.key;
    };
    for (const [plain, framed] of [
      ["000000007b000001", "000000000203"],
      [`0300ff${id.slice(2)}02`, `0300${id}02`],
    ] as const) {
      expect(await keyOf(plain)).toEqual(Buffer.from(plain, "hex"));
      expect(await keyOf(framed)).toHaveProperty("id");
      expect(await keyOf(plain)).toEqual(Buffer.from(plain, "hex"));
    }
  });
});

test("a used decoder reads a key as a fresh one does, or ends in the same error", async () => {
  const schemas = sourceOf("not-found-for-certain", [2, 5, glueId]);
  const used = createDecoder({ schemas });
  const outcomeOf = async (decoder: ReturnType<typeof createDecoder>, key: Uint8Array): Promise<unknown> => {
    try {
      const [event] = (await decoder.decode(recordOf("{}", { key }))) as CdcEvent[];
      return event?.key;
    } catch (error) {
      return isDecodeError(error) ? error.code : error;
    }
  };
  const begins = ["00000000", "0000000002", "0000000005", "000000007b", `0300${id}`, "0300", "01", "", "c301"].map((hex) =>
    Buffer.from(hex, "hex"),
  );
  const keys = fc.tuple(fc.constantFrom(...begins), fc.uint8Array({ maxLength: 17 })).map(([begin, rest]) => Buffer.concat([begin, rest]));
  await fc.assert(
    fc.asyncProperty(keys, async (key) => {
      expect(await outcomeOf(used, key)).toEqual(await outcomeOf(createDecoder({ schemas }), key));
    }),
    { numRuns: 400 },
  );
});
