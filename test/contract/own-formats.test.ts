import {
  type CdcEvent,
  createDecoder,
  DecodeError,
  EnvelopedChange,
  type EnvelopeFormat,
  type Framing,
  type KafkaRecord,
  type PlainEncoding,
  readEverything,
  type SchemaEncoding,
} from "@cdckit/decode";
import { type FormatSample, recordOf, testFormatContract } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";

/** A frame of one's own: `7f | length of the name | name of the schema | payload`. */
const named: Framing = {
  name: "named",
  headerNames: [],
  recognise: ({ bytes, start, end }) => (end - start > 2 && bytes[start] === 0x7f ? "byte 0 is 7f, then the schema's name" : null),
  open: ({ bytes, start, end }) => {
    const payloadStart = start + 2 + (bytes[start + 1] as number);
    if (payloadStart > end) {
      throw new DecodeError("truncated", "expected the name of a schema, found the end of the message");
    }
    const schemaId = bytes.toString("latin1", start + 2, payloadStart);
    return { schemaId, payloads: [{ bytes, start: payloadStart, end, count: 1 }] };
  },
};

/** Fields of text, each ended by a semicolon, in the order of a schema that lists their names. */
const delimited: SchemaEncoding = {
  name: "delimited",
  schemaType: "NAMES",
  parse: ({ schema }) => {
    const names = schema.split(",");
    const type = { kind: "record", name: "Row", fields: names.map((name) => ({ name, type: { kind: "string" } as const })) } as const;
    return {
      typeOf: () => type,
      compile: () => ({
        encoding: "delimited",
        type,
        read: (bytes, start, end) => {
          const cells = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start)
            .toString("latin1")
            .split(";");
          if (cells.pop() !== "" || cells.length !== names.length) {
            throw new DecodeError("malformed", `expected ${names.length} cells, each ended by a semicolon, found others`);
          }
          return Object.fromEntries(names.map((name, i) => [name, cells[i]]));
        },
      }),
    };
  },
};

/** Lines of `name=value`. */
const lines: PlainEncoding = {
  name: "lines",
  parse: (bytes, start, end) => {
    const pairs = bytes
      .toString("latin1", start, end)
      .split("\n")
      .map((line) => line.split("="));
    if (pairs.some((pair) => pair.length !== 2)) {
      throw new DecodeError("malformed", "expected lines of name=value, found another");
    }
    return Object.fromEntries(pairs);
  },
};

/** `{verb, row}`. */
const verbs: EnvelopeFormat = {
  name: "verbs",
  recognise: ({ fields }) => (fields?.length === 2 && fields.includes("verb") && fields.includes("row") ? "the fields verb and row" : null),
  planFor: () => ({ ...readEverything, rows: ["row"] }),
  open: (value, origin) => {
    const { verb, row } = value as { verb: unknown; row: Record<string, unknown> };
    return verb === "put"
      ? [new EnvelopedChange("update", { name: "things" }, null, row, { source: { connector: "verbs" } }, origin)]
      : null;
  },
};

function thingRecord(value: string | Buffer): KafkaRecord {
  return recordOf(Buffer.from(value as Buffer), { topic: "shop.things", offset: 7n, timestamp: 1n });
}

const names = { id: "things", schemaType: "NAMES", schema: "id,name" };
const schemas = {
  peek: (id: number | string) => (id === names.id ? names : undefined),
  load: () => Promise.reject(Object.assign(new Error("no such schema"), { code: "not-found" })),
};

const samples: readonly FormatSample[] = [
  {
    name: "a framing and an encoding of one's own",
    record: thingRecord(Buffer.concat([Buffer.from([0x7f, 6]), Buffer.from("things1;bolt;")])),
    options: { schemas, formats: { framings: [named], schemaEncodings: [delimited] } },
    framing: "named",
    encoding: "delimited",
    envelope: "none",
    events: [{ kind: "row", row: { id: "1", name: "bolt" }, schemaId: "things" }],
  },
  {
    name: "an encoding of one's own that the user states for a topic",
    record: thingRecord("id=1\nname=bolt"),
    options: { formats: { plainEncodings: [lines] }, topics: { "shop.things": { value: { encoding: "lines" } } } },
    framing: "none",
    encoding: "lines",
    envelope: "none",
    events: [{ kind: "row", row: { id: "1", name: "bolt" } }],
  },
  {
    name: "an envelope of one's own",
    record: thingRecord('{"verb":"put","row":{"id":9007199254740993}}'),
    options: { formats: { envelopes: [verbs] } },
    framing: "none",
    encoding: "json",
    envelope: "verbs",
    events: [{ kind: "change", op: "update", table: { name: "things" }, after: { id: 9007199254740993n }, before: null }],
  },
  {
    name: "a row with an envelope's names that the envelope declines",
    record: thingRecord('{"verb":"run","row":{"id":1}}'),
    options: { formats: { envelopes: [verbs] } },
    framing: "none",
    encoding: "json",
    envelope: "none",
    events: [{ kind: "row", row: { verb: "run", row: { id: 1 } } }],
  },
];

testFormatContract("formats of one's own", { describe, test, expect }, { samples });

test("a framing of one's own may begin with a brace", () => {
  const braced: Framing = {
    ...named,
    recognise: ({ bytes, start, end }) => (end - start > 3 && bytes.toString("latin1", start, start + 2) === "{#" ? "text {#" : null),
    open: ({ bytes, start, end }) => ({ schemaId: null, payloads: [{ bytes, start: start + 2, end, count: 1 }] }),
  };
  const decoder = createDecoder({ formats: { framings: [braced] } });
  const record = { topic: "t", partition: 0, offset: 0n, timestamp: 0n, headers: [] };
  for (const side of [Buffer.from('{#{"a":1}'), Buffer.from('{"a":1}')]) {
    const [event] = decoder.decode({ ...record, key: side, value: side }) as readonly CdcEvent[];
    expect(event).toMatchObject({ kind: "row", key: { a: 1 }, row: { a: 1 } });
  }
});

/** Decodes a record by an envelope whose members are changed, and returns the error. Fails if a rejection has no listener. */
async function failureOf(change: object, sample = '{"verb":"put","row":{"id":1}}'): Promise<Error | null> {
  const unheard: unknown[] = [];
  const listen = (reason: unknown): void => void unheard.push(reason);
  const others = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection"); // vitest's own would fail the run
  process.on("unhandledRejection", listen);
  try {
    const decoder = createDecoder({ formats: { envelopes: [{ ...verbs, ...change }] } });
    let failure: Error | null = null;
    try {
      await decoder.decode(thingRecord(sample));
    } catch (error) {
      failure = error as Error;
    }
    await new Promise((resolve) => setImmediate(resolve)); // Node tells of a rejection after the turn in which it happened
    expect(unheard).toEqual([]);
    return failure;
  } finally {
    process.off("unhandledRejection", listen);
    others.forEach((other) => process.on("unhandledRejection", other));
  }
}

describe("an envelope of one's own", () => {
  const rejecting = () => Promise.reject(new Error("nobody listens"));

  test("that is asynchronous is an error that names it, and leaves no rejection without a listener", async () => {
    expect(await failureOf({ open: rejecting })).toMatchObject({
      name: "TypeError",
      message: 'expected an answer at once from open of the envelope "verbs", found a promise: an envelope cannot wait',
    });
    expect((await failureOf({ recognise: rejecting }))?.message).toContain("from recognise of the envelope");
    expect((await failureOf({ open: () => null, openUnprojected: rejecting }))?.message).toContain("from openUnprojected of the envelope");
    expect((await failureOf({ inner: rejecting }))?.message).toContain("from inner of the envelope");
  });

  test("that returns something else than events is an error that names it", async () => {
    expect((await failureOf({ open: () => ({ kind: "row" }) }))?.message).toBe(
      'expected an array of events, or null from open of the envelope "verbs", found a value of type object',
    );
  });

  test("may be an object of a class with private members", () => {
    class Verbs implements EnvelopeFormat {
      readonly name = "verbs";
      readonly #inner = verbs;
      recognise(shape: Parameters<EnvelopeFormat["recognise"]>[0]): string | null {
        return this.#inner.recognise(shape);
      }
      planFor(shape: Parameters<EnvelopeFormat["planFor"]>[0]): ReturnType<EnvelopeFormat["planFor"]> {
        return this.#inner.planFor(shape);
      }
      open(...args: Parameters<EnvelopeFormat["open"]>): ReturnType<EnvelopeFormat["open"]> {
        return this.#inner.open(...args);
      }
    }
    const decoder = createDecoder({ formats: { envelopes: [new Verbs()] } });
    expect(decoder.decode(thingRecord('{"verb":"put","row":{"id":1}}'))).toMatchObject([{ kind: "change", envelope: "verbs" }]);
  });
});
