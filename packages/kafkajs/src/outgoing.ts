import type { OutgoingRecord } from "@cdckit/consumer";
import type { IHeaders, Message, RecordMetadata, TopicMessages } from "kafkajs";
import { KafkaJsDriverError } from "./errors.ts";

/** Records as kafkajs takes them. */
export function toTopicMessages(records: readonly OutgoingRecord[]): TopicMessages[] {
  const topics = new Map<string, Message[]>();
  for (const record of records) {
    const messages = topics.get(record.topic) ?? [];
    messages.push(toMessage(record));
    topics.set(record.topic, messages);
  }
  return [...topics].map(([topic, messages]) => ({ topic, messages }));
}

/** Refuses an answer that leaves a partition out: kafkajs throws records of partitions that it does not know away, without a word. */
export function checkWritten(records: readonly OutgoingRecord[], written: readonly RecordMetadata[]): void {
  const places = new Set(written.map(({ topicName, partition }) => `${topicName}[${partition}]`));
  const missing = records.find(({ topic, partition }) => partition !== undefined && !places.has(`${topic}[${partition}]`));
  if (missing !== undefined) {
    throw new KafkaJsDriverError("send-failed", `there is no partition ${missing.topic}[${missing.partition}], as far as kafkajs knows`);
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
 * kafkajs takes an object: names keep the order in which they first come, save names that look like numbers; the values of a repeated name
 * come together. It cannot write a header without a value: that becomes an empty one.
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

function bufferOf(bytes: Uint8Array | null): Buffer | null {
  return bytes === null || Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
