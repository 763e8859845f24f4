import { randomUUID } from "node:crypto";
import { type CompressionName, decompressAsync } from "@cdckit/record-batch";
import { SchemaRegistry, SchemaType } from "@kafkajs/confluent-schema-registry";
import kafkajs, { type Consumer, type EachBatchPayload } from "kafkajs";
import { bigintLongs } from "../avsc-peer.ts";
import { Pass, type PassOptions, type PassResult, parsedJson, readChange } from "./pass.ts";

const { CompressionCodecs, CompressionTypes, Kafka, logLevel } = kafkajs;

/** What people write today: kafkajs `eachBatch`, with its own defaults, and JSON.parse or confluent-schema-registry. */
export async function consumeWithKafkaJs(options: PassOptions): Promise<PassResult> {
  const pass = new Pass(options);
  const consumer = await subscribed(options);
  await consumer.run({ eachBatch: options.format === "confluent-avro" ? avroBatch(options, pass) : jsonBatch(pass) });
  const result = await pass.finished;
  await consumer.disconnect();
  return result;
}

/** A consumer of kafkajs that has not begun to run. */
export async function subscribed({ brokers, topic }: Pick<PassOptions, "brokers" | "topic">): Promise<Consumer> {
  installCodecs();
  const consumer = new Kafka({ brokers: [brokers], logLevel: logLevel.ERROR }).consumer({ groupId: `bench-${randomUUID()}` });
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  return consumer;
}

type BatchHandler = (payload: EachBatchPayload) => Promise<void>;

function jsonBatch(pass: Pass): BatchHandler {
  return ({ batch }) => {
    pass.start();
    for (const { key, value } of batch.messages) {
      pass.count(readChange(parsedJson(key), parsedJson(value)));
    }
    return Promise.resolve();
  };
}

/** With the long type without which it throws on Debezium's messages: ts_ns is above 2^53. */
function avroBatch({ registryUrl }: PassOptions, pass: Pass): BatchHandler {
  const registry = new SchemaRegistry({ host: registryUrl }, { [SchemaType.AVRO]: { typeHook: bigintLongs } });
  return async ({ batch }) => {
    pass.start();
    for (const { key, value } of batch.messages) {
      pass.count(readChange(await registry.decode(key as Buffer), await registry.decode(value as Buffer))); // the topics have no tombstones
    }
  };
}

/** kafkajs brings gzip alone. It gets the decompression that our driver has, so that a side is not slow by its choice of a codec. */
function installCodecs(): void {
  const codecs = CompressionCodecs as Record<number, unknown>;
  const types: readonly (readonly [number, CompressionName])[] = [
    [CompressionTypes.Snappy, "snappy"],
    [CompressionTypes.LZ4, "lz4"],
    [CompressionTypes.ZSTD, "zstd"],
  ];
  for (const [type, name] of types) {
    codecs[type] = () => ({
      compress: () => Promise.reject(new Error("this benchmark reads only")),
      decompress: (bytes: Buffer) => decompressed(name, bytes),
    });
  }
}

async function decompressed(name: CompressionName, bytes: Buffer): Promise<Buffer> {
  const { buffer, byteOffset, length } = await decompressAsync(name, bytes);
  return Buffer.from(buffer, byteOffset, length);
}
