import {
  createDecoder,
  type CdcEvent,
  type Decoder,
  type DecodeError,
  isDecodeError,
  type KafkaRecord,
  type SchemaSource,
} from "@cdckit/decode";
import { describe, expect, test } from "vitest";
import { type CampaignReport, runCampaign } from "./campaign.ts";
import { loadCorpus } from "./corpus.ts";

const corpus = await loadCorpus();
const seed = Number(process.env["FAST_CHECK_SEED"] ?? 20_261_121);

describe("mutated real messages", () => {
  test("break no promise, and a good part of them is decoded to the end", async () => {
    const { findings, messages, decoded } = await runCampaign({ corpus, seed, mostMessages: 2_500 });
    expect(findings, `repeat with: npm run fuzz -- --seed ${seed}`).toEqual([]);
    expect(decoded / messages).toBeGreaterThan(0.3);
  });

  test("are the same ones for the same seed", async () => {
    const [first, again, other] = [await digestOf(7), await digestOf(7), await digestOf(8)];
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });
});

async function digestOf(seedOfRun: number): Promise<string> {
  return (await runCampaign({ corpus, seed: seedOfRun, mostMessages: 100 })).digest;
}

describe("the oracle catches a decoder that", () => {
  test("ignores trailing bytes", async () => {
    const found = await campaignAgainst((schemas) => {
      const decoder = createDecoder({ schemas });
      return withDecode(decoder, (record) => {
        try {
          return decoder.decode(record);
        } catch (error) {
          const isLonger = isDecodeError(error) && error.code === "trailing-bytes" && record.value !== null;
          return isLonger ? decoder.decode({ ...record, value: record.value.subarray(0, -1) }) : raise(error);
        }
      });
    });
    expect(promisesOf(found)).toContain("the whole buffer is consumed");
  });

  test("looks a byte beyond the end", async () => {
    const found = await campaignAgainst((schemas) => {
      const decoder = createDecoder({ schemas });
      return { ...withDecode(decoder), decodeAt: (cursor) => decoder.decodeAt({ ...cursor, valueEnd: cursor.valueEnd + 1 }) };
    });
    expect(promisesOf(found)).toContain("bytes in place decode as bytes alone");
  });

  test("lets what it saw before colour what it sees", async () => {
    const found = await campaignAgainst((schemas) => {
      const decoder = createDecoder({ schemas });
      let seen = 0;
      return withDecode(decoder, (record) =>
        seen++ > 3 && record.value !== null ? decoder.decode({ ...record, value: null }) : decoder.decode(record),
      );
    });
    expect(promisesOf(found)).toContain("a topic's memory changes nothing");
  });

  test("throws what is no DecodeError", async () => {
    const found = await campaignAgainst((schemas) => {
      const decoder = createDecoder({ schemas });
      return withDecode(decoder, (record) => {
        try {
          return decoder.decode(record);
        } catch (error) {
          return (error as DecodeError).code === "truncated" ? raise(new RangeError("out of range")) : raise(error);
        }
      });
    });
    expect(promisesOf(found)).toContain("a value or a DecodeError");
  });

  test("rounds on the quick way alone", async () => {
    const found = await campaignAgainst((schemas) => {
      const exact = createDecoder({ schemas });
      const other = createDecoder({ schemas, values: { int64: "string" } });
      return withDecode(exact, (record) => (record.value?.[0] === 0x7b ? other : exact).decode(record));
    });
    expect(promisesOf(found)).toContain("the quick way and the slow way give the same");
  });

  test("pollutes a prototype", async () => {
    let planted = 0;
    const found = await campaignAgainst((schemas) => {
      const decoder = createDecoder({ schemas });
      return withDecode(decoder, (record) => {
        Object.defineProperty(Object.prototype, `polluted${planted++}`, { value: 1, configurable: true });
        return decoder.decode(record);
      });
    });
    for (const name of Reflect.ownKeys(Object.prototype).filter((key) => String(key).startsWith("polluted"))) {
      Reflect.deleteProperty(Object.prototype, name);
    }
    expect(promisesOf(found)).toContain("prototypes stay as they are");
  });
});

function campaignAgainst(decoderFor: (schemas: SchemaSource) => Decoder): Promise<CampaignReport> {
  return runCampaign({ corpus, seed: 3, mostMessages: 150, mostFindings: 40, decoderFor });
}

type Decode = (record: KafkaRecord) => readonly CdcEvent[] | Promise<readonly CdcEvent[]>;

function withDecode(decoder: Decoder, decode: Decode = (record) => decoder.decode(record)): Decoder {
  return { decode, decodeAt: (cursor) => decoder.decodeAt(cursor), explain: (record) => decoder.explain(record) };
}

function raise(error: unknown): never {
  throw error;
}

function promisesOf({ findings }: CampaignReport): string[] {
  return findings.map(({ promise }) => promise);
}
