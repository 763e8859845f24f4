/** Streams over a consumer on a real broker: what is committed is what was done, however the stream ends. */
import { once } from "node:events";
import { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { ReadableStream, WritableStream } from "node:stream/web";
import { type Consumer, createConsumer, type Delivery } from "@cdckit/consumer";
import { kafkajs } from "@cdckit/kafkajs";
import { type Admin, Kafka, logLevel, type Producer } from "kafkajs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTopics, describeWithKafka, uniqueName } from "./stack.ts";

const count = 300;

await describeWithKafka("on a real broker", (kafka) => {
  const client = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING });
  let admin: Admin;
  let producer: Producer;

  beforeAll(async () => {
    admin = client.admin();
    producer = client.producer();
    await Promise.all([admin.connect(), producer.connect()]);
  });

  afterAll(() => Promise.all([admin.disconnect(), producer.disconnect()]));

  async function topicWith(values: readonly string[]): Promise<string> {
    const topic = uniqueName("streams");
    await createTopics(admin, [{ topic, numPartitions: 1 }]);
    await producer.send({ topic, messages: values.map((value) => ({ value })) });
    return topic;
  }

  function consumerOf(topic: string, groupId: string): Consumer {
    const driver = kafkajs({ brokers: [kafka.brokers], heartbeatIntervalMs: 200, maxWaitMs: 100 });
    return createConsumer({ driver, groupId, topics: [topic] });
  }

  async function committed(groupId: string, topic: string): Promise<string | undefined> {
    const [offsets] = await admin.fetchOffsets({ groupId, topics: [topic] });
    return offsets?.partitions[0]?.offset;
  }

  async function membersOf(groupId: string): Promise<number | undefined> {
    return (await admin.describeGroups([groupId])).groups[0]?.members.length;
  }

  const idOf = ({ event }: Delivery): unknown => (event.kind === "row" ? event.row["id"] : null);
  const rows = Array.from({ length: count }, (_, id) => JSON.stringify({ id }));

  /** Pipes until it fails at the record with this id, or has written the last one. */
  const pipes = {
    "a stream of Node": (consumer: Consumer, write: (delivery: Delivery) => Promise<void>): Promise<void> =>
      pipeline(
        Readable.from(consumer.stream()),
        new Writable({
          objectMode: true,
          highWaterMark: 1,
          write: (delivery: Delivery, _encoding, next) => void write(delivery).then(() => next(), next),
        }),
      ),
    "a stream of the web": (consumer: Consumer, write: (delivery: Delivery) => Promise<void>): Promise<void> =>
      ReadableStream.from(consumer.stream()).pipeTo(new WritableStream({ write })),
  };

  test.each(Object.entries(pipes))("%s whose writer fails goes on in the next consumer at what was not done", async (_name, pipe) => {
    const topic = await topicWith(rows);
    const groupId = uniqueName("group");
    const written: unknown[] = [];
    const failure = new Error("the disk is full");
    const first = consumerOf(topic, groupId);
    const failing = pipe(first, async (delivery) => {
      if (idOf(delivery) === 120) {
        throw failure;
      }
      written.push(idOf(delivery));
      delivery.done();
    });
    await expect(failing).rejects.toBe(failure);
    await first.stop();
    expect(await committed(groupId, topic)).toBe("120");

    const second = consumerOf(topic, groupId);
    await pipe(second, async (delivery) => {
      written.push(idOf(delivery));
      delivery.done();
      if (idOf(delivery) === count - 1) {
        void second.stop();
      }
    });
    expect(written).toEqual(Array.from({ length: count }, (_, id) => id));
    expect(await committed(groupId, topic)).toBe(String(count));
    expect(await membersOf(groupId)).toBe(0);
  });

  test("a stream that is destroyed while no event comes takes its member out of the group, with all that was done committed", async () => {
    const topic = await topicWith(rows.slice(0, 3));
    const groupId = uniqueName("group");
    const readable = Readable.from(consumerOf(topic, groupId).stream());
    let seen = 0;
    await new Promise<void>((resolve) => {
      readable.on("data", ({ done }: Delivery) => {
        done();
        if (++seen === 3) {
          resolve();
        }
      });
    });
    expect(await membersOf(groupId)).toBe(1);
    readable.destroy();
    await once(readable, "close");
    expect(await membersOf(groupId)).toBe(0);
    expect(await committed(groupId, topic)).toBe("3");
  });

  test("a stream fails with the record that cannot be decoded, and the group stays before it", async () => {
    const topic = await topicWith([...rows.slice(0, 2), "\u0000\u0000\u0000\u0000\u0007broken"]); // framed, and there is no registry
    const groupId = uniqueName("group");
    const reading = pipes["a stream of Node"](consumerOf(topic, groupId), async ({ done }) => done());
    await expect(reading).rejects.toMatchObject({ code: "schema-source-missing", at: { offset: 2n } });
    expect(await committed(groupId, topic)).toBe("2");
  });

  test("a signal ends a stream and a run behind what was handled", async () => {
    const topic = await topicWith(rows);
    const groupId = uniqueName("group");
    const abort = new AbortController();
    const handled: unknown[] = [];
    for await (const delivery of consumerOf(topic, groupId).stream({ signal: abort.signal })) {
      handled.push(idOf(delivery));
      delivery.done();
      if (idOf(delivery) === 40) {
        abort.abort();
      }
    }
    const between = await committed(groupId, topic);
    expect(between).toBe(String(handled.length));

    const stop = new AbortController();
    const consumer = consumerOf(topic, groupId);
    consumer.on("*", (event) => {
      handled.push(event.kind === "row" ? event.row["id"] : null);
      if (handled.length === count) {
        stop.abort();
      }
    });
    await consumer.run({ signal: stop.signal });
    expect(handled).toEqual(Array.from({ length: count }, (_, id) => id));
    expect(await committed(groupId, topic)).toBe(String(count));
  });
});
