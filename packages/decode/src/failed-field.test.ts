import { recordOf } from "@cdckit/testkit";
import { afterEach, describe, expect, test } from "vitest";
import { createDecoder, type TopicHints } from "./decoder.ts";
import type { ChangeEvent } from "./event.ts";
import { DecodeError, inField, inItem, isDecodeError } from "./errors.ts";
import type { RegisteredSchema } from "./schema-source.ts";
import { type Tiers, tiersKey } from "./tiers.ts";

/** An error names the field that could not be read, whichever reader of the encoding finds it. */

const tiers = globalThis as { [tiersKey]?: Partial<Tiers> };

afterEach(() => {
  delete tiers[tiersKey];
});

const topic = "shop.public.orders"; // the schemas are named after it
const decimal = {
  type: "bytes",
  scale: 2,
  precision: 9,
  "connect.name": "org.apache.kafka.connect.data.Decimal",
  "connect.parameters": { scale: "2" },
};

function avroEnvelope(id: number, fields: readonly object[]): RegisteredSchema {
  return { id, schemaType: "AVRO", schema: JSON.stringify({ type: "record", name: "Envelope", namespace: topic, fields }) };
}

const registered: readonly RegisteredSchema[] = [
  avroEnvelope(1, [
    {
      name: "after",
      type: [
        "null",
        {
          type: "record",
          name: "Value",
          fields: [
            { name: "name", type: "string" },
            { name: "total", type: decimal },
            { name: "tags", type: { type: "array", items: "string" } },
          ],
        },
      ],
    },
    { name: "op", type: "string" },
  ]),
  {
    id: 2,
    schemaType: "PROTOBUF",
    schema:
      'syntax = "proto3"; message Envelope { message Tag { string text = 1; } message Value { string name = 1; int32 total = 2; repeated Tag tags = 3; } ' +
      "Value after = 1; string op = 2; }",
  },
];

const sourceNames = ["version", "connector", "name", "snapshot", "db", "schema", "table", "note"];
const withSource = avroEnvelope(3, [
  { name: "before", type: "null" },
  { name: "after", type: { type: "record", name: "Value", fields: [{ name: "id", type: "int" }] } },
  { name: "source", type: { type: "record", name: "Source", fields: sourceNames.map((name) => ({ name, type: "string" })) } },
  { name: "op", type: "string" },
]);

type Outcome = { readonly code: string; readonly path: string | undefined; readonly message: string } | "decoded";

interface Setting {
  readonly hasGeneratedCode: boolean;
  readonly hints?: TopicHints;
  /** Records that are decoded before, so that the topic has its fast path. */
  readonly before?: Buffer;
}

async function outcomeOf(value: Buffer, { hasGeneratedCode, hints = {}, before }: Setting): Promise<Outcome> {
  const schemas = { peek: (id: number | string) => registered[Number(id) - 1], load: () => Promise.reject(new Error("no such schema")) };
  tiers[tiersKey] = { generatedReaders: hasGeneratedCode, fastPath: hasGeneratedCode };
  const decoder = createDecoder({ schemas, topics: { [topic]: hints } });
  try {
    for (let i = 0; before !== undefined && i < 200; i++) {
      await decoder.decode(recordOf(before, { topic }));
    }
    await decoder.decode(recordOf(value, { topic }));
    return "decoded";
  } catch (error) {
    if (!isDecodeError(error)) {
      throw error;
    }
    const { code, path, message } = error;
    return { code, path, message };
  }
}

/** The text, or the bytes, after their length: Avro's lengths are doubled, Protobuf's are not. */
function sized(content: string | Buffer, factor: number): Buffer {
  const bytes = Buffer.from(content as Buffer);
  return Buffer.concat([Buffer.from([bytes.length * factor]), bytes]);
}

const noText = Buffer.from([0x61, 0xff]);

function avro({
  name = "a",
  total = Buffer.from([1]),
  tag = "x",
}: {
  name?: string | Buffer;
  total?: Buffer;
  tag?: string | Buffer;
}): Buffer {
  const tags = Buffer.concat([Buffer.from([4]), sized("x", 2), sized(tag, 2), Buffer.from([0])]);
  return Buffer.concat([Buffer.from([0, 0, 0, 0, 1, 2]), sized(name, 2), sized(total, 2), tags, sized("c", 2)]);
}

function protobuf({ name = "a", tag = "x" }: { name?: string | Buffer; tag?: string | Buffer }): Buffer {
  const tagOf = (text: string | Buffer): Buffer =>
    Buffer.concat([Buffer.from([0x1a]), sized(Buffer.concat([Buffer.from([0x0a]), sized(text, 1)]), 1)]);
  const after = Buffer.concat([Buffer.from([0x0a]), sized(name, 1), tagOf("x"), tagOf(tag)]);
  return Buffer.concat([Buffer.from([0, 0, 0, 0, 2, 0, 0x0a]), sized(after, 1), Buffer.from([0x12]), sized("c", 1)]);
}

function connectJson(total: string, tags = "[1]"): Buffer {
  const fields = [
    { type: "bytes", optional: false, name: "org.apache.kafka.connect.data.Decimal", parameters: { scale: "2" }, field: "total" },
    { type: "array", items: { type: "int32", optional: false }, optional: false, field: "tags" },
  ];
  const after = { type: "struct", fields, optional: true, name: "shop.public.orders.Value", field: "after" };
  const schema = {
    type: "struct",
    fields: [after, { type: "string", optional: false, field: "op" }],
    optional: false,
    name: "shop.public.orders.Envelope",
  };
  return Buffer.from(`{"schema":${JSON.stringify(schema)},"payload":{"after":{"total":${total},"tags":${tags}},"op":"c"}}`);
}

function plainJson(total: string): Buffer {
  const source = '{"connector":"postgresql","db":"d","schema":"s","table":"t"}';
  return Buffer.from(`{"before":null,"after":{"total":${total}},"source":${source},"op":"c","ts_ms":1}`);
}

const hints: TopicHints = { columns: { total: { name: "org.apache.kafka.connect.data.Decimal", parameters: { scale: "2" } } } };

describe.each<[string, Buffer, Buffer, string, string, TopicHints?]>([
  ["Avro: a decimal without bytes", avro({ total: Buffer.alloc(0) }), avro({}), "value-invalid", "after.total"],
  ["Avro: a text that is not UTF-8", avro({ name: noText }), avro({}), "invalid-utf8", "after.name"],
  ["Avro: an item of an array", avro({ tag: noText }), avro({}), "invalid-utf8", "after.tags[1]"],
  ["Avro: a cut message", avro({}).subarray(0, 9), avro({}), "truncated", "after.total"],
  ["Protobuf: a text that is not UTF-8", protobuf({ name: noText }), protobuf({}), "invalid-utf8", "after.name"],
  ["Protobuf: an item of a list", protobuf({ tag: noText }), protobuf({}), "invalid-utf8", "after.tags[1].text"],
  ["JSON with schema: a decimal without bytes", connectJson('""'), connectJson('"AQ=="'), "value-invalid", "after.total"],
  ["JSON with schema: another kind of value", connectJson("true"), connectJson('"AQ=="'), "value-invalid", "after.total"],
  [
    "JSON with schema: an item of an array",
    connectJson('"AQ=="', '[1,"2"]'),
    connectJson('"AQ=="', "[1]"),
    "value-invalid",
    "after.tags[1]",
  ],
  ["JSON with a hint: a decimal without bytes", plainJson('""'), plainJson('"AQ=="'), "value-invalid", "after.total", hints],
])("%s", (_, value, good, code, path, topicHints) => {
  test.each<[string, Setting]>([
    ["the first record", { hasGeneratedCode: true }],
    ["a record on the fast path", { hasGeneratedCode: true, before: good }],
    ["the readers without generated code", { hasGeneratedCode: false, before: good }],
  ])("%s names its field", async (_name, setting) => {
    const outcome = await outcomeOf(value, { ...setting, ...(topicHints === undefined ? {} : { hints: topicHints }) });
    expect(outcome).toMatchObject({ code, path });
    expect(outcome).toHaveProperty("message", expect.stringMatching(`^\\[${code}\\] in ${path.replace(/[[\]]/g, "\\$&")}: `));
  });

  test("a good record is decoded", async () => {
    expect(await outcomeOf(good, { hasGeneratedCode: true, ...(topicHints === undefined ? {} : { hints: topicHints }) })).toBe("decoded");
  });
});

test.each([true, false])("a part that is read late names its field, too (generated code: %s)", async (hasGeneratedCode) => {
  tiers[tiersKey] = { generatedReaders: hasGeneratedCode, fastPath: hasGeneratedCode };
  const schemas = { peek: () => withSource, load: () => Promise.reject(new Error("no such schema")) };
  const decoder = createDecoder({ schemas });
  const texts = ["3.5.0", "postgresql", "shop", "false", "d", "public", "orders", noText].map((text) => sized(text, 2));
  const value = Buffer.concat([Buffer.from([0, 0, 0, 0, 3, 2]), ...texts, sized("c", 2)]);
  const [event] = await decoder.decode(recordOf(value, { topic, offset: 7n }));
  expect(event?.kind).toBe("change");
  expect(() => (event as ChangeEvent).source).toThrow(
    expect.objectContaining({ code: "invalid-utf8", path: "source.note", at: { topic, partition: 0, offset: 7n } }),
  );
});

test("a member of a document is not named, because its name is data", async () => {
  const outcome = await outcomeOf(plainJson('{"canary":[1,{"canary":1e999}]}'), { hasGeneratedCode: true });
  expect(outcome).toMatchObject({ code: "value-invalid" });
  expect(JSON.stringify(outcome)).not.toContain("canary");
});

describe("the path of a field", () => {
  const failed = new DecodeError("malformed", "x");
  const pathOf = (error: unknown): string | undefined => (isDecodeError(error) ? error.path : undefined);

  test("grows from the inside out", () => {
    const error = inField(inField(inItem(inField(failed, "id"), 3), "tags"), "after");
    expect(pathOf(error)).toBe("after.tags[3].id");
    expect(String(error)).toBe("DecodeError: [malformed] in after.tags[3].id: x");
  });

  test("is kept where the error gets its coordinates", () => {
    const error = inField(failed, "id") as DecodeError;
    const located = error.locatedAt({ topic: "t", partition: 0, offset: 1n });
    expect(located.path).toBe("id");
    expect(located.toJSON()).toMatchObject({ path: "id" });
  });

  test("quotes and cuts names that no table has", () => {
    expect(pathOf(inField(failed, 'a.b\n"c"'))).toBe('"a.b\\n\\"c\\""');
    expect(pathOf(inField(failed, "n".repeat(1_000)))?.length).toBeLessThan(110);
  });

  test("has eight parts at most", () => {
    let error: unknown = failed;
    for (let i = 0; i < 1_000; i++) {
      error = inField(error, "a");
    }
    expect(pathOf(error)).toBe(`...${Array.from({ length: 8 }, () => "a").join(".")}`);
  });

  test("is left out for a limit of the whole message, and for what is no DecodeError", () => {
    const limit = new DecodeError("limit-exceeded", "x");
    expect(inField(limit, "id")).toBe(limit);
    const other = new TypeError("x");
    expect(inField(other, "id")).toBe(other);
    expect(inItem(null, 1)).toBeNull();
  });
});
