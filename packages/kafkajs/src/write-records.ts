import type { OutgoingRecord } from "@cdckit/consumer";
import { maxBatchBytes, outgoingBytes, placeOf } from "@cdckit/driver";
import type { Message, Producer } from "kafkajs";
import { KafkaJsDriverError } from "./errors.ts";
import { toMessage } from "./outgoing.ts";
import type { Partitions } from "./partitions.ts";

/** Records of one partition, in order. */
interface Batch {
  readonly topic: string;
  readonly messages: Message[];
  bytes: number;
}

/**
 * Writes records through a producer of kafkajs, or in a transaction of it. Resolves when every in-sync replica has each of them. When it rejects, none
 * of them is being written any more.
 *
 * kafkajs is given the records of one partition at a time, never more of them than fit a batch. It would make one batch of all. It would also ask the
 * leaders of several partitions beside each other, and after a failure begin again with who leads by then: if a leader has moved to a broker that
 * has answered, its records are left out, without an error; if it has moved away from one, or another one was faster to fail, they are written twice.
 */
export async function writeRecords(
  sender: Pick<Producer, "sendBatch">,
  partitions: Partitions,
  records: readonly OutgoingRecord[],
): Promise<void> {
  const places = new Map<string, Batch[]>();
  for (const record of records) {
    const { topic } = record;
    const bytes = outgoingBytes(record);
    const message = partitions.place(topic, toMessage(record));
    if (message.partition === undefined) {
      await writeAll(sender, places); // those before it may have named the partition that it gets
      places.clear();
      partitions.place(topic, message);
    }
    if (message.partition === undefined) {
      await write(sender, { topic, messages: [message], bytes }); // the first one of its topic: kafkajs learns of the partitions with it
      continue;
    }
    const place = placeOf(topic, message.partition);
    const batches = places.get(place) ?? [];
    places.set(place, batches);
    const last = batches.at(-1);
    if (last === undefined || last.bytes + bytes > maxBatchBytes) {
      batches.push({ topic, messages: [message], bytes });
    } else {
      last.messages.push(message);
      last.bytes += bytes;
    }
  }
  await writeAll(sender, places);
}

/** The partitions beside each other, and the batches of each in order. */
async function writeAll(sender: Pick<Producer, "sendBatch">, places: ReadonlyMap<string, readonly Batch[]>): Promise<void> {
  const written = await Promise.allSettled([...places.values()].map((batches) => writeInOrder(sender, batches)));
  const failed = written.find(({ status }) => status === "rejected");
  if (failed?.status === "rejected") {
    throw failed.reason as Error;
  }
}

async function writeInOrder(sender: Pick<Producer, "sendBatch">, batches: readonly Batch[]): Promise<void> {
  for (const batch of batches) {
    await write(sender, batch);
  }
}

/** kafkajs leaves out the records of partitions that it does not know, without an error. */
async function write(sender: Pick<Producer, "sendBatch">, { topic, messages }: Batch): Promise<void> {
  const written = await sender.sendBatch({ acks: -1, topicMessages: [{ topic, messages }] });
  const [{ partition } = {}] = messages;
  if (!written.some((one) => one.topicName === topic && one.partition === partition)) {
    throw new KafkaJsDriverError("send-failed", `kafkajs knows no partition ${topic}[${partition}]: does the partition exist`);
  }
}
