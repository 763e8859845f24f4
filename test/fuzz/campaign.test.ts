import { describe, expect, test } from "vitest";
import { runCampaign } from "./campaign.ts";
import { loadCorpus } from "./corpus.ts";
import { describeFinding } from "./finding.ts";

const corpus = await loadCorpus();
const seed = Number(process.env["FAST_CHECK_SEED"] ?? 20_261_121);

describe("mutated real messages", () => {
  test("break no promise for ten seconds, and a good part of each encoding's is decoded to the end", {
    timeout: 180_000,
  }, async () => {
    const { findings, byEncoding } = await runCampaign({ corpus, seed, maxMessages: 1_000_000, maxMs: 10_000 });
    const repeat = (message: number): string => `npm run fuzz -- --seed ${seed} --from ${message} --messages 1 --judged-every 1`;
    expect(findings.map((finding) => describeFinding(finding, repeat(finding.message)))).toEqual([]);
    for (const [encoding, { messages, decoded }] of Object.entries(byEncoding)) {
      expect(messages, `${encoding}: too few to tell a share of`).toBeGreaterThan(200);
      expect(decoded / messages, `${encoding}: ${decoded} of ${messages}`).toBeGreaterThan(0.3);
    }
  });

  test("are the same ones for the same seed, and others for another", async () => {
    const [first, again, other] = [await digestOf(7), await digestOf(7), await digestOf(8)];
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });
});

async function digestOf(seedOfRun: number): Promise<string> {
  return (await runCampaign({ corpus, seed: seedOfRun, maxMessages: 200, judgedEvery: 5 })).digest;
}
