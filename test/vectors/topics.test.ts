import { createDecoder, type Decoder, isDecodeError, type KafkaRecord } from "@cdckit/decode";
import { describe, expect, test } from "vitest";
import { expectVector } from "./check-vector.ts";
import { optionsOf, vectorRecord, vectorFiles } from "./vector.ts";

/** Whole topics, whose messages may explain the ones behind them: in their order, one decoder a topic, as its first message wants it. */
describe.each(vectorFiles("topics"))("$file", ({ vectors }) => {
  const topics = [...new Set(vectors.map(({ topic }) => topic))];

  test.each(topics)("the topic %s", async (topic) => {
    const records = vectors.filter((vector) => vector.topic === topic);
    const decoder = createDecoder(records[0] === undefined ? {} : optionsOf(records[0]));
    for (const vector of records) {
      await expectVector(vector, decoder, vectorRecord(vector));
    }
  });

  test.each(topics)("without an opt-in, a record of the topic %s is what it is to a decoder that has seen no other", async (topic) => {
    const records = vectors.filter((vector) => vector.topic === topic);
    const { learn: _, ...options } = records[0] === undefined ? {} : optionsOf(records[0]);
    const seasoned = createDecoder(options);
    for (const record of records.map((vector) => vectorRecord(vector))) {
      expect(await shownBy(seasoned, record)).toEqual(await shownBy(createDecoder(options), record));
    }
  });
});

async function shownBy(decoder: Decoder, record: KafkaRecord): Promise<unknown> {
  try {
    return (await decoder.decode(record)).map((event) => event.toObject());
  } catch (error) {
    return isDecodeError(error) ? error.code : error;
  }
}
