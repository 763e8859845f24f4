import type { OutgoingRecord } from "@cdckit/consumer";
import { maxBatchBytes, outgoingBytes, placeOf } from "@cdckit/driver";
import type { Message, Producer, TopicMessages } from "kafkajs";
import { KafkaJsDriverError } from "./errors.ts";
import { toMessage } from "./outgoing.ts";
import type { Partitions } from "./partitions.ts";

/** Records of one partition, in order. */
interface Batch {
  readonly topic: string;
  readonly messages: Message[];
  bytes: number;
}

/** A producer of kafkajs, or a transaction of it, and the partitions that it knows. */
interface Target {
  readonly sender: Pick<Producer, "sendBatch">;
  readonly partitions: Partitions;
}

/**
 * Writes records through a producer of kafkajs, or in a transaction of it. Resolves when every in-sync replica has each of them. When it rejects, none
 * of them is being written any more.
 *
 * kafkajs is given the records of one topic and leader at a time, never more of them than fit a batch. It would make one batch of each partition.
 * It would also ask several leaders beside each other, and after a failure begin again with who leads by then: if a partition has moved to a broker
 * that has answered, its records are left out, without an error; if it has moved away from one, or another one was faster to fail, they are written
 * twice. Of a single leader, an attempt that failed has no answer, and what is sent again has the sequence numbers of before. kafkajs looks for the
 * leader anew for each topic: of several, and if a connection was replaced meanwhile, it would send all of them to the same broker twice.
 */
export async function writeRecords(
  sender: Pick<Producer, "sendBatch">,
  partitions: Partitions,
  records: readonly OutgoingRecord[],
): Promise<void> {
  const target = { sender, partitions };
  const places = new Map<string, Batch[]>();
  for (const record of records) {
    const { topic } = record;
    const bytes = outgoingBytes(record);
    const message = partitions.place(topic, toMessage(record));
    if (message.partition === undefined) {
      await writeAll(target, places); // those before it may have named the partition that it gets
      places.clear();
      partitions.place(topic, message);
    }
    if (message.partition === undefined) {
      await write(target, [{ topic, messages: [message], bytes }]); // the first one of its topic: kafkajs learns of the partitions with it
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
  await writeAll(target, places);
}

/** The leaders and topics beside each other, and the batches of each partition in order. */
async function writeAll(target: Target, places: ReadonlyMap<string, Batch[]>): Promise<void> {
  const byLeader = new Map<string, Batch[][]>();
  for (const [place, batches] of places) {
    const [{ topic, messages } = { topic: "", messages: [] }] = batches;
    const leader = target.partitions.leaderOf(topic, messages[0]?.partition);
    const key = leader === undefined ? place : `${leader} of ${topic}`;
    const led = byLeader.get(key) ?? [];
    led.push(batches);
    byLeader.set(key, led);
  }
  await allEnded([...byLeader.values()].map((led) => writeToLeader(target, led)));
}

/** Takes the batches out of the lists, which are those of one partition each. */
async function writeToLeader(target: Target, led: readonly Batch[][]): Promise<void> {
  for (let request = nextRequest(led); request.length > 0; request = nextRequest(led)) {
    if (!(await write(target, request))) {
      // Again and alone, before anything else of their partitions: what an attempt has written is a repetition then, which brokers drop.
      await allEnded(request.map((batch) => write(target, [batch])));
    }
  }
}

/** One batch of each partition, as many as have room together: a broker that is slow must be able to take them before its answer is overdue. */
function nextRequest(led: readonly Batch[][]): readonly Batch[] {
  const request: Batch[] = [];
  let sum = 0;
  for (const batches of led) {
    const [next] = batches;
    if (next !== undefined && (request.length === 0 || sum + next.bytes <= maxBatchBytes)) {
      sum += next.bytes;
      request.push(next);
      batches.shift();
    }
  }
  return request;
}

/** When all have ended, throws what the first of those has thrown that have failed. */
async function allEnded(writes: readonly Promise<unknown>[]): Promise<void> {
  const ended = await Promise.allSettled(writes);
  const failed = ended.find(({ status }) => status === "rejected");
  if (failed?.status === "rejected") {
    throw failed.reason as Error;
  }
}

/** Writes batches of several partitions at once. Returns false if they have several leaders by now: then it is not known what was written. */
async function write({ sender, partitions }: Target, batches: readonly Batch[]): Promise<boolean> {
  const oneLeader = partitions.ofOneLeader(batches.flatMap(({ messages }) => messages));
  try {
    const written = await sender.sendBatch({
      acks: -1,
      topicMessages: batches.map(({ topic, messages }): TopicMessages => ({ topic, messages })),
    });
    for (const {
      topic,
      messages: [{ partition } = {}],
    } of batches) {
      // kafkajs leaves out the records of partitions that it does not know, without an error.
      if (!written.some((one) => one.topicName === topic && one.partition === partition)) {
        throw new KafkaJsDriverError("send-failed", `kafkajs knows no partition ${topic}[${partition}]: does the partition exist`);
      }
    }
    return true;
  } catch (error) {
    if (oneLeader.isSplit) {
      return false;
    }
    throw error;
  }
}
