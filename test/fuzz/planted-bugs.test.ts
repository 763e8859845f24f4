import type { KafkaRecord } from "@cdckit/decode";
import { afterEach, describe, expect, test } from "vitest";
import { runCampaign } from "./campaign.ts";
import { loadCorpus } from "./corpus.ts";
import { plantedBugs } from "./planted-bugs.ts";

const corpus = await loadCorpus();

describe("a campaign catches a decoder that", () => {
  afterEach(() => Reflect.deleteProperty(Object.prototype, "polluted"));

  test.each(plantedBugs)("$name", async ({ breaks, encoding, isPlain = false, decoderFor }) => {
    const promises = new Set<string>();
    const found = (): boolean => promises.has(breaks);
    const only = encoding === undefined ? {} : { encoding };
    const [max, atOnce, judgedEvery, maxFindings] = isPlain ? [20_000, 500, 20_001, 1] : [1_500, 10, 1, 400];
    for (let from = 1; from < max && !found(); from += atOnce) {
      const report = await runCampaign({ corpus, seed: 11, from, maxMessages: atOnce, maxFindings, judgedEvery, decoderFor, ...only });
      for (const { promise } of report.findings) {
        promises.add(promise);
      }
    }
    expect([...promises]).toContain(breaks);
  });
});

test("a finding names the message, which can be made again alone", async () => {
  const decoderFor = plantedBugs.find(({ name }) => name === "throws a text")?.decoderFor as NonNullable<
    Parameters<typeof runCampaign>[0]["decoderFor"]
  >;
  const { findings } = await runCampaign({ corpus, seed: 12, maxMessages: 200, judgedEvery: 1_000, maxFindings: 1, decoderFor });
  const [first] = findings;
  const again = await runCampaign({ corpus, seed: 12, from: first?.message ?? 0, maxMessages: 1, judgedEvery: 1_000, decoderFor });
  expect(bytesOf(again.findings[0]?.record)).toEqual(bytesOf(first?.record));
});

function bytesOf(record: KafkaRecord | undefined): unknown {
  return record === undefined ? null : [record.topic, record.key, record.value, record.headers];
}
