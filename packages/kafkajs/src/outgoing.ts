import type { OutgoingRecord } from "@cdckit/consumer";
import { bufferOf } from "@cdckit/driver";
import type { IHeaders, Message } from "kafkajs";

/** A record in kafkajs' form. */
export function toMessage({ key, value, headers, partition, timestamp }: OutgoingRecord): Message {
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
