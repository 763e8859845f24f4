import type { CdcEvent, Decoder } from "@cdckit/decode";
import { memory, MemoryBroker, type VirtualClock, virtualClock } from "@cdckit/testkit";
import { afterEach, describe, expect, test, vi } from "vitest";
import { type Consumer, createConsumer } from "./consumer.ts";
import { ConcurrentPartitionRunner } from "./delivery/concurrent-partition-runner.ts";
import type { Delivery } from "./delivery/stream-dispatcher.ts";
import type { ConsumerOptions } from "./options.ts";

const oneEvent: Decoder = {
  decode: () => {
    throw new Error("not used");
  },
  decodeAt: ({ batch, record }) => {
    const ref = { topic: batch.topic, partition: batch.partition, offset: batch.offsetAt(record) };
    return [{ kind: "row", table: { schema: "s", name: "t" }, record: ref } as unknown as CdcEvent]; // what is read of it
  },
  explain: () => Promise.reject(new Error("not used")),
};

interface SetupOptions extends Partial<ConsumerOptions> {
  readonly partitions: number;
  /** In each partition. Each is a batch of its own. */
  readonly records?: number;
}

interface Setup {
  readonly clock: VirtualClock;
  readonly broker: MemoryBroker;
  readonly consumer: Consumer;
}

function setUp({ partitions, records = 1, ...rest }: SetupOptions): Setup {
  const clock = virtualClock();
  const broker = new MemoryBroker({ t: partitions }, { clock });
  for (let partition = 0; partition < partitions; partition++) {
    broker.append("t", ...Array.from({ length: records }, (_, i) => ({ value: `v${i}`, partition })));
  }
  const driver = memory({ broker, maxBatchRecords: 1, partitionsConsumedConcurrently: partitions });
  const consumer = createConsumer({ driver, groupId: "g", topics: ["t"], decoder: oneEvent, signals: false, clock, ...rest });
  return { clock, broker, consumer };
}

/** Counts how often all partitions that have work are gone through. */
function countWalks(): () => number {
  const values = Object.getOwnPropertyDescriptor(Map.prototype, "values")?.value as Map<unknown, unknown>["values"];
  let walks = 0;
  vi.spyOn(Map.prototype, "values").mockImplementation(function (this: Map<unknown, unknown>) {
    const [first] = values.call(this);
    walks += this.size > 1 && first instanceof ConcurrentPartitionRunner ? 1 : 0;
    return values.call(this);
  });
  return () => walks;
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe("many partitions", () => {
  test.each([
    ["below the limit of bytes", 67_108_864],
    ["at the limit of bytes", 100],
  ])("an event that is handled, and a batch that comes or goes, concerns its own partition alone: %s", async (_, maxInFlightBytes) => {
    const partitions = 200;
    const { clock, consumer } = setUp({ partitions, delivery: { concurrency: 2, maxInFlightBytes } });
    const walks = countWalks();
    let handled = 0;
    consumer.on("*", async () => {
      await new Promise<void>((resolve) => void clock.after(10, resolve));
      if (++handled === partitions) {
        void consumer.stop();
      }
    });
    await clock.run(consumer.run());
    // When the limit is reached, at each look at the work in hand, at the stop.
    expect(walks()).toBeLessThan(partitions / 4);
  });

  test("batches of a partition that is lost leave memory, even if their records wait for the next attempt", async () => {
    const retry = { attempts: 2, initialDelayMs: 600_000, maxDelayMs: 600_000 };
    const delivery = { concurrency: 2, maxInFlightBytes: 1 };
    const { clock, broker, consumer } = setUp({ partitions: 2, delivery, failure: { retry } });
    const handled: number[] = [];
    consumer.on("*", ({ record: { partition } }) => {
      if (clock.nowMs() < 1_500) {
        throw new Error("not yet");
      }
      handled.push(partition);
      if (handled.length === 2) {
        void consumer.stop();
      }
    });
    clock.after(1_000, () => void broker.group("g").expire());
    clock.after(2_000, () => void broker.group("g").expire());
    await clock.run(consumer.run(), { withinMs: 60_000 });
    expect(new Set(handled)).toEqual(new Set([0, 1]));
  });
});

describe("many small batches of a stream", () => {
  test("are handed out, done and given up without a look at all the others for each of them", async () => {
    const records = 2_000;
    const { clock, consumer } = setUp({ partitions: 1, records });
    const filter = vi.spyOn(Array.prototype, "filter");
    const open: Delivery[] = [];
    const reading = (async () => {
      for await (const delivery of consumer.stream()) {
        open.push(delivery);
        if (open.length === 1) {
          await new Promise<void>((resolve) => void clock.after(10_000, resolve)); // all the others are fetched meanwhile
        } else if (open.length === records / 2) {
          void consumer.stop();
        }
      }
    })();
    clock.after(11_000, () => open.forEach(({ done }) => done()));
    await clock.run(reading);
    const looked = filter.mock.contexts.map((array) => (array as readonly unknown[]).length).filter((length) => length > records / 10);
    expect(looked.length).toBeLessThan(5);
    expect(open).toHaveLength(records / 2);
    expect(consumer.health().counts).toMatchObject({ handled: records / 2 });
  });
});

test("the log names a hundred of the partitions that come and go, and says how many there are", async () => {
  const fields: { readonly count?: number; readonly partitions?: readonly string[] }[] = [];
  const ignore = (): void => {};
  const info = (line: object, message: string): void => void (message.startsWith("partitions ") && fields.push(line));
  const { clock, consumer } = setUp({ partitions: 2_000, logger: { debug: ignore, info, warn: ignore, error: ignore } });
  const running = consumer.on("*", ignore).run();
  await clock.advance(5_000);
  const seeking = consumer.seek({ topic: "t", partition: 0, offset: 0 });
  await clock.advance(1_000);
  await seeking;
  expect(fields[0]).toMatchObject({ count: 2_000, partitions: expect.toSatisfy((named: string[]) => named.length === 100) as unknown });
  expect(fields[1]).toMatchObject({ count: 1, partitions: [expect.stringMatching(/^t\[0\]/)] });
  const stopping = consumer.stop();
  await clock.advance(20_000);
  await Promise.all([stopping, running]);
});
