import { describe, expect, test } from "vitest";
import { resolveLimits, resolveValueOptions } from "../../options.ts";
import { readEverything } from "../reader.ts";
import { avro } from "./encoding.ts";
import { canonicalForm, fingerprintId, schemasByFingerprint } from "./fingerprint.ts";

/** Schema, canonical form, and the fingerprint as Java prints it. From share/test/data/schema-tests.txt in apache/avro. */
const vectors: readonly (readonly [schema: string, canonical: string, fingerprint: bigint])[] = [
  ['"null"', '"null"', 7195948357588979594n],
  ['{"type":"boolean"}', '"boolean"', -6970731678124411036n],
  ['"int"', '"int"', 8247732601305521295n],
  ['"long"', '"long"', -3434872931120570953n],
  ['"float"', '"float"', 5583340709985441680n],
  ['"double"', '"double"', -8181574048448539266n],
  ['{"type":"bytes"}', '"bytes"', 5746618253357095269n],
  ['"string"', '"string"', -8142146995180207161n],
  ["[  ]", "[]", -1241056759729112623n],
  ['[ "int" , {"type":"boolean"} ]', '["int","boolean"]', 5392556393470105090n],
  ['{"fields":[], "type":"record", "name":"foo"}', '{"name":"foo","type":"record","fields":[]}', -4824392279771201922n],
  [
    '{"fields":[], "type":"record", "name":"foo", "namespace":"x.y"}',
    '{"name":"x.y.foo","type":"record","fields":[]}',
    5916914534497305771n,
  ],
  [
    '{"fields":[], "type":"record", "name":"a.b.foo", "namespace":"x.y"}',
    '{"name":"a.b.foo","type":"record","fields":[]}',
    -4616218487480524110n,
  ],
  [
    '{"fields":[], "type":"record", "name":"foo", "doc":"foo", "aliases":["foo","bar"]}',
    '{"name":"foo","type":"record","fields":[]}',
    -4824392279771201922n,
  ],
  [
    '{"fields":[{"type":"boolean","aliases":[],"name":"f1","default":"true"},{"order":"descending","name":"f2","doc":"Hello","type":"int"}],"type":"record","name":"foo"}',
    '{"name":"foo","type":"record","fields":[{"name":"f1","type":"boolean"},{"name":"f2","type":"int"}]}',
    -4860222112080293046n,
  ],
  [
    '{"namespace":"x.y.z", "type":"enum", "name":"foo", "doc":"foo bar", "symbols":["A1", "A2"]}',
    '{"name":"x.y.z.foo","type":"enum","symbols":["A1","A2"]}',
    -4448647247586288245n,
  ],
  [
    '{"namespace":"x.y.z", "type":"fixed", "name":"foo", "doc":"foo bar", "size":32}',
    '{"name":"x.y.z.foo","type":"fixed","size":32}',
    -3064184465700546786n,
  ],
  ['{ "items":{"type":"null"}, "type":"array"}', '{"type":"array","items":"null"}', -589620603366471059n],
  ['{ "values":"string", "type":"map"}', '{"type":"map","values":"string"}', -8732877298790414990n],
  [
    '{"name":"PigValue","type":"record","fields":[{"name":"value", "type":["null", "int", "long", "PigValue"]}]}',
    '{"name":"PigValue","type":"record","fields":[{"name":"value","type":["null","int","long","PigValue"]}]}',
    -1759257747318642341n,
  ],
];

describe("the parsing canonical form", () => {
  test.each(vectors)("of %s is what the Java library makes", (schema, canonical, fingerprint) => {
    expect(canonicalForm(schema)).toBe(canonical);
    expect(fingerprintId(schema)).toBe(`fingerprint:${BigInt.asUintN(64, fingerprint).toString(16).padStart(16, "0")}`);
  });

  test("writes out a type of another text at its first name, and uses its name after that", () => {
    const schema = '{"type":"record","name":"R","namespace":"n","fields":[{"name":"a","type":"F"},{"name":"b","type":"n.F"}]}';
    const references = [{ name: "n.F", schema: '{"type":"fixed","name":"F","namespace":"n","size":2}' }];
    const fixed = '{"name":"n.F","type":"fixed","size":2}';
    expect(canonicalForm(schema, references)).toBe(
      `{"name":"n.R","type":"record","fields":[{"name":"a","type":${fixed}},{"name":"b","type":"n.F"}]}`,
    );
  });

  test.each([
    "{",
    "12",
    "null",
    '{"type":"record"}',
    '{"type":"enum","name":"E","symbols":[{"toString":1}]}',
    '{"type":"enum","name":"E"}',
    `${"[".repeat(500)}${"]".repeat(500)}`,
  ])("of %s is a typed error", (schema) => expect(() => canonicalForm(schema)).toThrow(/^\[schema-invalid\]/));
});

describe("schemas by fingerprint", () => {
  const text = '{"type":"record","name":"TestMessage","namespace":"org.apache.avro","fields":[{"name":"id","type":"long"}]}';

  test("are found by the id that a single-object message asks for", async () => {
    const source = schemasByFingerprint(['"int"', text]);
    expect(source.peek("fingerprint:7275d51a3f395c8f")).toEqual({
      id: "fingerprint:7275d51a3f395c8f",
      schemaType: "AVRO",
      schema: '"int"',
    });
    await expect(source.load(fingerprintId(text))).resolves.toMatchObject({ schema: text });
    expect(source.peek("fingerprint:0000000000000000")).toBeUndefined();
    await expect(source.load(1)).rejects.toMatchObject({ code: "not-found" });
  });

  test("a payload of bytes has its length after a single-object frame, and none after Confluent's", () => {
    const parsed = avro.parse({ id: 1, schemaType: "AVRO", schema: '"bytes"' }, resolveLimits());
    const options = { values: resolveValueOptions(), limits: resolveLimits(), plan: readEverything };
    for (const codeGeneration of [true, false]) {
      const sized = parsed.compile(null, { ...options, codeGeneration, bareBytes: false });
      const bare = parsed.compile(null, { ...options, codeGeneration });
      const message = Buffer.from([4, 1, 2]);
      expect(sized.read(message, 0, 3)).toEqual(Buffer.from([1, 2]));
      expect(bare.read(message, 0, 3)).toEqual(message);
      expect(bare.readSequence?.(Buffer.from([4, 1, 2, 2, 7, 0]), 0, 6, 3)).toEqual([
        Buffer.from([1, 2]),
        Buffer.from([7]),
        Buffer.alloc(0),
      ]);
    }
  });
});
