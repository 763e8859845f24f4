/** A record is judged when it is decoded, also what is read of it late; and whatever an event holds, it can be shown. */
import { inspect } from "node:util";
import { type CdcEvent, createDecoder, DecodeError, Deferred, type Decoder, isDecodeError, type RegisteredSchema } from "@cdckit/decode";
import { recordOf } from "@cdckit/testkit";
import avsc from "avsc";
import { describe, expect, test } from "vitest";

const topic = "s.inventory.products";

function record(value: Buffer, offset: bigint): Parameters<Decoder["decode"]>[0] {
  return recordOf(value, { topic, partition: 3, offset });
}

function decodeAll(decoder: Decoder, value: Buffer, offset: bigint): readonly CdcEvent[] {
  const events = decoder.decode(record(value, offset));
  if (events instanceof Promise) {
    throw new Error("every schema is at hand");
  }
  return events;
}

/** What decoding a bad message after some good ones ends in. */
function afterGood(decoder: Decoder, good: Buffer, bad: Buffer): unknown {
  for (let i = 0n; i < 4n; i++) {
    const [event] = decodeAll(decoder, good, i);
    expect(event?.kind === "change" && event.source.connector).toBe("postgresql");
  }
  try {
    decodeAll(decoder, bad, 7n);
    return null;
  } catch (error) {
    return isDecodeError(error) ? [error.code, error.at] : error;
  }
}

function json(source: string): Buffer {
  return Buffer.from(`{"before":null,"after":{"id":1},"source":{${source}},"op":"c","ts_ms":5}`);
}

const sourceText = (lsn: string, name = '"s"'): string =>
  `"version":"3.5","connector":"postgresql","name":${name},"ts_ms":5,"snapshot":"false","db":"d","schema":"inventory","table":"products","lsn":${lsn},"xmin":null`;

const at = { topic, partition: 3, offset: 7n };

describe("JSON without a schema", () => {
  for (const [name, lsn] of [
    ["a number beyond doubles", "1e400"],
    ["more digits than are read", "9".repeat(2_000)],
    ["such a number in a list", "[1e400]"],
    ["such a number in an object", '{"a":1e400}'],
  ] as const) {
    for (const int64 of ["safe", "string"] as const) {
      test(`${name} in the source is the record's error (${int64})`, () => {
        const decoder = createDecoder({ values: { int64 } });
        const outcome = afterGood(decoder, json(sourceText("27")), json(sourceText(lsn)));
        expect(outcome).toEqual([lsn.startsWith("9") ? "limit-exceeded" : "value-invalid", at]);
      });
    }
  }
  test("also if the text is spelled another way", () => {
    const spaced = (lsn: string): Buffer => Buffer.from(json(sourceText(lsn)).toString().replaceAll(",", ", "));
    expect(afterGood(createDecoder(), spaced("27"), spaced("1e400"))).toEqual(["value-invalid", at]);
  });
  test("a fraction, a zero and a large integer are read as ever", () => {
    const decoder = createDecoder();
    for (const [lsn, value] of [
      ["27", 27],
      ["0", 0],
      ["1.5", 1.5],
      ["-0.5e3", -500],
      ["123456789012345678901234567890", 123456789012345678901234567890n],
    ] as const) {
      const [event] = decodeAll(decoder, json(sourceText(lsn)), 0n);
      expect(event?.kind === "change" && event.source.position["lsn"]).toBe(value);
    }
  });
});

describe("JSON with its schema", () => {
  const types = {
    version: "string",
    connector: "string",
    name: "string",
    ts_ms: "int64",
    snapshot: "string",
    db: "string",
    schema: "string",
    table: "string",
    lsn: "int64",
    xmin: "int64",
  };
  const fields = Object.entries(types).map(([field, type]) => ({ field, type, optional: true }));
  const row = { type: "struct", optional: true, fields: [{ field: "id", type: "int32", optional: false }] };
  const schema = {
    type: "struct",
    optional: false,
    name: `${topic}.Envelope`,
    fields: [
      { ...row, field: "before" },
      { ...row, field: "after" },
      { type: "struct", optional: false, field: "source", fields },
      { type: "string", optional: false, field: "op" },
      { type: "int64", optional: true, field: "ts_ms" },
    ],
  };
  const message = (lsn: string, name?: string): Buffer =>
    Buffer.from(`{"schema":${JSON.stringify(schema)},"payload":${json(sourceText(lsn, name)).toString()}}`);
  for (const [found, bad] of [
    ["a text for a number", message('"x"')],
    ["a boolean for a number", message("true")],
    ["a fraction for an integer", message("1.5")],
    ["an integer of more than 64 bits", message("9223372036854775808")],
    ["a number for a text", message("27", "5")],
    ["a boolean for a text", message("27", "false")],
  ] as const) {
    test(`${found} in the source is the record's error`, () => {
      expect(afterGood(createDecoder(), message("27"), bad)).toEqual(["value-invalid", at]);
    });
  }
  test("the ends of 64 bits are read", () => {
    const decoder = createDecoder();
    for (const lsn of ["9223372036854775807", "-9223372036854775808", "1753353559000000001", "0", "-5"]) {
      for (const _ of [1, 2]) {
        const [event] = decodeAll(decoder, message(lsn), 0n);
        expect(String(event?.kind === "change" && event.source.position["lsn"])).toBe(lsn);
      }
    }
  });
});

function sourceOf(schema: RegisteredSchema): { peek: () => RegisteredSchema; load: () => Promise<never> } {
  return { peek: () => schema, load: () => Promise.reject(new Error("it is at hand")) };
}

/** Nearly the same bytes: a text's first byte is none that UTF-8 has. */
function spoiled(good: Buffer, text: string): Buffer {
  const bad = Buffer.from(good);
  bad[bad.indexOf(text)] = 0xff;
  return bad;
}

describe("Avro", () => {
  const text = ["null", "string"];
  const schema = {
    type: "record",
    name: "Envelope",
    namespace: topic,
    fields: [
      { name: "before", type: ["null", { type: "record", name: "Value", fields: [{ name: "id", type: "int" }] }] },
      { name: "after", type: ["null", "Value"] },
      {
        name: "source",
        type: {
          type: "record",
          name: "Source",
          fields: ["version", "connector", "name", "snapshot", "db", "schema", "table", "sequence"].map((name) => ({ name, type: text })),
        },
      },
      { name: "op", type: "string" },
    ],
  };
  const type = avsc.Type.forSchema(schema as avsc.Schema, { wrapUnions: true });
  const wrapped = Object.entries({
    version: "3.5",
    connector: "postgresql",
    name: "s",
    snapshot: "no",
    db: "d",
    schema: "inventory",
    table: "products",
    sequence: "[1,2]",
  });
  const source = Object.fromEntries(wrapped.map(([name, value]) => [name, { string: value }]));
  const value = { before: null, after: { [`${topic}.Value`]: { id: 1 } }, source, op: "c" };
  const good = Buffer.concat([Buffer.from([0, 0, 0, 0, 1]), type.toBuffer(value)]);
  for (const field of ["3.5", "no", "[1,2]"]) {
    test(`text in the source that is not UTF-8 is the record's error when it is read, with its place: ${field}`, () => {
      const decoder = createDecoder({ schemas: sourceOf({ id: 1, schemaType: "AVRO", schema: JSON.stringify(schema) }) });
      expect(afterGood(decoder, good, good)).toBeNull();
      expectLate(decodeAll(decoder, spoiled(good, field), 7n), "invalid-utf8");
    });
  }
});

describe("Protobuf", () => {
  const schema = `syntax = "proto3"; package s.inventory.products;
message Envelope { Value before = 1; Value after = 2; Source source = 3; string op = 4; int64 ts_ms = 5; }
message Value { int32 id = 1; }
message Source { string version = 1; string connector = 2; string name = 3; string schema = 4; string table = 5; string sequence = 6; MORE }`;
  const part = (number: number, content: Buffer): Buffer => Buffer.concat([Buffer.from([(number << 3) | 2, content.length]), content]);
  const texts = ["3.5", "postgresql", "s", "inventory", "products", "[1,2]"].map((text, i) => part(i + 1, Buffer.from(text)));
  const message = (...more: readonly Buffer[]): Buffer =>
    Buffer.concat([
      Buffer.from([0, 0, 0, 0, 1, 0]),
      part(2, Buffer.from([8, 1])),
      part(3, Buffer.concat([...texts, ...more])),
      part(4, Buffer.from("c")),
    ]);
  const decoderOf = (more: string): Decoder =>
    createDecoder({ schemas: sourceOf({ id: 1, schemaType: "PROTOBUF", schema: schema.replace("MORE", more) }) });
  for (const field of ["3.5", "[1,2]"]) {
    test(`text in the source that is not UTF-8 is the record's error: ${field}`, () => {
      expect(afterGood(decoderOf(""), message(), spoiled(message(), field))).toEqual(["invalid-utf8", at]);
    });
  }
  test("a message in the source that breaks off is the record's error", () => {
    const decoder = decoderOf("Inner inner = 7; message Inner { string a = 1; }");
    expect(afterGood(decoder, message(part(7, part(1, Buffer.from("x")))), message(part(7, Buffer.from([10, 9]))))).toEqual([
      "truncated",
      at,
    ]);
  });
});

describe("a part of a format of one's own that cannot be read late", () => {
  const failing = createDecoder({
    schemas: sourceOf({ id: 1, schemaType: "OWN", schema: "" }),
    formats: {
      schemaEncodings: [
        {
          name: "own",
          schemaType: "OWN",
          parse: () => {
            const type = {
              kind: "record",
              name: `${topic}.Envelope`,
              fields: ["before", "after", "source", "op"].map((name) => ({ name, type: { kind: "any" } as const })),
            } as const;
            const source = (): Deferred =>
              new Deferred(
                { table: { name: "products" }, dialect: null, isEvident: true },
                () => {
                  throw new DecodeError("truncated", "expected more bytes");
                },
                Buffer.alloc(1),
                0,
                1,
              );
            return {
              typeOf: () => type,
              compile: () => ({ encoding: "own", type, read: () => ({ before: null, after: { id: 1 }, source: source(), op: "c" }) }),
            };
          },
        },
      ],
    },
  });
  test("asking for it ends in the record's error, with its place; showing it in none", () => {
    expectLate(decodeAll(failing, Buffer.from([0, 0, 0, 0, 1, 0]), 7n), "truncated");
  });
});

/** Whether asking for the source of the only event ends in the record's own error, and showing the event in none. */
function expectLate([event]: readonly CdcEvent[], code: string): void {
  if (event?.kind !== "change") {
    throw new Error("no change");
  }
  let thrown: unknown;
  try {
    void event.source;
  } catch (error) {
    thrown = error;
  }
  expect(isDecodeError(thrown) && [thrown.code, thrown.at]).toEqual([code, at]);
  expect(inspect(event)).toContain(code);
  expect(JSON.stringify(event)).toContain(code);
  expect(event.toObject()["source"]).toEqual({ error: expect.stringContaining(`[${code}]`) as string });
}
