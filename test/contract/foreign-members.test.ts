import { type CdcEvent, createDecoder, isDecodeError, type KafkaRecord } from "@cdckit/decode";
import { recordOf } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { canonical } from "../fuzz/canonical.ts";
import { decoderOptions, type Sample } from "../vectors/sample.ts";
import { allSamples } from "../vectors/samples.ts";

/**
 * No member of a message vanishes. One that its envelope does not have is in the event, or speaks against the envelope: then it is a column
 * of a plain row.
 */

type Json = Readonly<Record<string, unknown>>;

const foreign = "zz_added_on_the_way";
const content = { deep: ["kept"] };

/** Of each envelope the messages that are JSON objects without a schema, with what they are parsed to. Text is kept: numbers are exact there. */
const messages = (await allSamples()).flatMap((sample) => {
  const text = objectText(sample);
  return text === null ? [] : [{ sample, text }];
});
const envelopes = [...new Set(messages.map(({ sample }) => sample.formats[2] as string))];

function objectText({ formats, record, events }: Sample): string | null {
  const isJson = formats[0] === "none" && (formats[1] === "json" || formats[1] === "connect-json") && events !== null;
  const text = isJson
    ? Buffer.from(record.value ?? [])
        .toString("utf8")
        .trim()
    : "";
  return text.startsWith("{") && !text.startsWith('{"schema"') && !text.startsWith('{"payload"') ? text : null;
}

function withMember(text: string, name: string, value: unknown): string {
  const isEmpty = /^\{\s*\}$/.test(text);
  return `${text.slice(0, -1)}${isEmpty ? "" : ","}${JSON.stringify(name)}:${JSON.stringify(value)}}`;
}

function recordWith({ record }: Sample, text: string): KafkaRecord {
  return { ...record, value: Buffer.from(text) };
}

/** Where the member is in an event: in `extra`, or in the row or the value that nobody has taken apart. */
function whereIs(event: CdcEvent): unknown {
  const { extra } = event;
  const held =
    event.kind === "row"
      ? event.row
      : event.kind === "unknown"
        ? event.value
        : event.kind === "change"
          ? (event.after ?? event.before)
          : {};
  return extra?.[foreign] ?? (held as Json | null)?.[foreign];
}

describe.each(envelopes)("a member that %s does not have", (envelope) => {
  test.each(
    messages.filter(({ sample }) => sample.formats[2] === envelope).map(({ sample, text }) => [sample.name, sample, text] as const),
  )("is in the event, or makes the message a row: %s", async (_, sample, text) => {
    const events = await createDecoder(decoderOptions(sample)).decode(recordWith(sample, withMember(text, foreign, content)));
    expect(events.length).toBeGreaterThan(0);
    for (const event of events) {
      expect(whereIs(event), `in an event ${event.kind} of ${event.envelope}`).toEqual(content);
    }
  });
});

describe.each(envelopes)("what a message of %s is", (envelope) => {
  const samples = messages.filter(({ sample }) => sample.formats[2] === envelope);

  test("does not depend on messages before it whose members of the same names hold something else", async () => {
    for (const { sample, text } of samples.slice(0, maxSamples)) {
      const parsed = JSON.parse(text) as Json;
      const nested = Object.keys(parsed).filter((name) => typeof parsed[name] === "object" && parsed[name] !== null);
      const others = nested.flatMap((name) => [null, {}, { x: 1 }, 5].map((value) => JSON.stringify({ ...parsed, [name]: value })));
      for (const other of others) {
        await expectSameAfter(sample, text, other);
        await expectSameAfter(sample, other, text);
      }
    }
  }, 120_000);
});

/** Columns of applications that have the names of an envelope's members, and nothing else that its system writes. */
const lookalikes: readonly Json[] = [
  { op: "c", source: { any: 1 }, before: null, after: { id: 1 }, user: "u" },
  { op: "c", source: { page: 1 }, after: "text" },
  { op: "t", source: { page: 3 } },
  { op: "m" },
  { id: 1, __table: "orders" },
  { id: 1, __op: "z" },
  { change: [] },
  { action: "B" },
  { action: "T" },
  { status: "END", id: "7", event_count: "many", data_collections: [], ts_ms: 1 },
  { schema: { type: "object" }, payload: { a: 1 } },
  { schema: { type: "record", fields: [] }, payload: { a: 1 } },
];

test("a row that only looks like an envelope's is a row with every member", async () => {
  for (const row of lookalikes) {
    const events = await createDecoder().decode(recordOf(JSON.stringify(row)));
    expect(
      events.map((event) => [event.kind, event.kind === "row" && event.row]),
      JSON.stringify(row),
    ).toEqual([["row", row]]);
  }
});

/** Of an envelope, the first ones differ most. */
const maxSamples = 8;

/** More often than a shape must be seen before it is read by what was learned of it. */
const sightings = 3;

async function expectSameAfter(sample: Sample, text: string, before: string): Promise<void> {
  const fresh = await outcomeOf(createDecoder(decoderOptions(sample)), recordWith(sample, text));
  const used = createDecoder(decoderOptions(sample));
  for (let i = 0; i < sightings; i++) {
    await outcomeOf(used, recordWith(sample, before));
  }
  expect(await outcomeOf(used, recordWith(sample, text)), `${text}\nafter ${before}`).toBe(fresh);
}

async function outcomeOf(decoder: ReturnType<typeof createDecoder>, record: KafkaRecord): Promise<string> {
  try {
    return (await decoder.decode(record)).map((event) => canonical({ ...event.toObject(), record: null })).join();
  } catch (error) {
    if (!isDecodeError(error)) {
      throw error;
    }
    return error.code;
  }
}
