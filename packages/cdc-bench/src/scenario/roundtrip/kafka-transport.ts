import { silentLogger } from "@cdckit/consumer";
import { CompressionTypes, type Producer } from "kafkajs";
import { BatchHandoff } from "../../load/batch-handoff.ts";
import { type ClusterConnection, createClusterDriver } from "../../load/connection.ts";
import { explainRefusal, explainRefusedWrite } from "../../load/explain-refusal.ts";
import { recordsOf } from "../../load/record-feed.ts";
import { asBuffer, PendingDeliveries, type Transport } from "./transport.ts";
import { createKafkaClient } from "../../load/kafka-client.ts";

export type KafkaCompression = "none" | "gzip";

export interface KafkaPlace {
  readonly connection: ClusterConnection;
  readonly topic: string;
  readonly groupId: string;
}

const closeDeadlineMs = 5_000;

/** A producer that waits for all replicas, and this project's driver as the consumer, on a topic of their own. */
export async function openKafka(place: KafkaPlace, compression: () => KafkaCompression): Promise<Transport> {
  const { connection, topic } = place;
  const kafka = createKafkaClient(connection, 3);
  const producer = kafka.producer({ allowAutoTopicCreation: false });
  const pending = new PendingDeliveries();
  try {
    await producer.connect();
    const consumer = await startConsumer(place, pending);
    return {
      async exchange(payloads, onSent) {
        const numbers = payloads.map(() => pending.number());
        const delivered = Promise.all(numbers.map((number) => pending.wait(number)));
        delivered.catch(() => {}); // if sending fails, that is the error to tell
        await send(producer, topic, numbers, payloads, compression()).catch(async (error: unknown) => {
          throw await explainRefusedWrite(connection, error, [topic]);
        });
        onSent();
        return delivered;
      },
      close: async () => {
        await Promise.all([producer.disconnect(), consumer.close()]);
      },
    };
  } catch (error) {
    await producer.disconnect();
    throw await explainRefusal(connection, error);
  }
}

function send(
  producer: Producer,
  topic: string,
  numbers: readonly string[],
  payloads: readonly Uint8Array[],
  compression: KafkaCompression,
): Promise<unknown> {
  const messages = payloads.map((value, i) => ({ key: numbers[i] ?? null, value: asBuffer(value), partition: 0 }));
  return producer.send({
    topic,
    acks: -1,
    messages,
    ...(compression === "gzip" ? { compression: CompressionTypes.GZIP } : {}),
  });
}

async function startConsumer({ connection, topic, groupId }: KafkaPlace, pending: PendingDeliveries): Promise<{ close(): Promise<void> }> {
  const handoff = new BatchHandoff();
  const subscription = { groupId, topics: [topic], from: "earliest", logger: silentLogger, signal: new AbortController().signal } as const;
  const session = await createClusterDriver(connection).connect(subscription, handoff);
  const reading = (async () => {
    for (let handed = await handoff.next(); handed !== undefined; handed = await handoff.next()) {
      for (const { key, value } of recordsOf(handed.batch)) {
        // The record borrows the batch's bytes, and the batch is given back before the value is read.
        pending.deliver(String(key === null ? "" : Buffer.from(key)), Buffer.from(value ?? []));
      }
      handed.release();
    }
  })();
  reading.catch((error: unknown) => pending.fail(error instanceof Error ? error : new Error(String(error))));
  return {
    async close() {
      handoff.close();
      await session.close(closeDeadlineMs);
      await reading.catch(() => {});
    },
  };
}
