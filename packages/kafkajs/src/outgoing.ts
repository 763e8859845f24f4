import type { OutgoingRecord } from "@cdckit/consumer";
import type { IHeaders, Message, TopicMessages } from "kafkajs";

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
