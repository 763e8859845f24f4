import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { fetchedFrom, tapDecoders } from "./decoder-tap.ts";
import { askedIn } from "./fetch-request.ts";
import { KeptFetches, type StandInMessage } from "./kept-fetches.ts";

/** kafkajs' own protocol writes the requests, and decodes the responses. */
interface Encoder {
  readonly buffer: Buffer;
  writeInt16(value: number): Encoder;
  writeInt32(value: number): Encoder;
  writeInt64(value: bigint | number): Encoder;
  writeString(value: string): Encoder;
  writeBuffer(value: Buffer): Encoder;
}
interface Decoded {
  readonly responses: readonly {
    readonly partitions: readonly { readonly messages: readonly (StandInMessage & { offset: string })[] }[];
  }[];
}
interface Exchange {
  readonly request: { readonly apiKey: number; readonly apiVersion: number; encode(): Promise<{ readonly buffer: Buffer }> };
  readonly response: { decode(payload: Buffer): Promise<unknown> };
}
const load = createRequire(import.meta.url);
const { protocol: fetchOf } = load("kafkajs/src/protocol/requests/fetch") as {
  readonly protocol: (options: { readonly version: number }) => (request: object) => Exchange;
};
const KafkaJsEncoder = load("kafkajs/src/protocol/encoder") as new () => Encoder;
const { RecordBatch } = load("kafkajs/src/protocol/recordBatch/v0") as { readonly RecordBatch: (parts: object) => Promise<Encoder> };
const toRecord = load("kafkajs/src/protocol/recordBatch/record/v0") as (parts: object) => Encoder;

const version = 11;
const asksForBytes = 1_000;
const { buffer: records } = await RecordBatch({ firstOffset: 7, records: [toRecord({ value: Buffer.from("v") })] });
/** https://kafka.apache.org/protocol#The_Messages_Fetch */
const { buffer: payload } = new KafkaJsEncoder()
  .writeInt32(0) // throttle time
  .writeInt16(0)
  .writeInt32(0) // session
  .writeInt32(1)
  .writeString("t")
  .writeInt32(1)
  .writeInt32(0) // partition
  .writeInt16(0)
  .writeInt64(8) // high watermark
  .writeInt64(8)
  .writeInt64(0)
  .writeInt32(0) // aborted transactions
  .writeInt32(-1)
  .writeInt32(records.length)
  .writeBuffer(records);

/** A broker client as kafkajs', which has one record at offset 7. */
class AnsweringBroker {
  readonly brokerAddress = "b:9092";
  readonly sent: Exchange[] = [];
  readonly asked: number[] = [];
  readonly connectionPool = {
    send: async (exchange: Exchange): Promise<unknown> => {
      this.sent.push(exchange);
      const { buffer } = await exchange.request.encode();
      if (exchange.request.apiKey === 1) {
        this.asked.push(askedIn(buffer, version).offsets.get("t")?.get(0)?.maxBytes ?? 0);
      }
      return exchange.response.decode(payload);
    },
  };

  fetch(request: object): Promise<unknown> {
    return this.connectionPool.send(fetchOf({ version })(request));
  }
}

const request = {
  maxWaitTime: 1,
  minBytes: 1,
  maxBytes: asksForBytes,
  rackId: "",
  topics: [{ topic: "t", partitions: [{ partition: 0, fetchOffset: "7", maxBytes: asksForBytes }] }],
};

function messagesIn(answer: unknown): readonly (StandInMessage & { offset: string })[] {
  return (answer as Decoded).responses.flatMap(({ partitions }) => partitions.flatMap(({ messages }) => messages));
}

test("kafkajs decodes a response without its records, which are kept, and a request may ask for more bytes than kafkajs does", async () => {
  const kept = new KeptFetches(1_000_000);
  const broker = new AnsweringBroker();
  const cluster = { findBroker: async () => broker };
  tapDecoders(cluster, kept);
  for (const expected of [asksForBytes, 8_000 * records.length]) {
    await cluster.findBroker(); // again and again
    const [message, ...others] = messagesIn(await broker.fetch(request));
    expect([message?.offset, others]).toEqual(["7", []]);
    expect(kept.take(message as StandInMessage)?.bytes.equals(records)).toBe(true);
    expect(broker.asked.at(-1)).toBe(expected);
  }
});

test("other requests go through as they are", async () => {
  const broker = new AnsweringBroker();
  const cluster = { findBroker: async () => broker };
  tapDecoders(cluster, new KeptFetches());
  const { connectionPool } = await cluster.findBroker();
  const metadata: Exchange = {
    request: { apiKey: 3, apiVersion: 1, encode: async () => new KafkaJsEncoder() },
    response: { decode: async (bytes) => bytes },
  };
  expect(await connectionPool.send(metadata)).toBe(payload);
  expect(broker.sent).toEqual([metadata]);
});

test("a single fetch gives its bytes, and leaves the broker client to others as it is", async () => {
  const broker = new AnsweringBroker();
  const [fetched, answer] = await Promise.all([fetchedFrom(broker, request), broker.fetch(request)]);
  expect(fetched).toMatchObject([{ topic: "t", partition: 0, fromOffset: 7n, nextOffset: 8n, bytes: records }]);
  expect(messagesIn(answer).map(({ value }) => String(value))).toEqual(["v"]);
});
