import type { DriverSession, DriverSink, KafkaDriver, Subscription } from "@cdckit/consumer";
import type { KafkaRecord } from "@cdckit/decode";
import { MemoryBroker } from "./memory-broker.ts";
import { memory, type MemoryDriver } from "./memory-driver.ts";
import { loadRecording } from "./recording.ts";
import { bindMethods } from "./bind-methods.ts";

/** Which recording is read, how often, and in batches of which size. */
export interface RecordingDriverOptions {
  /** A RECORDING file, or several that are read into one broker. */
  readonly file: string | readonly string[];
  /**
   * How often the recording is played, one time after the other; offsets go on rising.
   * @default 1
   */
  readonly repeat?: number;
  /**
   * Most records in a fetched batch.
   * @default 500
   */
  readonly maxBatchRecords?: number;
}

/** A driver that plays recordings: their topics, partitions and offsets, no broker. The files are read when it connects. */
export function recording(options: RecordingDriverOptions): KafkaDriver {
  const { repeat = 1 } = options;
  if (!Number.isSafeInteger(repeat) || repeat < 1) {
    throw new RangeError(`repeat must be a positive integer, got ${repeat}`);
  }
  const broker = new MemoryBroker();
  const inner = memory(options.maxBatchRecords === undefined ? { broker } : { broker, maxBatchRecords: options.maxBatchRecords });
  return new RecordingDriver(inner, [options.file].flat(), repeat);
}

class RecordingDriver implements KafkaDriver {
  readonly name = "recording";
  readonly capabilities: KafkaDriver["capabilities"];
  readonly #inner: MemoryDriver;
  readonly #files: readonly string[];
  readonly #repeat: number;
  #loading: Promise<void> | undefined;

  constructor(inner: MemoryDriver, files: readonly string[], repeat: number) {
    this.capabilities = inner.capabilities;
    this.#inner = inner;
    this.#files = files;
    this.#repeat = repeat;
    bindMethods(this);
  }

  async connect(subscription: Subscription, sink: DriverSink): Promise<DriverSession> {
    this.#loading ??= this.#load();
    await this.#loading;
    return this.#inner.connect(subscription, sink);
  }

  async #load(): Promise<void> {
    for (const file of this.#files) {
      play(await loadRecording(file), this.#repeat, this.#inner.broker);
    }
  }
}

/** Appends the records to the broker so many times, each time after the last. */
function play(records: readonly KafkaRecord[], repeat: number, broker: MemoryBroker): void {
  for (const [topic, partitions] of partitionCounts(records)) {
    if (!broker.topics().includes(topic)) {
      broker.createTopic(topic, partitions);
    } else if (broker.partitions(topic) < partitions) {
      broker.addPartitions(topic, partitions);
    }
  }
  const spans = new Map<string, bigint>();
  for (const { topic, partition, offset } of records) {
    spans.set(`${topic}\0${partition}`, offset + 1n);
  }
  for (let time = 0n; time < BigInt(repeat); time++) {
    for (const record of records) {
      const shift = time * (spans.get(`${record.topic}\0${record.partition}`) ?? 0n);
      broker.append(record.topic, { ...record, offset: record.offset + shift });
    }
  }
}

function partitionCounts(records: readonly KafkaRecord[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { topic, partition } of records) {
    counts.set(topic, Math.max(counts.get(topic) ?? 0, partition + 1));
  }
  return counts;
}
