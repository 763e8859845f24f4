import { CompressionTypes, type Message, Partitioners, type Producer } from "kafkajs";
import { performance } from "node:perf_hooks";
import {
  type ChangeEncoder,
  type ChangeFormat,
  type ChangeSource,
  type ChangeStream,
  createChangeStream,
  defaultOpMix,
  type EnvelopeOp,
} from "../../load/change-events/index.ts";
import { explainRefusedWrite } from "../../load/explain-refusal.ts";
import type { Observer } from "../../observe/observer.ts";
import type { ClusterAccess } from "./cluster-access.ts";
import type { ExpectedContent } from "./target.ts";
import { type GivenSchemas, givenSchemas } from "./given-schemas.ts";

/** Records of one send: large enough that requests do not matter, small enough that writers take turns. */
const recordsPerSend = 500;

export interface BacklogOptions {
  readonly cluster: Pick<ClusterAccess, "kafka" | "connection">;
  readonly topic: string;
  readonly format: ChangeFormat;
  /** All records that will be written, those before the checkpoint included. */
  readonly records: number;
  /** Each has a connection of its own. Rows of one key are written by one of them. */
  readonly writers: number;
  readonly compression: "none" | "gzip";
  readonly seed: number;
  readonly interrupt: AbortSignal;
  readonly observer: Observer;
}

export interface WriteMeasure {
  readonly records: number;
  /** Keys and values, not compressed. Null if somebody else made them. */
  readonly bytes: number | null;
  readonly elapsedMs: number;
  readonly perSecond: number;
  /** Rows that were inserted a second, if a connector brought them to Kafka. */
  readonly insertedPerSecond?: number;
}

/** Change events of the published table, as Debezium and a converter write them, straight to Kafka. */
export interface Backlog {
  readonly schemas: GivenSchemas["source"];
  /** Writes so many more. Ends early if it is interrupted. */
  write(records: number, phase: string): Promise<WriteMeasure>;
  /** What a copy holds after everything that was written. */
  readonly expected: ExpectedContent;
  close(): Promise<void>;
}

/** The table that the events seem to come from. */
export const backlogSource: ChangeSource = { prefix: "bench", database: "shop", schema: "sales", table: "salesorderdetail" };

export async function openBacklog(options: BacklogOptions): Promise<Backlog> {
  const schemas = givenSchemas(options.format, backlogSource);
  const producers = Array.from({ length: options.writers }, () =>
    options.cluster.kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner, allowAutoTopicCreation: false }),
  );
  await Promise.all(producers.map((producer) => producer.connect()));
  return new KafkaBacklog(options, schemas, producers);
}

class Writer {
  readonly producer: Producer;
  buffer: Message[] = [];
  sending: Promise<unknown> = Promise.resolve();

  constructor(producer: Producer) {
    this.producer = producer;
  }
}

class KafkaBacklog implements Backlog {
  readonly schemas: GivenSchemas["source"];
  readonly #options: BacklogOptions;
  readonly #stream: ChangeStream;
  readonly #encoder: ChangeEncoder;
  readonly #writers: readonly Writer[];
  #rows = 0;
  #records = 0;

  constructor(options: BacklogOptions, schemas: GivenSchemas, producers: readonly Producer[]) {
    const { seed, records } = options;
    this.#options = options;
    this.schemas = schemas.source;
    this.#stream = createChangeStream({ seed, mix: defaultOpMix, records, source: backlogSource });
    this.#encoder = options.format.createEncoder(backlogSource, schemas.ids);
    this.#writers = producers.map((producer) => new Writer(producer));
  }

  get expected(): ExpectedContent {
    return { rows: this.#rows, records: this.#records };
  }

  async write(records: number, phase: string): Promise<WriteMeasure> {
    const { interrupt, observer } = this.#options;
    const startedAtMs = performance.now();
    let written = 0;
    let bytes = 0;
    while (written < records && !interrupt.aborted) {
      const { key, value, writer } = this.#next();
      writer.buffer.push({ key, value });
      written++;
      bytes += key.length + (value?.length ?? 0);
      if (writer.buffer.length >= recordsPerSend) {
        await this.#send(writer);
        const elapsedMs = performance.now() - startedAtMs;
        observer.observe(() => ({ phase, done: written, total: records, perSecond: (written / elapsedMs) * 1e3 }));
      }
    }
    await Promise.all(this.#writers.map((writer) => this.#send(writer)));
    await Promise.all(this.#writers.map(({ sending }) => sending));
    const elapsedMs = performance.now() - startedAtMs;
    return { records: written, bytes, elapsedMs, perSecond: (written / elapsedMs) * 1e3 };
  }

  async close(): Promise<void> {
    await Promise.all(this.#writers.map(({ producer }) => producer.disconnect().catch(() => {}))); // what was sent is acknowledged
  }

  /** Rows of one key go through one writer, so that their order is kept. */
  #next(): { readonly key: Buffer; readonly value: Buffer | null; readonly writer: Writer } {
    const { id, envelope } = this.#stream.next(Date.now() * 1e3);
    this.#records++;
    this.#rows += envelope === null ? 0 : rowsOf[envelope.op];
    const writer = this.#writers[id % this.#writers.length] as Writer; // there is one
    return { key: this.#encoder.key({ id }), value: envelope === null ? null : this.#encoder.value(envelope), writer };
  }

  /** Waits for the writer's last send, and starts the next: a writer has one on its way. */
  async #send(writer: Writer): Promise<void> {
    await writer.sending;
    const messages = writer.buffer;
    if (messages.length === 0) {
      return;
    }
    writer.buffer = [];
    const { cluster, topic, compression } = this.#options;
    const codec = compression === "gzip" ? CompressionTypes.GZIP : CompressionTypes.None;
    writer.sending = writer.producer.send({ topic, messages, acks: -1, compression: codec }).catch(async (error: unknown) => {
      throw await explainRefusedWrite(cluster.connection, error, [topic]);
    });
    // Whoever awaits it next gets the error; without a listener it would end the process before that.
    writer.sending.catch(() => {});
  }
}

const rowsOf: Readonly<Record<EnvelopeOp, number>> = { c: 1, r: 1, u: 0, d: -1 };
