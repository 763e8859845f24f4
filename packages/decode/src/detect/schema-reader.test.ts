import { recordOf } from "@cdckit/testkit";
import { expect, test, vi } from "vitest";
import { createDecoder } from "../decoder.ts";
import { type DecodeError, isDecodeError } from "../errors.ts";
import type { KafkaRecord } from "../record.ts";
import type { SchemaSource } from "../schema-source.ts";

const schema = JSON.stringify({ type: "record", name: "Row", fields: [{ name: "secret", type: "string" }] });

function sourceOf(hasRuleSet: boolean): SchemaSource {
  return { peek: (id) => ({ id, schemaType: "AVRO", schema, hasRuleSet }), load: () => expect.unreachable() };
}

function framedRecord(payload: string): KafkaRecord {
  return recordOf({ hex: `0000000001${payload}` });
}

function codeOf(payload: string, hasRuleSet: boolean): unknown {
  try {
    void createDecoder({ schemas: sourceOf(hasRuleSet) }).decode(framedRecord(payload));
    return null;
  } catch (error) {
    return isDecodeError(error) ? [error.code, isDecodeError(error.cause) ? error.cause.code : null] : error;
  }
}

test.each([
  ["ends too early", "0c6869", "truncated"],
  ["goes on", "0468690000", "trailing-bytes"],
  ["is no text", "04ff00", "invalid-utf8"],
])("a payload that %s is not to blame if a rule set may have changed it, and the error says so", (_, payload, code) => {
  expect([codeOf(payload, false), codeOf(payload, true)]).toEqual([
    [code, null],
    ["unsupported-format", code],
  ]);
});

test("a payload that fits its schema although the schema has a rule set is read, and explain mentions the rule set", async () => {
  const { candidates } = await createDecoder({ schemas: sourceOf(true) }).explain(framedRecord("046869"));
  const won = candidates.find(({ layer, won }) => layer === "encoding" && won);
  expect(won?.evidence).toContain("keeps rules beside it");
});

test("a schema that is refused is parsed once, and again if the source hands out another text", async () => {
  const tooWide = JSON.stringify({
    type: "record",
    name: "Row",
    fields: Array.from({ length: 30_000 }, (_, i) => ({ name: `f${i}`, type: "null" })),
  });
  let text = tooWide;
  const source: SchemaSource = { peek: (id) => ({ id, schemaType: "AVRO", schema: text }), load: () => expect.unreachable() };
  const decoder = createDecoder({ schemas: source });
  const encode = vi.spyOn(Buffer, "from"); // parsing begins with the bytes of the text
  const errors = [1, 2, 3].map((offset) => errorOf(() => decoder.decode(recordOf({ hex: "0000000001046869" }, { offset }))));
  const parsed = encode.mock.calls.filter(([given]: readonly unknown[]) => given === tooWide).length;
  encode.mockRestore();
  expect(parsed).toBe(1);
  expect(errors.map(({ code, at }) => [code, at?.offset])).toEqual([1n, 2n, 3n].map((offset) => ["schema-invalid", offset]));
  text = schema;
  expect((await decoder.decode(framedRecord("046869")))[0]?.toObject()).toMatchObject({ row: { secret: "hi" } });
});

function errorOf(decode: () => unknown): DecodeError {
  try {
    decode();
  } catch (error) {
    if (isDecodeError(error)) {
      return error;
    }
  }
  return expect.unreachable();
}

const registered = { id: 1, schemaType: "AVRO", schema };
test.each<[string, unknown]>([
  ["null", null],
  ["a promise", Promise.resolve(registered)],
  ["a text", schema],
  ["a schema without its type", { id: 1, schema }],
  ["a schema that is parsed already", { ...registered, schema: JSON.parse(schema) as unknown }],
])("a source whose peek returns %s is to blame, and no record", (_name, found) => {
  const schemas = { peek: () => found, load: () => expect.unreachable() } as unknown as SchemaSource;
  expect(() => createDecoder({ schemas }).decode(framedRecord("046869"))).toThrow(
    /^peek of the schema source must return \{ id, schemaType, schema \}/,
  );
});
