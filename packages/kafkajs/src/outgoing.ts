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
 * kafkajs takes headers as an object. Names keep their order, except names that look like numbers. It cannot write a header without a value, and writes
 * an empty one.
 */
function toHeaders(headers: OutgoingRecord["headers"]): IHeaders {
  const pairs = headers.map(([key, value]) => ({ key, value: bufferOf(value) ?? Buffer.alloc(0) }));
  const byName = new Map(pairs.map(({ key, value }) => [key, value]));
  return byName.size === pairs.length ? Object.fromEntries(byName) : inOrder(pairs);
}

/**
 * kafkajs would write the values of a repeated name together, and of a dead letter that failed itself the headers of its failures could not be told
 * apart. It asks the values of a name for the pairs to write, by `map`: these ones answer with all pairs.
 */
function inOrder(pairs: readonly { readonly key: string; readonly value: Buffer }[]): IHeaders {
  return { all: Object.assign([], { map: () => pairs }) };
}
