import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { HeldPartitions } from "./assignments.ts";
import { landmarkOf, type MessageInBatch } from "./landmarks.ts";
import { MessageBatch } from "./message-batch.ts";

const load = createRequire(import.meta.url);
const Decoder = load("kafkajs/src/protocol/decoder") as new (bytes: Buffer) => object;
const decodeMessages = load("kafkajs/src/protocol/messageSet/decoder") as (decoder: object, size: number) => Promise<MessageInBatch[]>;

/** A message in format 0: an offset, a size, and after the checksum no time. https://kafka.apache.org/documentation/#messageset */
function oldestMessage(offset: bigint, value: string): Buffer {
  const message = Buffer.alloc(12 + 14 + value.length);
  message.writeBigInt64BE(offset, 0);
  message.writeInt32BE(message.length - 12, 8);
  message.writeInt32BE(-1, 18); // no key
  message.writeInt32BE(value.length, 22);
  message.write(value, 26);
  return message;
}

test("a message of Kafka's oldest format has no time, and -1 stands for it", async () => {
  const bytes = oldestMessage(7n, "v");
  const messages = await decodeMessages(new Decoder(bytes), bytes.length);
  expect(messages).toMatchObject([{ offset: "7", value: Buffer.from("v") }]);
  const [assignment] = new HeldPartitions().renew({ t: [0] });
  const fetched = { topic: "t", partition: 0, highWatermark: "8", messages, lastOffset: () => "7" };
  const batch = new MessageBatch(fetched as never, assignment as never); // kafkajs' types leave out that there may be no time
  expect(batch.timestampAt(0)).toBe(-1n);
  expect(messages.map(landmarkOf)).toEqual([{ offset: 7n, timestamp: "-1", leaderEpoch: -1 }]);
});
