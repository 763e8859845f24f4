import { type Decoder, createDecoder, type KafkaRecord } from "@cdckit/decode";
import { fromBundle } from "@cdckit/registry";
import { loadRecording, RecordArrayBatch, recording } from "@cdckit/testkit";
import { readEvent } from "../measure/decode-meter.ts";
import type { DurationSummary } from "../measure/duration-histogram.ts";
import type { Peer } from "../measure/peer.ts";
import { measureReading, type ReadingMeasure } from "../measure/reading.ts";
import { medianOf, rateOf, type RateSummary, summarizeRates } from "../measure/rounds.ts";
import type { SizeSummary } from "../measure/size-tally.ts";
import type { ComparedFormat } from "./compared-formats.ts";

/** Rounds in which every format has its turn; the first is not counted. */
export const comparisonRounds = 7;
/** How often a recording is played in one round of the pipeline. */
const repeat = 20;
/** How long one side decodes in one round. */
const sliceMs = 60;

/** What one format costs, and what the peer makes of the same messages. */
export interface FormatComparison {
  readonly title: string;
  readonly topic: string;
  readonly sizes: SizeSummary;
  /** Average size as a multiple of the smallest format's, Avro's. */
  readonly sizeToAvro: number;
  /** Memory driver, consumer, decoder, handler: messages a second. */
  readonly pipeline: RateSummary;
  readonly megabytesPerSecond: number;
  /** Of the round with the median rate. */
  readonly decode: DurationSummary;
  /** Decoding alone: messages a second. */
  readonly decodeRate: RateSummary;
  readonly peer: { readonly name: string; readonly rate: RateSummary };
  /** Ours to the peer's, round by round. */
  readonly ratio: RateSummary;
}

/** Measures all formats in alternation, so that what slows the machine down for a while slows all of them down. */
export async function compareFormats(
  formats: readonly ComparedFormat[],
  interrupt: AbortSignal,
  onRound: (round: number) => void,
): Promise<readonly FormatComparison[]> {
  const contests: Contest[] = [];
  for (const format of formats) {
    contests.push(await Contest.open(format));
  }
  for (let round = 0; round <= comparisonRounds && !interrupt.aborted; round++) {
    onRound(round);
    const isWarmUp = round === 0;
    // A different one goes first every time.
    for (let turn = 0; turn < contests.length && !interrupt.aborted; turn++) {
      await contests[(round + turn) % contests.length]?.play(round, isWarmUp, interrupt);
    }
  }
  const measured = contests.filter((contest) => contest.isMeasured);
  const avroBytes = measured.find(({ title }) => title.endsWith("Avro"))?.averageBytes ?? Number.NaN;
  return measured.map((contest) => contest.result(avroBytes));
}

class Contest {
  readonly title: string;
  readonly #topic: string;
  readonly #driver: ReturnType<typeof recording>;
  readonly #schemas: ReturnType<typeof fromBundle>;
  readonly #records: readonly KafkaRecord[];
  readonly #batch: RecordArrayBatch;
  readonly #decoder: Decoder;
  readonly #peer: Peer;
  readonly #readings: ReadingMeasure[] = [];
  readonly #ours: number[] = [];
  readonly #peers: number[] = [];

  static async open(format: ComparedFormat): Promise<Contest> {
    return new Contest(format, await loadRecording(format.recording.file));
  }

  private constructor({ title, recording: { file, schemasFile }, createPeer }: ComparedFormat, records: readonly KafkaRecord[]) {
    this.title = title;
    this.#topic = records[0]?.topic ?? "";
    this.#driver = recording({ file, repeat });
    this.#schemas = fromBundle(schemasFile);
    this.#records = records;
    this.#batch = new RecordArrayBatch({ assignment: { topic: this.#topic, partition: 0, epoch: 0 }, records });
    this.#decoder = createDecoder({ schemas: this.#schemas });
    this.#peer = createPeer();
  }

  get isMeasured(): boolean {
    return this.#readings.length > 0 && this.#ours.length > 0;
  }

  get averageBytes(): number {
    return this.#sizes().avgBytes;
  }

  async play(round: number, isWarmUp: boolean, interrupt: AbortSignal): Promise<void> {
    const reading = await this.#runPipeline(round, interrupt);
    if (interrupt.aborted) {
      return;
    }
    const isPeerFirst = round % 2 === 1;
    const first = isPeerFirst ? this.#ratePeer() : this.#rateOurs();
    const second = isPeerFirst ? this.#rateOurs() : this.#ratePeer();
    if (!isWarmUp) {
      this.#readings.push(reading);
      this.#ours.push(isPeerFirst ? second : first);
      this.#peers.push(isPeerFirst ? first : second);
    }
  }

  result(avroBytes: number): FormatComparison {
    const sizes = this.#sizes();
    const pipeline = summarizeRates(this.#readings.map(rateOfReading));
    const ratios = this.#ours.map((rate, round) => rate / (this.#peers[round] ?? Number.NaN));
    return {
      title: this.title,
      topic: this.#topic,
      sizes,
      sizeToAvro: sizes.avgBytes / avroBytes,
      pipeline,
      megabytesPerSecond: (pipeline.median * sizes.avgBytes) / 1e6,
      decode: this.#medianReading().formats[0]?.decode ?? { count: 0, meanNs: 0, p50Ns: 0, p95Ns: 0, p99Ns: 0, maxNs: 0 },
      decodeRate: summarizeRates(this.#ours),
      peer: { name: this.#peer.name, rate: summarizeRates(this.#peers) },
      ratio: summarizeRates(ratios),
    };
  }

  #runPipeline(round: number, interrupt: AbortSignal): Promise<ReadingMeasure> {
    return measureReading({
      driver: this.#driver,
      schemas: this.#schemas,
      groupId: `demo-${round}`,
      topics: [this.#topic],
      from: "earliest",
      end: { maxRecords: this.#records.length * repeat },
      maxDurationMs: undefined,
      maxIdleMs: undefined,
      measureLatency: false,
      interrupt,
      onProgress: () => {},
    });
  }

  #rateOurs(): number {
    return rateOf(() => this.#decodeAll(), this.#records.length, sliceMs);
  }

  #decodeAll(): void {
    const walk = this.#batch.walk();
    while (walk.next()) {
      const events = this.#decoder.decodeAt(walk);
      if (events instanceof Promise) {
        throw new Error("a bundled schema was not at hand");
      }
      for (const event of events) {
        readEvent(event);
      }
    }
  }

  #ratePeer(): number {
    return rateOf(() => this.#records.forEach((record) => this.#peer.read(record)), this.#records.length, sliceMs);
  }

  #medianReading(): ReadingMeasure {
    const median = medianOf(this.#readings.map(rateOfReading));
    const byDistance = this.#readings.toSorted((a, b) => Math.abs(rateOfReading(a) - median) - Math.abs(rateOfReading(b) - median));
    return byDistance[0] as ReadingMeasure; // asked only once something is measured
  }

  #sizes(): SizeSummary {
    return this.#medianReading().formats[0]?.sizes ?? { count: 0, totalBytes: 0, avgBytes: 0, medianBytes: 0, p99Bytes: 0, maxBytes: 0 };
  }
}

function rateOfReading({ records, elapsedMs }: ReadingMeasure): number {
  return elapsedMs === 0 ? 0 : (records / elapsedMs) * 1e3;
}
