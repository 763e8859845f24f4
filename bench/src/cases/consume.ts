import { randomUUID } from "node:crypto";
import { createConsumer } from "@cdckit/consumer";
import { kafkajs } from "@cdckit/kafkajs";
import { SchemaRegistry, SchemaType } from "@kafkajs/confluent-schema-registry";
import { type EachBatchPayload, Kafka, logLevel } from "kafkajs";
import { bigintLongs } from "../avsc-peer.ts";
import { readRow, type SalesOrderDetail } from "../corpus.ts";

export interface ConsumeTarget {
  readonly brokers: readonly string[];
  readonly registryUrl: string;
  readonly topic: string;
  readonly messages: number;
}

/** One pass over a topic from its beginning, in a group of its own. Resolves with the seconds from the first batch to the last message. */
export type ConsumeOnce = (target: ConsumeTarget) => Promise<number>;

/** Measures from the first message to the last: joining a group takes as long whoever joins. */
class Stopwatch {
  readonly finished: Promise<number>;
  readonly #messages: number;
  #startedNs: bigint | null = null;
  #seen = 0;
  #finish: (seconds: number) => void = () => {};

  constructor(messages: number) {
    this.#messages = messages;
    this.finished = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  start(): void {
    this.#startedNs ??= process.hrtime.bigint();
  }

  count(): void {
    if (++this.#seen === this.#messages && this.#startedNs !== null) {
      this.#finish(Number(process.hrtime.bigint() - this.#startedNs) / 1e9);
    }
  }
}

let consumed = 0;

/** What was read; kept, so that reading cannot be left out. */
export function consumedByConsumers(): number {
  return consumed;
}

export const ours: ConsumeOnce = async ({ brokers, registryUrl, topic, messages }) => {
  const watch = new Stopwatch(messages);
  const consumer = createConsumer({
    driver: kafkajs({ brokers: [...brokers] }),
    groupId: `bench-${randomUUID()}`,
    topics: [topic],
    from: "earliest",
    registry: { url: registryUrl },
    signals: false,
  });
  consumer.on("*", (event) => {
    watch.start();
    if (event.kind === "change") {
      consumed += event.op.length + event.table.name.length + readRow(event.before as never) + readRow(event.after as never);
    }
    watch.count();
  });
  const running = consumer.run();
  const seconds = await Promise.race([watch.finished, running.then(() => Number.NaN)]);
  await consumer.stop();
  await running;
  return seconds;
};

/** What people write today around JSON. */
export const handWrittenJson: ConsumeOnce = (target) =>
  eachBatch(target, (watch) => ({ batch }) => {
    watch.start();
    for (const { key, value } of batch.messages) {
      readMessage(key === null ? null : parsed(key), value === null ? null : parsed(value));
      watch.count();
    }
    return Promise.resolve();
  });

/** What people write today around Avro, with the long type without which it throws on Debezium's messages. */
export const handWrittenAvro: ConsumeOnce = (target) => {
  const registry = new SchemaRegistry({ host: target.registryUrl }, { [SchemaType.AVRO]: { typeHook: bigintLongs } });
  return eachBatch(target, (watch) => async ({ batch }) => {
    watch.start();
    for (const { key, value } of batch.messages) {
      readMessage(key === null ? null : await registry.decode(key), value === null ? null : await registry.decode(value));
      watch.count();
    }
  });
};

async function eachBatch(
  { brokers, topic, messages }: ConsumeTarget,
  handlerFor: (watch: Stopwatch) => (payload: EachBatchPayload) => Promise<void>,
): Promise<number> {
  const watch = new Stopwatch(messages);
  const kafka = new Kafka({ brokers: [...brokers], logLevel: logLevel.ERROR });
  const consumer = kafka.consumer({ groupId: `bench-${randomUUID()}` });
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  await consumer.run({ eachBatch: handlerFor(watch) });
  const seconds = await watch.finished;
  await consumer.disconnect();
  return seconds;
}

function parsed(bytes: Buffer): unknown {
  const value = JSON.parse(bytes.toString()) as { readonly payload?: unknown };
  return value.payload ?? value;
}

function readMessage(key: unknown, value: unknown): void {
  if (typeof value === "object" && value !== null) {
    const { op, source, before, after } = value as ReadEnvelope;
    consumed += op.length + source.table.length + readRow(before) + readRow(after) + (key === null ? 0 : 1);
  }
}

interface ReadEnvelope {
  readonly op: string;
  readonly source: { readonly table: string };
  readonly before: SalesOrderDetail | null;
  readonly after: SalesOrderDetail | null;
}
