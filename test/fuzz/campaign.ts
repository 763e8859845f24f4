import { createHash } from "node:crypto";
import { performance } from "node:perf_hooks";
import { createDecoder, type Decoder, type DecoderOptions } from "@cdckit/decode";
import type { Pool, Seeds } from "./corpus.ts";
import type { Finding, Verdict } from "./finding.ts";
import { withHostileSchemas } from "./hostile-schemas.ts";
import { Mutator } from "./mutate.ts";
import { Oracle } from "./oracle.ts";
import { loadPeers, type PeersOf } from "./peer.ts";
import { Random } from "./random.ts";

export interface CampaignOptions {
  readonly corpus: readonly Pool[];
  readonly seed: number;
  /** Ends after so many mutated messages, or before one when the time is up. */
  readonly maxMessages: number;
  readonly maxMs?: number;
  /**
   * The number of the first message: each can be made again without those before it.
   * @default 0
   */
  readonly from?: number;
  /** The one encoding whose messages are changed, instead of each in turn. */
  readonly encoding?: string;
  /**
   * One message of so many is held to every promise; the others are decoded once.
   * @default 50
   */
  readonly judgedEvery?: number;
  /** Makes the decoder under test. */
  readonly decoderFor?: (options: DecoderOptions) => Decoder;
  /** @default 10 */
  readonly maxFindings?: number;
  /** Called before each message with its number. */
  readonly onMessage?: (message: number) => void;
  readonly onProgress?: (messages: number) => void;
}

/** A finding, and which message of the seed shows it. */
export interface NumberedFinding extends Finding {
  readonly message: number;
  readonly encoding: string;
}

export interface EncodingReport {
  messages: number;
  /** Messages that were read to their end and gave events. */
  decoded: number;
}

export interface CampaignReport {
  readonly messages: number;
  readonly byEncoding: Readonly<Record<string, Readonly<EncodingReport>>>;
  readonly byCode: Readonly<Record<string, number>>;
  readonly findings: readonly NumberedFinding[];
  /** Of all outcomes in their order: two runtimes that agree have the same. */
  readonly digest: string;
}

/** Mutates real messages and holds the decoder to its promises on each. */
export async function runCampaign(options: CampaignOptions): Promise<CampaignReport> {
  return await new Campaign(options, await loadPeers()).run();
}

/** What topics taught is forgotten after so many messages: hundreds of topics that each remember a thousand hostile schemas fill memory. */
const maxRemembered = 20_000;

class Campaign {
  readonly #options: Required<Omit<CampaignOptions, "encoding" | "onProgress" | "onMessage">> &
    Pick<CampaignOptions, "onProgress" | "onMessage">;
  readonly #mutators: ReadonlyMap<Pool, Mutator>;
  readonly #pools: readonly Pool[];
  readonly #peersOf: PeersOf;
  readonly #oracles = new Map<Seeds, Oracle>();
  readonly #byEncoding: Record<string, EncodingReport> = {};
  readonly #byCode: Record<string, number> = {};
  readonly #findings: NumberedFinding[] = [];

  constructor({ encoding, ...options }: CampaignOptions, peersOf: PeersOf) {
    this.#peersOf = peersOf;
    this.#options = {
      maxMs: Number.POSITIVE_INFINITY,
      maxFindings: 10,
      decoderFor: createDecoder,
      from: 0,
      judgedEvery: 50,
      ...options,
    };
    const { corpus } = options;
    this.#mutators = new Map(corpus.map((pool) => [pool, new Mutator(pool, corpus)]));
    this.#pools = encoding === undefined ? corpus : corpus.filter((pool) => pool.encoding === encoding);
    if (this.#pools.length === 0) {
      throw new RangeError(`no message of the corpus is ${encoding}; there are ${corpus.map((pool) => pool.encoding).join(", ")}`);
    }
  }

  async run(): Promise<CampaignReport> {
    const { from, maxMessages, maxMs, maxFindings, onMessage, onProgress } = this.#options;
    const digest = createHash("sha256");
    const endAt = performance.now() + maxMs;
    let message = from;
    while (message < from + maxMessages && this.#findings.length < maxFindings && performance.now() < endAt) {
      if (message % maxRemembered === 0) {
        this.#oracles.clear();
      }
      onMessage?.(message);
      const verdict = this.#take(message++);
      const { outcome } = verdict instanceof Promise ? await verdict : verdict;
      digest.update(outcome);
      if (message % 1_000 === 0) {
        onProgress?.(message - from);
        await new Promise(setImmediate); // a signal has its turn
      }
    }
    return {
      messages: message - from,
      byEncoding: this.#byEncoding,
      byCode: this.#byCode,
      findings: this.#findings,
      digest: digest.digest("hex"),
    };
  }

  #take(message: number): Verdict | Promise<Verdict> {
    const random = Random.of(this.#options.seed, message);
    const pool = random.pick(this.#pools);
    const mutator = this.#mutators.get(pool) as Mutator;
    const seed = mutator.pick(random);
    const record = mutator.mutated(seed, random);
    const oracle = this.#oracleFor(seed.from);
    const verdict = message % this.#options.judgedEvery === 0 ? this.#judged(oracle, record, seed.from, random) : oracle.glance(record);
    return verdict instanceof Promise
      ? verdict.then((settled) => this.#count(message, pool, oracle, settled))
      : this.#count(message, pool, oracle, verdict);
  }

  async #judged(oracle: Oracle, record: Finding["record"], { options }: Seeds, random: Random): Promise<Verdict> {
    const hostile = withHostileSchemas(options, random);
    if (hostile !== null) {
      await oracle.glanceWith(record, this.#options.decoderFor(hostile));
    }
    await oracle.glance(record);
    return await oracle.judge(record);
  }

  #count(message: number, { encoding }: Pool, oracle: Oracle, verdict: Verdict): Verdict {
    const counts = (this.#byEncoding[encoding] ??= { messages: 0, decoded: 0 });
    counts.messages++;
    counts.decoded += verdict.decoded ? 1 : 0;
    if (verdict.code !== null) {
      this.#byCode[verdict.code] = (this.#byCode[verdict.code] ?? 0) + 1;
    }
    if (oracle.findings.length > 0) {
      this.#findings.push(...oracle.findings.splice(0).map((finding) => ({ ...finding, message, encoding })));
    }
    return verdict;
  }

  #oracleFor(seeds: Seeds): Oracle {
    let oracle = this.#oracles.get(seeds);
    if (oracle === undefined) {
      const { decoderFor } = this.#options;
      oracle = new Oracle(() => decoderFor(seeds.options), this.#peersOf(seeds.options, decoderFor), !statesBinary(seeds.options));
      this.#oracles.set(seeds, oracle);
    }
    return oracle;
  }
}

const binary: ReadonlySet<unknown> = new Set(["msgpack", "cbor", "int16", "int32", "int64", "float32", "float64"]);

/** Whether the user has stated an encoding of whose messages any may begin with a brace. */
function statesBinary({ topics = {} }: DecoderOptions): boolean {
  return Object.values(topics).some(({ value }) => binary.has(value?.encoding));
}
