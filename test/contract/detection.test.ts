import {
  type CdcEvent,
  createDecoder,
  type DecoderOptions,
  isDecodeError,
  type KafkaRecord,
  type RegisteredSchema,
  type SchemaSource,
} from "@cdckit/decode";
import { type RecordFields, recordOf } from "@cdckit/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonical } from "../fuzz/canonical.ts";
import { inPlace } from "./in-place.ts";

function orderRecord(value: string | Buffer | null, rest: RecordFields = {}): KafkaRecord {
  return recordOf(value, { topic: "p.inv.orders", offset: 1n, ...rest });
}

const field = (name: string, type: unknown): object => ({ name, type });
const rowSchema = (name: string, ...fields: object[]): string => JSON.stringify({ type: "record", name, fields });
const schemaOne = rowSchema("One", field("id", "int"));
const schemaTwo = rowSchema("Two", field("id", "int"), field("s", "string"));
const framed = (id: number, ...payload: number[]): Buffer => Buffer.from([0, 0, 0, 0, id, ...payload]);

/** A source whose loads end when the test says so. */
class SlowSource implements SchemaSource {
  readonly loads: { id: number; answer: (schema: string) => void; fail: (error: Error) => void }[] = [];
  readonly #known = new Map<number, RegisteredSchema>();

  peek(id: number | string): RegisteredSchema | undefined {
    return this.#known.get(Number(id));
  }

  load(id: number | string): Promise<RegisteredSchema> {
    return new Promise((resolve, reject) => {
      const answer = (schema: string): void => {
        const registered: RegisteredSchema = { id, schemaType: "AVRO", schema };
        this.#known.set(Number(id), registered);
        resolve(registered);
      };
      this.loads.push({ id: Number(id), answer, fail: reject });
    });
  }
}

describe("a schema that is not at hand", () => {
  test("makes decode a promise, and decoding the next record synchronous", async () => {
    const schemas = new SlowSource();
    const decoder = createDecoder({ schemas });
    const pending = decoder.decode(orderRecord(framed(1, 2)));
    expect(pending).toBeInstanceOf(Promise);
    schemas.loads[0]?.answer(schemaOne);
    expect(((await pending)[0] as { row?: unknown }).row).toEqual({ id: 1 });
    expect(decoder.decode(orderRecord(framed(1, 4)))).not.toBeInstanceOf(Promise);
  });

  test("is waited for by a cursor that has moved on", async () => {
    const schemas = new SlowSource();
    const decoder = createDecoder({ schemas });
    const cursor = { ...inPlace(orderRecord(framed(1, 2)), "}}") };
    const pending = decoder.decodeAt(cursor);
    const next = inPlace(orderRecord(framed(1, 8), { offset: 2n }), "]]");
    Object.assign(cursor, next);
    schemas.loads[0]?.answer(schemaOne);
    const [event] = await pending;
    expect([(event as { row?: unknown }).row, event?.record.offset]).toEqual([{ id: 1 }, 1n]);
  });

  test("lets records of one topic wait for different schemas and answers each with its own, in any order", async () => {
    const schemas = new SlowSource();
    const decoder = createDecoder({ schemas });
    const both = [decoder.decode(orderRecord(framed(1, 2))), decoder.decode(orderRecord(framed(2, 4, 2, 0x61)))];
    const json = decoder.decode(orderRecord('{"id":3}')) as readonly CdcEvent[];
    const keyed = decoder.decode(orderRecord(framed(2, 6, 2, 0x62), { key: framed(3, 8) }));
    for (const load of [...schemas.loads].reverse()) {
      load.answer(load.id === 2 ? schemaTwo : schemaOne);
    }
    await Promise.all(both.map((events) => Promise.resolve(events)));
    for (const load of schemas.loads.slice(3)) {
      load.answer(load.id === 2 ? schemaTwo : schemaOne);
    }
    const rows = [...(await Promise.all([...both, keyed])), json].map(([event]) => (event as { row?: unknown }).row);
    expect(rows).toEqual([{ id: 1 }, { id: 2, s: "a" }, { id: 3, s: "b" }, { id: 3 }]);
    expect((await keyed)[0]?.key).toEqual({ id: 4 });
  });

  test.each([
    ["not-found", "schema-not-found", false],
    ["unavailable", "schema-unavailable", true],
    ["refused", "schema-refused", false],
    ["something else", "schema-unavailable", true],
  ])("that the source answers with %s ends in %s", async (failure, code, retriable) => {
    const schemas = new SlowSource();
    const pending = createDecoder({ schemas }).decode(orderRecord(framed(1, 2), { offset: 9n }));
    schemas.loads[0]?.fail(Object.assign(new Error("the registry said no"), { code: failure }));
    const error = await Promise.resolve(pending).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code, retriable, at: { topic: "p.inv.orders", partition: 0, offset: 9n } });
    expect((error as Error).message).toContain("schema id 1");
  });

  test("can be asked for again after it could not be reached", async () => {
    const schemas = new SlowSource();
    const decoder = createDecoder({ schemas });
    const first = Promise.resolve(decoder.decode(orderRecord(framed(1, 2)))).catch((thrown: unknown) => thrown);
    schemas.loads[0]?.fail(Object.assign(new Error("timed out"), { code: "unavailable" }));
    expect(isDecodeError(await first)).toBe(true);
    const second = decoder.decode(orderRecord(framed(1, 2)));
    schemas.loads[1]?.answer(schemaOne);
    expect(await second).toHaveLength(1);
  });

  test("is an error if the source loads it and does not keep it, instead of asking for ever", async () => {
    let loads = 0;
    const schemas: SchemaSource = {
      peek: () => undefined,
      load: (id) => Promise.resolve({ id, schemaType: "AVRO", schema: schemaOne, loads: loads++ }),
    };
    await expect(createDecoder({ schemas }).decode(orderRecord(framed(1, 2)))).rejects.toMatchObject({ code: "schema-unavailable" });
    expect(loads).toBe(1);
  });

  test("a load that throws at once is no crash", async () => {
    const schemas: SchemaSource = {
      peek: () => undefined,
      load: () => {
        throw new Error("broken");
      },
    };
    await expect(createDecoder({ schemas }).decode(orderRecord(framed(1, 2)))).rejects.toMatchObject({ code: "schema-unavailable" });
  });
});

const known: Readonly<Record<number, string>> = { 1: schemaOne, 2: schemaTwo, 3: '"string"' };
const schemas: SchemaSource = {
  peek: (id) => {
    const schema = known[Number(id)];
    return schema === undefined ? undefined : { id, schemaType: "AVRO", schema };
  },
  load: () => Promise.reject(Object.assign(new Error("no such schema"), { code: "not-found" })),
};

const connect = (type: string, payload: string): string => `{"schema":{"type":"${type}","optional":true},"payload":${payload}}`;
const dbz = (after: string, op = "u", more = ""): string =>
  `{"before":null,"after":${after},"source":{"connector":"c","table":"orders"${more}},"op":"${op}","ts_ms":1,"ts_us":2,"ts_ns":3}`;
const messages: readonly (string | Buffer | null)[] = [
  framed(1, 2),
  framed(2, 2, 2, 0x61),
  framed(3, 2, 0x61),
  framed(1, 2, 0),
  framed(2, 2),
  framed(9, 2),
  ...["1", "-0", "null", '"x"', "1.5", '{"b":1}', "[1]", '"__debezium_unavailable_value"', "9007199254740993"].flatMap((value) => [
    `{"a":${value},"b":2}`,
    `{"a":${value}}`,
    `{"schema":${value},"payload":${value}}`,
    `{"schema":null,"payload":{"a":${value}}}`,
    connect("string", value),
    connect("int64", value),
    dbz(value),
    dbz(`{"a":${value}}`),
    dbz("null", "t"),
    dbz(`{"a":${value}}`, "x"),
    dbz(`{"a":${value}}`, "c", `,"x":${value}`),
    `{"a":${value},"__op":"c","__deleted":"false"}`,
  ]),
  '{"schema":{"type":"string"},"payload":"a","more":1}',
  '{ "schema":{"type":"string"} , "payload":"a"}',
  '{"payload":"a","schema":{"type":"string"}}',
  '{"ts_ms":5}',
  '{"a":01}',
  "garbage",
  "",
  null,
  Buffer.from([0xff, 0xfe]),
];
const headers: readonly KafkaRecord["headers"][] = [[], [["__op", Buffer.from("c")]], [["x", null]]];
const keys: readonly (Buffer | null)[] = [
  null,
  framed(1, 2),
  Buffer.from('{"id":1}'),
  Buffer.from("text"),
  Buffer.from([0, 0, 0, 0, 0, 0, 0, 5]),
];

const anyRecord = fc
  .record({ value: fc.constantFrom(...messages), headers: fc.constantFrom(...headers), key: fc.constantFrom(...keys) })
  .map(({ value, headers: theirs, key }) => orderRecord(value, { headers: theirs, key }));

describe("a topic that mixes formats, schemas, tombstones and garbage", () => {
  test.each<[string, DecoderOptions]>([
    ["by default", {}],
    ["with bigints and exact numbers", { values: { int64: "bigint", numbers: "exact" } }],
    ["with int64 as text", { values: { int64: "string" } }],
    ["with hints", { topics: { "p.inv.orders": { columns: { a: "io.debezium.time.Date" } } } }],
    ["with little memory", { limits: { maxSchemas: 1, maxTopics: 1 } }],
  ])("gives what a decoder gives that sees each record alone, %s", async (_name, options) => {
    const lonely = new Map<string, Promise<string>>();
    await fc.assert(
      fc.asyncProperty(fc.array(anyRecord, { minLength: 1, maxLength: 60 }), async (records) => {
        const shared = createDecoder({ schemas, ...options });
        for (const record of records) {
          const id = canonical([record.value, record.key, record.headers]);
          const alone = lonely.get(id) ?? outcomeOf(() => createDecoder({ schemas, ...options }).decode(record));
          lonely.set(id, alone);
          expect(await outcomeOf(() => shared.decode(record))).toBe(await alone);
        }
      }),
      { numRuns: 60 },
    );
  });

  test("many topics take turns within maxTopics, and none changes another", async () => {
    const decoder = createDecoder({ schemas, limits: { maxTopics: 3 } });
    for (let i = 0; i < 200; i++) {
      const record = orderRecord(messages[(i * 7) % messages.length] ?? null, { topic: `topic-${(i * 5) % 11}` });
      expect(await outcomeOf(() => decoder.decode(record))).toBe(await outcomeOf(() => createDecoder({ schemas }).decode(record)));
    }
  });
});

describe("explain", () => {
  test.each(messages.map((value) => [typeof value === "string" ? value.slice(0, 60) : (value?.toString("hex") ?? "null"), value] as const))(
    "ends as decoding ends, and names a winner where there is one: %s",
    async (_name, value) => {
      const record = orderRecord(value, { key: Buffer.from('{"id":1}') });
      const { candidates, error } = await createDecoder({ schemas }).explain(record);
      const outcome = await outcomeOf(() => createDecoder({ schemas }).decode(record));
      expect(isDecodeError(error) ? error.code : "decoded").toBe(outcome.startsWith("[") ? "decoded" : outcome);
      for (const candidate of candidates) {
        expect(candidate.evidence).not.toBe("");
      }
      if (error === null && value !== null) {
        const won = (layer: string): string[] =>
          candidates.filter((one) => one.side === "value" && one.layer === layer && one.won).map(({ name }) => name);
        const [event] = (await createDecoder({ schemas }).decode(record)) as readonly CdcEvent[];
        expect([won("framing"), won("encoding"), won("envelope")]).toEqual([[event?.framing], [event?.encoding], [event?.envelope]]);
      }
    },
  );

  test("names an envelope of two forms once, with the evidence of the form that took the value", async () => {
    const heartbeat = { ...orderRecord(Buffer.from('{"ts_ms":5}'), { key: Buffer.from('{"serverName":"shop"}') }), topic: "beats.shop" };
    const { candidates } = await createDecoder().explain(heartbeat);
    expect(candidates.filter(({ layer, name }) => layer === "envelope" && name === "debezium")).toEqual([
      { side: "value", layer: "envelope", name: "debezium", won: true, evidence: "exactly the fields of a heartbeat, which may be one" },
    ]);
  });

  test("sees JSON behind a byte order mark, as decoding does", async () => {
    const record = orderRecord(Buffer.from('\ufeff{"a":1}'));
    const { candidates, error } = await createDecoder().explain(record);
    expect(error).toBe(null);
    expect(candidates.filter(({ layer, won }) => layer === "encoding" && won).map(({ name }) => name)).toEqual(["json"]);
  });
});

async function outcomeOf(decode: () => unknown): Promise<string> {
  try {
    return canonical(((await decode()) as CdcEvent[]).map((event) => event.toObject()));
  } catch (error) {
    if (!isDecodeError(error)) {
      throw error;
    }
    return error.code;
  }
}
