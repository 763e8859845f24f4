import { createHash } from "node:crypto";
import { performance } from "node:perf_hooks";
import { createDecoder, type Decoder, type KafkaRecord, type SchemaSource } from "@cdckit/decode";
import { attacks } from "./attacks.ts";
import type { Seeds } from "./corpus.ts";
import { mutated } from "./mutate.ts";
import { costOf, type Finding, Oracle } from "./oracle.ts";
import { Random } from "./random.ts";

export interface CampaignOptions {
  readonly corpus: readonly Seeds[];
  readonly seed: number;
  /** Ends after so many mutated messages, or before one when the time is up. */
  readonly mostMessages: number;
  readonly mostMs?: number;
  /** Makes the decoder under test. */
  readonly decoderFor?: (schemas: SchemaSource) => Decoder;
  /** @default 10 */
  readonly mostFindings?: number;
  readonly onProgress?: (report: CampaignReport) => void;
}

export interface CampaignReport {
  readonly messages: number;
  /** Messages that were read to their end and gave events. */
  readonly decoded: number;
  readonly byCode: Readonly<Record<string, number>>;
  readonly findings: readonly Finding[];
  /** Of all outcomes in their order: two runtimes that agree have the same. */
  readonly digest: string;
}

const defaultDecoder = (schemas: SchemaSource): Decoder => createDecoder({ schemas });

/** Mutates real messages and holds the decoder to its promises on each. */
export async function runCampaign(options: CampaignOptions): Promise<CampaignReport> {
  const { corpus, seed, mostMessages, mostMs = Number.POSITIVE_INFINITY, mostFindings = 10, decoderFor = defaultDecoder } = options;
  const random = new Random(seed);
  const oracles = new Map(corpus.map((seeds) => [seeds, new Oracle(() => decoderFor(seeds.schemas))]));
  const digest = createHash("sha256");
  const byCode: Record<string, number> = {};
  const endAt = performance.now() + mostMs;
  const findings: Finding[] = [];
  let messages = 0;
  let decoded = 0;
  while (messages < mostMessages && findings.length < mostFindings && performance.now() < endAt) {
    const seeds = random.pick(corpus);
    const oracle = oracles.get(seeds) as Oracle;
    const verdict = await oracle.judge(mutated(random.pick(seeds.records), random.pick(random.pick(corpus).records), random));
    findings.push(...oracle.findings.splice(0));
    messages++;
    decoded += verdict.decoded ? 1 : 0;
    if (verdict.code !== null) {
      byCode[verdict.code] = (byCode[verdict.code] ?? 0) + 1;
    }
    digest.update(verdict.outcome);
    if (messages % 1_000 === 0) {
      options.onProgress?.({ messages, decoded, byCode, findings, digest: "" });
    }
  }
  return { messages, decoded, byCode, findings, digest: digest.digest("hex") };
}

export interface CostReport {
  readonly name: string;
  readonly bytes: number;
  /** Per MiB of message; a message shorter than that counts as one. */
  readonly msPerMiB: number;
  readonly mibPerMiB: number;
}

/** What messages cost that are made to cost as much as they can. Needs `--expose-gc` for the memory. */
export function measureAttacks(tries = 6): readonly CostReport[] {
  return attacks().map(({ name, value, schemas }) => {
    const record: KafkaRecord = { topic: "a.b.c", partition: 0, offset: 0n, timestamp: 0n, key: null, value, headers: [] };
    const { ms, heapBytes } = costOf(() => createDecoder(schemas === null ? {} : { schemas }).decode(record), tries);
    const mib = Math.max(1, value.length / 2 ** 20);
    return { name, bytes: value.length, msPerMiB: ms / mib, mibPerMiB: heapBytes / 2 ** 20 / mib };
  });
}
