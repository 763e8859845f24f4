import { type CdcEvent, createDecoder, type DecoderOptions, isDecodeError, type KafkaRecord } from "@cdckit/decode";
import { expect } from "vitest";
import { inPlace } from "../contract/in-place.ts";
import { expected, optionsOf, vectorRecord, type Vector } from "./vector.ts";

/** Decodes a vector alone, after other records of its topic, and in place between hostile neighbours: all must give the same. */
export async function checkVector(vector: Vector): Promise<void> {
  const record = vectorRecord(vector);
  const options = optionsOf(vector);
  await expectVector(vector, createDecoder(options), record);
  const seasoned = createDecoder(options);
  for (const value of vector.seenBefore ?? []) {
    await outcomeOf(() => seasoned.decode(vectorRecord(vector, value)));
  }
  // A topic's memory must change nothing: not after the first record, not after many.
  for (let times = 0; times < 4; times++) {
    await expectVector(vector, seasoned, record);
  }
  for (let times = 0; times < 100; times++) {
    await outcomeOf(() => seasoned.decode(record));
  }
  await expectVector(vector, seasoned, record);
  await expectInPlace(vector, options, record);
}

/** Whether the decoder, whatever it has read before, gives what the vector states. */
export async function expectVector(vector: Vector, decoder: { decode(record: KafkaRecord): unknown }, record: KafkaRecord): Promise<void> {
  const outcome = await outcomeOf(() => decoder.decode(record));
  if (vector.error !== undefined) {
    expect(outcome).toMatchObject({ error: { code: vector.error.code } });
    for (const name of vector.error.names ?? []) {
      expect((outcome as { error: Error }).error.message).toContain(name);
    }
    return;
  }
  expect(outcome).toHaveProperty("events");
  const wanted = vector.events ?? [vector.event ?? {}];
  const { events } = outcome as { events: readonly CdcEvent[] };
  expect(events).toHaveLength(wanted.length);
  for (const [i, event] of events.entries()) {
    const found = [event.framing, event.encoding, event.envelope].join("+");
    expect(found).toBe(vector.formats ?? found);
    expectEvent(wanted[i] ?? {}, event);
  }
}

async function expectInPlace(vector: Vector, options: DecoderOptions, record: KafkaRecord): Promise<void> {
  for (const neighbours of ['}],":"}}}]0', "\0\0\0\0", "9999}"]) {
    const decoder = createDecoder(options);
    await expectVector(vector, { decode: (one) => decoder.decodeAt(inPlace(one, neighbours)) }, record);
  }
}

function expectEvent(wanted: Readonly<Record<string, unknown>>, found: CdcEvent): void {
  const event = found as unknown as Record<string, unknown>;
  for (const [name, written] of Object.entries(wanted)) {
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
