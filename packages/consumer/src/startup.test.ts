import type { CdcEvent, Decoder } from "@cdckit/decode";
import { memory, MemoryBroker, virtualClock } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { type Consumer, createConsumer } from "./consumer.ts";
import type { KafkaDriver } from "./driver.ts";
import type { Startup } from "./startup.ts";

const away = Object.assign(new Error("[brokers-unreachable] cannot reach brokers b:9092"), { code: "brokers-unreachable" });

describe("a start whose brokers cannot be reached", () => {
  test("is an error at once, unless it is to wait", async () => {
    const { clock, consumer, attempts } = consumerWhose([away], undefined);
    await expect(clock.run(consumer.run())).rejects.toThrow("brokers-unreachable");
    expect(attempts).toHaveLength(1);
  });

  test("waits with growing gaps, says so in health and in the log, and then runs", async () => {
    const { clock, consumer, attempts, lines, handled } = consumerWhose(
      Array.from({ length: 8 }, () => away),
      "wait",
    );
    const running = consumer.run();
    await clock.advance(4_000);
    expect(consumer.health()).toMatchObject({ phase: "connecting", live: true, ready: false });
    expect(consumer.health().reasons.join()).toMatch(
      /joins the group g, is waited for since .* [23] failed attempts, the last: .*cannot reach brokers b:9092/,
    );
    expect(lines.join()).toContain("is waited for");
    await clock.run(handled);
    await clock.run(consumer.stop());
    await running;
    const gaps = attempts.slice(1).map((at, i) => at - (attempts[i] ?? 0));
    expect(gaps).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  });

  test("ends with a stop, even in the middle of a gap", async () => {
    const { clock, consumer } = consumerWhose(
      Array.from({ length: 1_000 }, () => away),
      "wait",
    );
    clock.after(50_000, () => void consumer.stop());
    await clock.run(consumer.run());
    expect(clock.nowMs()).toBeLessThan(50_100);
    await expect(clock.run(new Promise(() => {}))).rejects.toThrow("nothing is left to run");
  });

  test("does not wait for what waiting does not help", async () => {
    const missing = Object.assign(new Error("[topic-missing] there is no topic t"), { code: "topic-missing" });
    const { clock, consumer, attempts } = consumerWhose([away, missing], "wait");
    await expect(clock.run(consumer.run())).rejects.toBe(missing);
    expect(attempts).toHaveLength(2);
  });
});

/** A consumer whose first attempts to connect fail in this way. */
function consumerWhose(
  failures: readonly Error[],
  startup: Startup | undefined,
): {
  readonly clock: ReturnType<typeof virtualClock>;
  readonly consumer: Consumer;
  readonly attempts: readonly number[];
  readonly lines: readonly string[];
  readonly handled: Promise<void>;
} {
  const clock = virtualClock();
  const broker = new MemoryBroker({ t: 1 }, { clock });
  broker.append("t", { value: "{}" });
  const inner = memory({ broker });
  const attempts: number[] = [];
  const driver: KafkaDriver = {
    ...inner,
    capabilities: inner.capabilities,
    connect: async (subscription, sink) => {
      attempts.push(clock.nowMs());
      const failure = failures[attempts.length - 1];
      if (failure !== undefined) {
        throw failure;
      }
      return inner.connect(subscription, sink);
    },
  };
  const lines: string[] = [];
  const log = (_fields: unknown, line?: string): void => void lines.push(line ?? "");
  const consumer = createConsumer({
    driver,
    groupId: "g",
    topics: ["t"],
    decoder,
    signals: false,
    clock,
    random: () => 0.5,
    logger: { debug: log, info: log, warn: log, error: log },
    ...(startup === undefined ? {} : { startup }),
  });
  const handled = new Promise<void>((resolve) => void consumer.on("*", () => resolve()));
  return { clock, consumer, attempts, lines, handled };
}

const decoder: Decoder = {
  decode: () => Promise.reject(new Error("not used")),
  decodeAt: ({ batch, record }) => [
    {
      kind: "unknown",
      schemaId: null,
      record: { topic: batch.topic, partition: batch.partition, offset: batch.offsetAt(record) },
    } as unknown as CdcEvent,
  ],
  explain: () => Promise.reject(new Error("not used")),
};
