import type { OutgoingRecord } from "@cdckit/consumer";
import type { IHeaders, Message, RecordMetadata, TopicMessages } from "kafkajs";
import { bufferOf } from "@cdckit/driver";
import { KafkaJsDriverError } from "./errors.ts";

/** Records in kafkajs' form. */
export function toTopicMessages(records: readonly OutgoingRecord[]): TopicMessages[] {
  const topics = new Map<string, Message[]>();
  for (const record of records) {
    const messages = topics.get(record.topic) ?? [];
    messages.push(toMessage(record));
    topics.set(record.topic, messages);
  }
  return [...topics].map(([topic, messages]) => ({ topic, messages }));
}

/** Fails if an answer leaves a partition out: kafkajs drops records of partitions that it does not know, without an error. */
export function checkWritten(records: readonly OutgoingRecord[], written: readonly RecordMetadata[]): void {
  const places = new Set(written.map(({ topicName, partition }) => `${topicName}[${partition}]`));
  const missing = records.find(({ topic, partition }) => partition !== undefined && !places.has(`${topic}[${partition}]`));
  if (missing !== undefined) {
    throw new KafkaJsDriverError(
      "send-failed",
      `kafkajs knows no partition ${missing.topic}[${missing.partition}]: does the partition exist`,
    );
  }
}

function toMessage({ key, value, headers, partition, timestamp }: OutgoingRecord): Message {
  return {
    key: bufferOf(key),
    value: bufferOf(value),
    headers: toHeaders(headers),
    timestamp: String(timestamp ?? Date.now()),
    ...(partition === undefined ? {} : { partition }),
  };
}

/**
 * kafkajs takes headers as an object. Names keep the order in which they first appear, except names that look like numbers. The values of a
 * repeated name come together. kafkajs cannot write a header without a value, and writes an empty one.
 */
function toHeaders(headers: OutgoingRecord["headers"]): IHeaders {
  const gathered = new Map<string, Buffer[]>();
  for (const [name, value] of headers) {
    const values = gathered.get(name) ?? [];
    values.push(bufferOf(value) ?? Buffer.alloc(0));
    gathered.set(name, values);
  }
  return Object.fromEntries(gathered);
}
