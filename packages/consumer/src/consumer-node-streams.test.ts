/** Streams of Node and of the web over a consumer, made by their own `from`. */
import { once } from "node:events";
import { Readable, Transform, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { ReadableStream, TransformStream, WritableStream } from "node:stream/web";
import { type CdcEvent, DecodeError, type Decoder } from "@cdckit/decode";
import { memory, MemoryBroker } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { type Consumer, createConsumer } from "./consumer.ts";
import type { Delivery } from "./delivery/stream-dispatcher.ts";

/** Every record is an event with its offset, but "broken" does not decode. */
const decoder: Decoder = {
  decode: () => {
    throw new Error("not used");
  },
  decodeAt: ({ batch, record, valueBytes }) => {
    if (Buffer.from(valueBytes ?? []).toString() === "broken") {
      throw new DecodeError("malformed", "not a word");
    }
    return [{ kind: "unknown", record: { offset: batch.offsetAt(record) } } as unknown as CdcEvent]; // what is read of one here
  },
  explain: () => Promise.reject(new Error("not used")),
};

const deadlineMs = 600_000; // far beyond the test's own time: whoever waits for it fails

function consumerOf(values: readonly string[]): { broker: MemoryBroker; consumer: Consumer } {
  const broker = new MemoryBroker({ orders: 1 });
  broker.append("orders", ...values.map((value) => ({ value })));
  const consumer = createConsumer({
    driver: memory({ broker, maxBatchRecords: 4 }),
    groupId: "g",
    topics: ["orders"],
    decoder,
    shutdownTimeoutMs: deadlineMs,
    logger: false,
  });
  return { broker, consumer };
}

const committed = (broker: MemoryBroker): bigint | null => broker.committed("g", "orders", 0);
const isGone = ({ broker, consumer }: { broker: MemoryBroker; consumer: Consumer }): readonly unknown[] => [
  consumer.health().phase,
  broker.group("g").members,
];
const gone = ["stopped", []];

/** Turns of the event loop, in which everything happens that does not wait for somebody. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function writableOf(write: (delivery: Delivery) => unknown): Writable {
  return new Writable({
    objectMode: true,
    highWaterMark: 1,
    write: (delivery: Delivery, _encoding, next) => void (async () => write(delivery))().then(() => next(), next),
  });
}

/** A stream and its writer in the kind of the name: what is written is done when it is written. */
const kinds: Readonly<Record<string, { pipe(consumer: Consumer, write: (delivery: Delivery) => unknown): Promise<void> }>> = {
  "a Readable": {
    pipe: (consumer, write) => pipeline(Readable.from(consumer.stream()), writableOf(write)),
  },
  "a Readable behind a Transform": {
    pipe: (consumer, write) =>
      pipeline(
        Readable.from(consumer.stream()),
        new Transform({ objectMode: true, highWaterMark: 1, transform: (delivery, _encoding, next) => next(null, delivery) }),
        writableOf(write),
      ),
  },
  "a Readable in a function": {
    pipe: (consumer, write) =>
      pipeline(Readable.from(consumer.stream()), async (deliveries: AsyncIterable<Delivery>) => {
        for await (const delivery of deliveries) {
          await write(delivery);
        }
      }),
  },
  "a ReadableStream": {
    pipe: (consumer, write) =>
      ReadableStream.from(consumer.stream()).pipeTo(
        new WritableStream<Delivery>({ write: async (delivery) => void (await write(delivery)) }),
      ),
  },
  "a ReadableStream through a TransformStream": {
    pipe: (consumer, write) =>
      ReadableStream.from(consumer.stream())
        .pipeThrough(new TransformStream<Delivery, Delivery>())
        .pipeTo(new WritableStream({ write: async (delivery) => void (await write(delivery)) })),
  },
};

describe.each(Object.entries(kinds))("%s over a consumer", (_name, { pipe }) => {
  test("takes a handful of events from a consumer while its writer stands still, and all of them after that", async () => {
    const { broker, consumer } = consumerOf(Array.from({ length: 400 }, () => "fine"));
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const offsets: bigint[] = [];
    const piped = pipe(consumer, async ({ event, done }) => {
      await held;
      offsets.push(event.record.offset);
      done();
      if (offsets.length === 400) {
        void consumer.stop();
      }
    });
    await settle();
    expect(consumer.health().counts.events).toBeGreaterThan(0);
    expect(consumer.health().counts.events).toBeLessThanOrEqual(8);
    release();
    await piped;
    expect(offsets).toEqual(Array.from({ length: 400 }, (_, index) => BigInt(index)));
    expect(committed(broker)).toBe(400n);
    expect(isGone({ broker, consumer })).toEqual(gone);
  });

  test("fails with the error that halts the consumer, behind the commit of what was done", async () => {
    const { broker, consumer } = consumerOf(["fine", "fine", "broken", "fine"]);
    await expect(pipe(consumer, ({ done }) => done())).rejects.toMatchObject({ code: "malformed", at: { offset: 2n } });
    expect(committed(broker)).toBe(2n);
    expect(isGone({ broker, consumer })).toEqual(gone);
  });

  test("stops the consumer if its writer fails, and commits nothing that was not done", async () => {
    const { broker, consumer } = consumerOf(Array.from({ length: 20 }, () => "fine"));
    const failure = new Error("the disk is full");
    const piped = pipe(consumer, ({ event, done }) => {
      if (event.record.offset === 5n) {
        throw failure;
      }
      done();
    });
    await expect(piped).rejects.toBe(failure);
    await consumer.stop(); // web streams do not wait for what they cancel
    expect(committed(broker)).toBe(5n);
    expect(isGone({ broker, consumer })).toEqual(gone);
  });
});

describe("a Readable", () => {
  test("that is destroyed while no event comes stops the consumer", async () => {
    const { broker, consumer } = consumerOf(["fine"]);
    const readable = Readable.from(consumer.stream());
    const [first] = (await once(readable, "data")) as [Delivery];
    first.done();
    await settle();
    readable.destroy();
    await once(readable, "close");
    expect(committed(broker)).toBe(1n);
    expect(isGone({ broker, consumer })).toEqual(gone);
  });

  test("that is destroyed waits for nothing that it has taken and nobody has seen", async () => {
    const { broker, consumer } = consumerOf(["fine", "fine", "fine", "fine"]);
    const readable = Readable.from(consumer.stream(), { highWaterMark: 3 });
    await once(readable, "readable");
    (readable.read() as Delivery).done();
    await settle();
    readable.destroy();
    await once(readable, "close");
    expect(committed(broker)).toBe(1n);
    expect(isGone({ broker, consumer })).toEqual(gone);
  });

  test("in a loop that is left stops the consumer, and what is not done comes again", async () => {
    const { broker, consumer } = consumerOf(["fine", "fine", "fine", "fine"]);
    for await (const { event, done } of Readable.from(consumer.stream()) as AsyncIterable<Delivery>) {
      if (event.record.offset === 2n) {
        break;
      }
      done();
    }
    await consumer.stop();
    expect(committed(broker)).toBe(2n);
    expect(isGone({ broker, consumer })).toEqual(gone);
    expect(consumer.health().reasons.join()).not.toMatch(/abort/i); // Node ends the stream with an AbortError
  });

  test("in a pipeline whose signal is aborted stops the consumer", async () => {
    const { broker, consumer } = consumerOf(["fine", "fine"]);
    const abort = new AbortController();
    const piped = pipeline(
      Readable.from(consumer.stream()),
      writableOf(({ event, done }) => {
        done();
        if (event.record.offset === 1n) {
          setImmediate(() => abort.abort());
        }
      }),
      { signal: abort.signal },
    );
    await expect(piped).rejects.toMatchObject({ name: "AbortError" });
    await consumer.stop();
    expect(committed(broker)).toBe(2n);
    expect(isGone({ broker, consumer })).toEqual(gone);
    expect(consumer.health().reasons.join()).not.toMatch(/abort/i);
  });

  test("that is composed of others ends when the consumer was stopped and everything is done", async () => {
    const { broker, consumer } = consumerOf(["fine", "fine", "fine"]);
    const seen: bigint[] = [];
    const composed = Readable.from(consumer.stream()).compose(async function* (deliveries: AsyncIterable<Delivery>) {
      for await (const { event, done } of deliveries) {
        done();
        yield event.record.offset;
      }
    });
    for await (const offset of composed as AsyncIterable<bigint>) {
      seen.push(offset);
      if (seen.length === 3) {
        void consumer.stop();
      }
    }
    expect(seen).toEqual([0n, 1n, 2n]);
    expect(committed(broker)).toBe(3n);
  });
});

describe("a ReadableStream", () => {
  test("that is cancelled while no event comes stops the consumer", async () => {
    const { broker, consumer } = consumerOf(["fine"]);
    const reader = ReadableStream.from(consumer.stream()).getReader();
    (await reader.read()).value?.done();
    const waiting = reader.read();
    await settle();
    await reader.cancel();
    expect(await waiting).toMatchObject({ done: true });
    expect(committed(broker)).toBe(1n);
    expect(isGone({ broker, consumer })).toEqual(gone);
  });
});

describe("an iteration by hand", () => {
  test("can be left while its next event is awaited, and is over then", async () => {
    const { broker, consumer } = consumerOf([]);
    const stream = consumer.stream();
    const next = stream.next();
    await settle();
    expect(await stream.return()).toMatchObject({ done: true });
    expect(await next).toMatchObject({ done: true });
    expect(await stream.next()).toMatchObject({ done: true });
    expect(isGone({ broker, consumer })).toEqual(gone);
  });

  test("takes an error while its next event is awaited: the consumer halts with it", async () => {
    const { broker, consumer } = consumerOf([]);
    const stream = consumer.stream();
    const next = expect(stream.next()).rejects.toThrow("enough");
    await settle();
    await expect(stream.throw(new Error("enough"))).rejects.toThrow("enough");
    await next;
    expect(consumer.health().reasons.join()).toContain("enough");
    expect(isGone({ broker, consumer })).toEqual(gone);
  });

  test("that is left before it has begun has started nothing", async () => {
    const { consumer } = consumerOf([]);
    await consumer.stream().return();
    expect(consumer.health().phase).toBe("idle");
  });

  test("is left after its failure without failing again", async () => {
    const { consumer } = consumerOf(["broken"]);
    const stream = consumer.stream();
    await expect(stream.next()).rejects.toMatchObject({ code: "malformed" });
    expect(await stream.return()).toMatchObject({ done: true });
  });
});
