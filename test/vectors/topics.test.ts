import { createDecoder } from "@cdckit/decode";
import { describe, test } from "vitest";
import { expectVector } from "./check-vector.ts";
import { optionsOf, recordOf, vectorFiles } from "./vector.ts";

/** Whole topics, whose messages may explain the ones behind them: in their order, one decoder a topic, as its first message wants it. */
describe.each(vectorFiles("topics"))("$file", ({ vectors }) => {
  const topics = [...new Set(vectors.map(({ topic }) => topic))];

  test.each(topics)("the topic %s", async (topic) => {
    const records = vectors.filter((vector) => vector.topic === topic);
    const decoder = createDecoder(records[0] === undefined ? {} : optionsOf(records[0]));
    for (const vector of records) {
      await expectVector(vector, decoder, recordOf(vector));
    }
  });
});
