import { readdirSync } from "node:fs";
import { join } from "node:path";
import { createDecoder } from "@cdckit/decode";
import { describe, test } from "vitest";
import { expectVector } from "./check-vector.ts";
import { linesOf } from "./lines.ts";
import { optionsOf, recordOf, type Vector } from "./vector.ts";

/** Whole topics, whose messages may explain the ones behind them: in their order, one decoder a topic, as its first message wants it. */
const files = readdirSync(join(import.meta.dirname, "topics"));

describe.each(files)("%s", (file) => {
  const vectors = linesOf<Vector>(`topics/${file}`);
  const topics = [...new Set(vectors.map(({ topic }) => topic))];

  test.each(topics)("the topic %s", async (topic) => {
    const records = vectors.filter((vector) => vector.topic === topic);
    const decoder = createDecoder(records[0] === undefined ? {} : optionsOf(records[0]));
    for (const vector of records) {
      await expectVector(vector, decoder, recordOf(vector));
    }
  });
});
