import { type CdcEvent, createDecoder, type DecoderOptions, isDecodeError, type KafkaRecord } from "@cdckit/decode";
import { recordOf } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";

function eventOf(record: KafkaRecord, options: DecoderOptions = {}): CdcEvent {
  const [event] = createDecoder(options).decode(record) as readonly CdcEvent[];
  return event as CdcEvent;
}

function errorOf(record: KafkaRecord, options: DecoderOptions = {}): Error & { code?: string } {
  try {
    void createDecoder(options).decode(record);
  } catch (error) {
    return error as Error & { code?: string };
  }
  throw new Error("it was decoded");
}

function rowOf(value: string): Record<string, unknown> {
  return (eventOf(recordOf(value)) as unknown as { row: Record<string, unknown> }).row;
}

describe("depth", () => {
  test.each([
    ["arrays", (depth: number) => "[".repeat(depth) + "]".repeat(depth)],
    ["objects", (depth: number) => '{"a":'.repeat(depth - 1) + "{}" + "}".repeat(depth - 1)],
    ["both", (depth: number) => '[{"a":'.repeat(depth / 2) + "1" + "}]".repeat(depth / 2)],
  ])("%s nest as deep as limits.maxDepth and no deeper", (_name, nested) => {
    expect(eventOf(recordOf(nested(64)))).toBeDefined();
    expect(errorOf(recordOf(nested(66))).code).toBe("limit-exceeded");
    expect(errorOf(recordOf(nested(200_000))).code).toBe("limit-exceeded");
    expect(errorOf(recordOf(nested(20)), { limits: { maxDepth: 10 } }).code).toBe("limit-exceeded");
  });

  test("is bounded in columns, payloads, sources, keys, headers, schemas and JSON documents alike", () => {
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    const struct = '{"type":"struct","fields":[{"type":"string","name":"io.debezium.data.Json","field":"a"}]}';
    for (const value of [
      `{"a":${deep}}`,
      `{"schema":${struct},"payload":{"a":${deep}}}`,
      `{"before":null,"after":{"a":1},"source":{"connector":"c","x":${deep}},"op":"c"}`,
      `{"schema":${'{"type":"array","items":'.repeat(5_000)}{"type":"int32"}${"}".repeat(5_000)},"payload":[]}`,
    ]) {
      expect(errorOf(recordOf(value)).code).toBe("limit-exceeded");
    }
    const document = recordOf(`{"schema":${struct},"payload":{"a":${JSON.stringify(deep)}}}`);
    expect(["limit-exceeded", "value-invalid"]).toContain(errorOf(document, { values: { json: "parse" } }).code);
    const moved = recordOf('{"before":null,"after":{"a":1},"source":{"connector":"c"},"op":"c"}', {
      headers: [["__debezium.newkey", Buffer.from(`{"a":${deep}}`)]],
    });
    expect((eventOf(moved) as { keyChange?: unknown }).keyChange).toEqual({ kind: "moved-to", key: `{"a":${deep}}` });
    expect(JSON.stringify(eventOf(moved))).toContain('"change"');
    const key = eventOf(recordOf("{}", { key: '{"a":1}' }));
    expect(key.key).toEqual({ a: 1 });
    expect(errorOf(recordOf("{}", { key: Buffer.from(`{"a":${deep}}`) })).code).toBe("limit-exceeded");
  });

  test("what is as deep as allowed can be shown", () => {
    const event = eventOf(recordOf(`{"a":${"[".repeat(63)}${"]".repeat(63)}}`));
    expect(JSON.stringify(event)).toContain("[[[");
  });
});

describe("names", () => {
  test("the last of equal names wins, at every level, also for op", () => {
    expect(rowOf('{"a":1,"a":2,"b":{"c":1,"c":2}}')).toEqual({ a: 2, b: { c: 2 } });
    const event = eventOf(recordOf('{"op":"d","op":"c","before":null,"after":{"id":1},"source":{"connector":"c"}}'));
    expect(event).toMatchObject({ kind: "change", op: "create" });
  });

  const names = ["__proto__", "constructor", "prototype", "hasOwnProperty", "__defineGetter__"];

  test.each(names)("%s is an ordinary name in every place", (name) => {
    const quoted = JSON.stringify(name);
    const places: readonly (readonly [string, unknown])[] = [
      ["a top-level column", rowOf(`{${quoted}:{"polluted":1}}`)],
      ["a nested column", rowOf(`{"a":{${quoted}:{"polluted":1}}}`)["a"]],
      ["a typed column", rowOf(`{"schema":{"type":"struct","fields":[{"type":"string","field":${quoted}}]},"payload":{${quoted}:"x"}}`)],
      [
        "a map key",
        rowOf(
          `{"schema":{"type":"struct","fields":[{"type":"map","keys":{"type":"string"},"values":{"type":"string"},"field":"m"}]},"payload":{"m":{${quoted}:"x"}}}`,
        )["m"],
      ],
      [
        "a column of an envelope",
        (eventOf(recordOf(`{"before":null,"after":{${quoted}:1},"source":{"connector":"c"},"op":"c"}`)) as { after?: unknown }).after,
      ],
      [
        "a field of a source",
        (
          eventOf(recordOf(`{"before":null,"after":{},"source":{"db":"d","note":{${quoted}:1}},"op":"c"}`)) as {
            source?: { raw: Record<string, unknown> };
          }
        ).source?.raw["note"],
      ],
      [
        "a position",
        (
          eventOf(recordOf(`{"before":null,"after":{},"source":{"connector":"c",${quoted}:1},"op":"c"}`)) as {
            source?: { position: unknown };
          }
        ).source?.position,
      ],
      ["a column of a flattened row", (eventOf(recordOf(`{${quoted}:1,"__op":"c"}`)) as { after?: unknown }).after],
      ["a key", eventOf(recordOf("{}", { key: Buffer.from(`{${quoted}:1}`) })).key],
    ];
    for (const [place, object] of places) {
      expect(Object.keys(object as object), place).toEqual([name]);
      expect([Object.prototype, null], place).toContain(Object.getPrototypeOf(object));
    }
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test.each(names)("%s is an ordinary name of a topic, a header and a hint", (name) => {
    const record = recordOf('{"a":1}', { topic: name, headers: [[name, Buffer.from("x")]] });
    const hints = JSON.parse(`{${JSON.stringify(name)}:{"columns":{${JSON.stringify(name)}:"io.debezium.time.Date"}}}`) as object;
    expect(eventOf(record)).toMatchObject({ kind: "row", row: { a: 1 } });
    const dated = eventOf({ ...record, value: Buffer.from(`{${JSON.stringify(name)}:19782}`) }, { topics: hints as never }) as {
      row?: object;
    };
    expect(Object.getOwnPropertyDescriptor(dated.row, name)?.value).toBe("2024-02-29");
  });

  test("learned names stay data: a quote, a line separator and code in them run nowhere", () => {
    const name = '"];globalThis.polluted=1;//\u2028\n\\';
    const decoder = createDecoder();
    for (let i = 0; i < 4; i++) {
      const [event] = decoder.decode(recordOf(JSON.stringify({ [name]: i }))) as readonly CdcEvent[];
      expect((event as { row?: unknown }).row).toEqual({ [name]: i });
    }
    const schema = { type: "struct", name: name, fields: [{ type: "string", name, field: name, parameters: { [name]: name } }] };
    expect(rowOf(JSON.stringify({ schema, payload: { [name]: "x" } }))).toEqual({ [name]: "x" });
    expect((globalThis as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test("75,000 names of one message are not remembered for the next", () => {
    const decoder = createDecoder();
    const wide = (from: number): string =>
      JSON.stringify(Object.fromEntries(Array.from({ length: 15_000 }, (_, i) => [`k${from + i}`, i])));
    for (let i = 0; i < 5; i++) {
      const [event] = decoder.decode(recordOf(wide(i * 15_000))) as readonly CdcEvent[];
      expect(Object.keys((event as unknown as { row: object }).row)).toHaveLength(15_000);
    }
  });

  test("a wide row keeps its hints and its unavailable columns", () => {
    const many = Array.from({ length: 2_000 }, (_, i) => `"k${i}":${i}`).join();
    const options: DecoderOptions = { topics: { t: { columns: { at: "io.debezium.time.Date" } } } };
    const row = `{${many},"at":19782,"big":"__debezium_unavailable_value"}`;
    for (const value of [row, `{"before":null,"after":${row},"source":{"connector":"c","table":"x"},"op":"c"}`]) {
      const event = eventOf(recordOf(value), options) as unknown as { row?: Record<string, unknown>; after?: Record<string, unknown> };
      const columns = event.row ?? event.after;
      expect(columns?.["at"]).toBe("2024-02-29");
      expect(typeof columns?.["big"]).toBe("symbol");
      expect(columns?.["k1999"]).toBe(1_999);
    }
  });
});

describe("numbers and text", () => {
  test("an integer is read up to 1,001 digits, and exactly", () => {
    const digits = "9".repeat(1_001);
    expect(rowOf(`{"a":${digits},"b":-${digits}}`)).toEqual({ a: BigInt(digits), b: -BigInt(digits) });
    expect(errorOf(recordOf(`{"a":9${digits}}`)).code).toBe("limit-exceeded");
    const decoder = createDecoder();
    for (let i = 0; i < 3; i++) {
      void decoder.decode(recordOf('{"a":1}'));
    }
    expect(() => decoder.decode(recordOf(`{"a":${"9".repeat(2 ** 20)}}`))).toThrow("limit-exceeded");
  });

  test("lone surrogates in escapes are kept, and none is made up", () => {
    expect(rowOf('{"a":"\\ud800","b":"\\udc00\\ud800"}')).toEqual({ a: "\ud800", b: "\udc00\ud800" });
  });

  test("a string of 64 MiB is within the limit, a byte more is not read at all", () => {
    const max = 2 ** 26;
    const text = Buffer.alloc(max, 0x61);
    text.write('{"a":"', 0);
    text.write('"}', max - 2);
    expect(String((eventOf(recordOf(text)) as unknown as { row: { a: string } }).row.a)).toHaveLength(max - 8);
    expect(errorOf(recordOf(Buffer.concat([text, Buffer.from(" ")]))).code).toBe("limit-exceeded");
    expect(errorOf(recordOf("{}", { key: Buffer.alloc(11, 0x61) }), { limits: { maxMessageBytes: 10 } }).code).toBe("limit-exceeded");
  });
});

describe("error messages", () => {
  const canary = "CANARY7301";
  const columns = { id: canary, n: `${canary}`, [`x`]: canary };
  const connect = (type: object, value: unknown): string =>
    JSON.stringify({ schema: { type: "struct", fields: [{ ...type, field: "a" }] }, payload: { a: value } });
  const semantics = [
    ["bytes", "org.apache.kafka.connect.data.Decimal"],
    ["string", "io.debezium.time.ZonedTimestamp"],
    ["string", "io.debezium.time.IsoDate"],
    ["string", "io.debezium.time.Interval"],
    ["int64", "io.debezium.time.MicroTimestamp"],
    ["struct", "io.debezium.data.VariableScaleDecimal"],
    ["bytes", "io.debezium.data.Bits"],
  ] as const;
  const corrupt: readonly string[] = [
    ...["{", "[", '"', "tru", "-", "\u0001", "\\x"].map((bad) => `${JSON.stringify(columns).slice(0, -1)},"z":${bad}`),
    `{"a":"${canary}`,
    `{"a":"${canary}\\x"}`,
    `{"a":"${canary}\u0001"}`,
    `${canary}`,
    `{"a":${canary}}`,
    `{"a":1}${canary}`,
    ...["boolean", "int32", "int64", "double", "bytes", "array", "map", "struct"].map((type) =>
      connect({ type, items: { type: "int32" }, keys: { type: "string" }, values: { type: "int32" }, fields: [] }, canary),
    ),
    ...semantics.flatMap(([type, name]) => [
      connect({ type, name, fields: [], parameters: { scale: "2", length: "8" } }, canary),
      connect({ type, name, fields: [], parameters: { scale: "2", length: "8" } }, { [canary]: canary }),
    ]),
    `{"before":null,"after":{"id":"${canary}"},"source":{"connector":"cassandra","table":"${canary}"},"op":"r"}`,
  ];

  test.each(corrupt.map((value) => [value.slice(0, 70), value] as const))("tell nothing of what was sent: %j", async (_name, value) => {
    const optionSets: DecoderOptions[] = [{}, { values: { time: "date", json: "parse", decimal: "number", bits: "bigint" } }];
    for (const options of optionSets) {
      const bytes = Buffer.from(value);
      const badUtf8 = Buffer.concat([bytes.subarray(0, -1), Buffer.from([0xff]), bytes.subarray(-1)]);
      for (const one of [bytes, badUtf8, bytes.subarray(0, -3)]) {
        for (const record of [recordOf(one), recordOf("{}", { key: one })]) {
          expect(await reportedBy(record, options)).not.toContain(canary);
        }
      }
    }
  });
});

describe("JSON texts inside of one message", () => {
  const names = Array.from({ length: 12 }, (_, i) => `j${i}`);
  const fields = names.map((field) => ({ field, type: "string", name: "io.debezium.data.Json" }));
  const schema = { type: "struct", fields };
  const rowOfTexts = (text: string): KafkaRecord =>
    recordOf(JSON.stringify({ schema, payload: Object.fromEntries(names.map((name) => [name, text])) }));
  const options: DecoderOptions = { values: { json: "parse" } };

  test("cost together what one long text would", () => {
    const objects = `[${"{},".repeat(33_000)}{}]`; // less than is metered alone
    expect(errorOf(rowOfTexts(objects), options).cause).toMatchObject({ code: "limit-exceeded" });
    expect(eventOf(rowOfTexts(objects))).toHaveProperty("row"); // as text they cost nothing
  });

  test("of an honest size are read, message after message", () => {
    const decoder = createDecoder(options);
    const text = JSON.stringify(Array.from({ length: 800 }, (_, id) => ({ id, note: "a text of some words" })));
    for (let times = 0; times < 8; times++) {
      expect(decoder.decode(rowOfTexts(text))).toHaveLength(1);
    }
  });

  test("are metered in MongoDB's documents too", () => {
    const document = `{"a":[${"{},".repeat(42_000)}{}]}`;
    const change = {
      before: document,
      after: document,
      updateDescription: { updatedFields: document, removedFields: null, truncatedArrays: null },
    };
    const source = { connector: "mongodb", db: "d", collection: "c", name: "m", ts_ms: 1 };
    const record = recordOf(JSON.stringify({ ...change, source, op: "u", ts_ms: 1 }));
    expect(errorOf(record, { limits: { maxCostPerByte: 20 } }).code).toBe("limit-exceeded");
  });
});

/** All that an error or an explanation of the record says, causes included. */
async function reportedBy(record: KafkaRecord, options: DecoderOptions): Promise<string> {
  const reported: string[] = [];
  const tell = (error: unknown): void => {
    for (let one = error; one instanceof Error; one = one.cause) {
      reported.push(one.message, one.stack ?? "", String((one as { detail?: unknown }).detail));
    }
  };
  try {
    for (const event of await createDecoder(options).decode(record)) {
      event.toObject();
    }
  } catch (error) {
    expect(isDecodeError(error), String(error)).toBe(true);
    tell(error);
  }
  const { candidates, error } = await createDecoder(options).explain(record);
  tell(error);
  reported.push(...candidates.map(({ evidence }) => evidence));
  return reported.join("\n");
}
