import { randomUUID } from "node:crypto";
import { bigintLongs } from "../avsc-peer.ts";
import { Pass, type PassOptions, type PassResult, parsedJson, readChange } from "./pass.ts";

/** What is used of @confluentinc/kafka-javascript, which is not installed by `npm ci`. */
interface ConfluentClient {
  readonly KafkaJS: {
    readonly Kafka: new (options: object) => { consumer(options: object): ConfluentConsumer };
    readonly logLevel: { readonly ERROR: number };
  };
}

interface ConfluentConsumer {
  connect(): Promise<void>;
  subscribe(options: { readonly topics: readonly string[] }): Promise<void>;
  run(options: { readonly eachBatch: (payload: { readonly batch: ConfluentBatch }) => Promise<void> }): Promise<void>;
  disconnect(): Promise<void>;
}

interface ConfluentBatch {
  readonly messages: readonly { readonly key: Buffer | null; readonly value: Buffer | null }[];
}

interface SchemaRegistryPackage {
  readonly SchemaRegistryClient: new (options: object) => object;
  readonly SerdeType: { readonly KEY: unknown; readonly VALUE: unknown };
  readonly AvroDeserializer: new (client: object, type: unknown, options: object) => ConfluentDeserializer;
}

interface ConfluentDeserializer {
  deserialize(topic: string, bytes: Buffer): Promise<unknown>;
}

// In variables: both are installed by scripts/bench-peers.mjs alone, and the compiler must not look for them.
const clientName = "@confluentinc/kafka-javascript";
const registryName = "@confluentinc/schemaregistry";

/** `eachBatch` of its promised API, with batches as large as librdkafka has them ready: 32 messages, its default, is slower. */
export async function consumeWithConfluent(options: PassOptions): Promise<PassResult> {
  const { default: client } = (await import(clientName)) as { readonly default: ConfluentClient };
  const readMessages = options.format === "confluent-avro" ? await avroReader(options) : readJson;
  const pass = new Pass(options);
  const kafka = new client.KafkaJS.Kafka({ kafkaJS: { brokers: [options.brokers], logLevel: client.KafkaJS.logLevel.ERROR } });
  const consumer = kafka.consumer({
    kafkaJS: { groupId: `bench-${randomUUID()}`, fromBeginning: true },
    "js.consumer.max.batch.size": -1,
  });
  await consumer.connect();
  await consumer.subscribe({ topics: [options.topic] });
  await consumer.run({
    eachBatch: ({ batch }) => {
      pass.start();
      return readMessages(batch, pass);
    },
  });
  const result = await pass.finished;
  await consumer.disconnect();
  return result;
}

function readJson({ messages }: ConfluentBatch, pass: Pass): Promise<void> {
  for (const { key, value } of messages) {
    pass.count(readChange(parsedJson(key), parsedJson(value)));
  }
  return Promise.resolve();
}

/** With the long type without which it throws on Debezium's messages: ts_ns is above 2^53. */
async function avroReader({ registryUrl, topic }: PassOptions): Promise<(batch: ConfluentBatch, pass: Pass) => Promise<void>> {
  const loaded = (await import(registryName)) as SchemaRegistryPackage & { readonly default?: SchemaRegistryPackage };
  const { SchemaRegistryClient, AvroDeserializer, SerdeType } = loaded.default ?? loaded;
  const client = new SchemaRegistryClient({ baseURLs: [registryUrl] });
  const keys = new AvroDeserializer(client, SerdeType.KEY, { typeHook: bigintLongs });
  const values = new AvroDeserializer(client, SerdeType.VALUE, { typeHook: bigintLongs });
  return async ({ messages }, pass) => {
    for (const { key, value } of messages) {
      // The topics have no tombstones.
      pass.count(readChange(await keys.deserialize(topic, key as Buffer), await values.deserialize(topic, value as Buffer)));
    }
  };
}
