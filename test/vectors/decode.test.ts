import { type CdcEvent, createDecoder, type DecoderOptions, isDecodeError, type KafkaRecord } from "@cdckit/decode";
import { describe, expect, test } from "vitest";
import { inPlace } from "../contract/in-place.ts";
import { expected, optionsOf, recordOf, type Vector, vectorFiles } from "./vector.ts";

describe.each(vectorFiles())("$file", ({ vectors }) => {
  test.each(vectors)("$name", async (vector) => {
    const record = recordOf(vector);
    const options = optionsOf(vector);
    await expectVector(vector, createDecoder(options), record);
    const seasoned = createDecoder(options);
    for (const value of vector.seenBefore ?? []) {
      await outcomeOf(() => seasoned.decode(recordOf(vector, value)));
    }
    // A topic's memory must change nothing: not after the first record, not after many.
    for (let times = 0; times < 4; times++) {
      await expectVector(vector, seasoned, record);
    }
    await expectInPlace(vector, options, record);
  });
});

async function expectVector(vector: Vector, decoder: { decode(record: KafkaRecord): unknown }, record: KafkaRecord): Promise<void> {
  const outcome = await outcomeOf(() => decoder.decode(record));
  if (vector.error !== undefined) {
    expect(outcome).toMatchObject({ error: { code: vector.error.code } });
    for (const name of vector.error.names ?? []) {
      expect((outcome as { error: Error }).error.message).toContain(name);
    }
    return;
  }
  expect(outcome).toHaveProperty("events");
  expectEvent(vector, (outcome as { events: readonly CdcEvent[] }).events);
}

async function expectInPlace(vector: Vector, options: DecoderOptions, record: KafkaRecord): Promise<void> {
  for (const neighbours of ['}],":"}}}]0', "\0\0\0\0", "9999}"]) {
    const decoder = createDecoder(options);
    await expectVector(vector, { decode: (one) => decoder.decodeAt(inPlace(one, neighbours)) }, record);
  }
}

function expectEvent(vector: Vector, events: readonly CdcEvent[]): void {
  expect(events).toHaveLength(1);
  const event = events[0] as unknown as Record<string, unknown>;
  for (const [name, written] of Object.entries(vector.event ?? {})) {
    const want = expected(written);
    if (name === "source") {
      for (const [part, value] of Object.entries(want as object)) {
        expect((event["source"] as Record<string, unknown>)[part], `source.${part}`).toEqual(value);
      }
    } else {
      expect(event[name], name).toEqual(want);
    }
  }
}

async function outcomeOf(decode: () => unknown): Promise<{ events: unknown } | { error: Error }> {
  try {
    return { events: await decode() };
  } catch (error) {
    if (!isDecodeError(error)) {
      throw error;
    }
    return { error };
  }
}
