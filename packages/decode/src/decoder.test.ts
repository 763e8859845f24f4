import { recordOf } from "@cdckit/testkit";
import { expect, test } from "vitest";
import { createDecoder, type DecoderOptions } from "./decoder.ts";
import type { CdcEvent, ChangeEvent, RowEvent } from "./event.ts";
import type { ApicurioIdSpace, ValueOptions } from "./options.ts";
import type { SchemaSource } from "./schema-source.ts";

function decode(value: string | Buffer, options: DecoderOptions = {}, topic = "p.inv.t"): CdcEvent {
  const record = recordOf(Buffer.from(value as string), { topic });
  return (createDecoder(options).decode(record) as CdcEvent[])[0] as CdcEvent;
}

function column(type: object, value: unknown, options: DecoderOptions = {}): unknown {
  const schema = { type: "struct", fields: [{ field: "a", ...type }] };
  return (decode(JSON.stringify({ schema, payload: { a: value } }), options) as RowEvent).row["a"];
}

test("a Connect map with optional text keys is read from an object, and equals what Avro's pairs give", () => {
  const map = { type: "map", keys: { type: "string", optional: true }, values: { type: "int32" } };
  expect(column(map, { b: 1, __proto__x: 2 })).toEqual(
    new Map([
      ["b", 1],
      ["__proto__x", 2],
    ]),
  );
  expect(column(map, [[null, 1]])).toEqual(new Map([[null, 1]]));
});

test("a value that is one column is not a row, in any form", () => {
  const message = JSON.stringify({ schema: { type: "int32", name: "io.debezium.time.Date" }, payload: 1 });
  expect(decode(message, { values: { time: "date" } })).toMatchObject({ kind: "unknown", value: new Date(86_400_000) });
});

test("an optional envelope that is null is not an empty object", () => {
  const fields = ["op", "source", "before", "after"].map((name) => ({ name, type: "string" }));
  const schema = JSON.stringify(["null", { type: "record", name: "Envelope", fields }]);
  const schemas = { peek: (id: number | string) => ({ id, schemaType: "AVRO" as const, schema }), load: () => expect.unreachable() };
  expect(decode(Buffer.from([0, 0, 0, 0, 1, 0]), { schemas })).toMatchObject({ kind: "unknown", envelope: "debezium", value: null });
});

test("Apicurio's ids of eight bytes are global ids, or content ids if the option says so", () => {
  const asked: unknown[] = [];
  const schemas: SchemaSource = {
    peek: (id) => {
      asked.push(id);
      return { id, schemaType: "AVRO", schema: '{"type":"record","name":"R","fields":[{"name":"id","type":"int"}]}' };
    },
    load: () => expect.unreachable(),
  };
  const value = Buffer.from("00000000000000000702", "hex");
  decode(value, { schemas });
  decode(value, { schemas, apicurioIds: "contentId" });
  expect(asked).toEqual(["globalId:7", "contentId:7"]);
  const apicurioIds = "artifactId" as ApicurioIdSpace;
  expect(() => createDecoder({ apicurioIds })).toThrow(/^apicurioIds must be globalId or contentId/);
});

test("only the option for decimals may be a function", () => {
  const values = { int64: () => 1 } as unknown as ValueOptions;
  expect(() => createDecoder({ values })).toThrow(/^values\.int64 must be one of/);
});

test("a time that no int64 holds is null, not an invented number", () => {
  const source = { connector: "x", table: "t", ts_ns: "9".repeat(1000), ts_ms: "1700000000000" };
  const event = decode(JSON.stringify({ op: "c", before: null, after: { a: 1 }, source })) as ChangeEvent;
  expect(event.source.tsNs).toBeNull();
  expect(event.source.tsMs).toBe(1_700_000_000_000);
});

test("an unknown limit is refused, and the old name of one leads to the new one", () => {
  const limits = (names: object): DecoderOptions => ({ limits: names });
  expect(() => createDecoder(limits({ ["maxWeightPerByte"]: 40 }))).toThrow(
    "limits.maxWeightPerByte is no limit; it is called maxCostPerByte now",
  );
  expect(() => createDecoder(limits({ maxDept: 1 }))).toThrow(/^limits\.maxDept is no limit; there are maxMessageBytes/);
});

test.each<[string, string | Buffer, DecoderOptions, RegExp]>([
  [
    "JSON in ISO-8859-1",
    Buffer.from('{"id":1,"name":"M\u00fcller"}', "latin1"),
    {},
    /other bytes at byte 17 of the message.*such as ISO-8859-1$/,
  ],
  [
    "a text in ISO-8859-1",
    Buffer.from("M\u00fcller", "latin1"),
    { topics: { t: { value: { encoding: "text" } } } },
    /other bytes at byte 1 of the/,
  ],
  ["lines of JSON", '{"id":1}\n{"id":2}\n', {}, /found 9 more bytes after byte 9: a message is one value, .* \(NDJSON\) are not read$/],
  [
    "text",
    "hello",
    {},
    /found 5 bytes of other text: .* \("text"\) .*decoder\.topics\[topic\]\.value\.encoding.*does not belong to this topic$/,
  ],
  ["Protobuf without a frame", Buffer.from("08011203414243", "hex"), {}, /found 7 bytes beginning with 08: .*"protobuf"/],
  ["an empty value", "", {}, /topics\[topic\]\.emptyAsTombstone \(of createConsumer: decoder\.topics\[topic\]\.emptyAsTombstone\)$/],
])("the error for %s says where, and what to do, without bytes of the message", (_, value, options, text) => {
  const message = messageOf(() => decode(value, options, "t"));
  expect(message).toMatch(text);
  expect(message).not.toMatch(/ller|hello|\xfc/);
});

function messageOf(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    return (error as Error).message;
  }
  return "";
}

test("a byte that is not UTF-8 is found behind characters of every length, with and without the fast path", () => {
  const decoder = createDecoder();
  const send = (name: Buffer): unknown => {
    const value = Buffer.concat([Buffer.from('{"id":1,"name":"'), name, Buffer.from('"}')]);
    return decoder.decode(recordOf(value, { topic: "t" }));
  };
  const before = Buffer.from("a\u00e9\u20ac\ud83d\ude00");
  const wrong = ["ff", "c0af", "e0808f", "eda080", "f4908080", "e282", "80"].map((hex) => Buffer.from(hex, "hex"));
  for (const _ of ["slow", "fast"]) {
    for (const bytes of wrong) {
      expect(messageOf(() => send(Buffer.concat([before, bytes])))).toContain(`at byte ${16 + before.length} of the message`);
    }
    for (let i = 0; i < 200; i++) {
      send(before);
    }
  }
});
