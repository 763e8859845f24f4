import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { kill } from "node:process";
import { confluent } from "@cdckit/confluent";
import { createConsumer, type Health, type KafkaDriver } from "@cdckit/consumer";
import { kafkajs } from "@cdckit/kafkajs";
import { platformatic } from "@cdckit/platformatic";
import { Kafka, logLevel } from "kafkajs";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type RunningKafka, startKafka } from "../../scripts/stack/kafka.mjs";
import { skipReason as withoutConfluent } from "./confluent-native.ts";
import { platformaticClients } from "./platformatic-clients.ts";
import { missingForKafka } from "./secured-kafka.ts";
import { createTopics, uniqueName } from "./stack.ts";

const skipReason = await missingForKafka();
const what = "the group's acknowledgement of this member";
/** The clock of a busy machine. */
const slackMs = 1_000;

/** Each with its own defaults, and how soon it shows a silent group. */
const drivers: readonly (readonly [name: string, withinMs: number, make: (brokers: string) => KafkaDriver])[] = [
  ["kafkajs", 5_000, (brokers) => kafkajs({ brokers: [brokers] })],
  ...platformaticClients.map(
    ({ major, ...client }) =>
      [`platformatic ${major}`, 5_000, (brokers: string): KafkaDriver => platformatic({ brokers: [brokers], ...client })] as const,
  ),
  ...(withoutConfluent === null
    ? [["confluent", 6_000, (brokers: string): KafkaDriver => confluent({ brokers: [brokers] })] as const]
    : []),
];

/** The driver, which calls `acknowledged` with each acknowledgement of the group. librdkafka reports the first some seconds after the join. */
function heard(driver: KafkaDriver, acknowledged: () => void): KafkaDriver {
  const { name, capabilities } = driver;
  return {
    name,
    capabilities,
    connect: (subscription, sink) =>
      driver.connect(subscription, {
        assigned: (assignments) => sink.assigned(assignments),
        startsAt: (assignment, offset) => sink.startsAt?.(assignment, offset),
        revoked: (assignments, how) => sink.revoked(assignments, how),
        batch: (batch) => sink.batch(batch),
        waiting: (wait) => sink.waiting?.(wait) ?? { failed: () => {}, end: () => {} },
        acknowledged: (validForMs, next) => {
          sink.acknowledged?.(validForMs, next);
          acknowledged();
        },
        failed: (error) => sink.failed(error),
      }),
  };
}

describe.skipIf(skipReason !== "")("a broker that stands still and keeps its connections", { meta: { skipReason } }, () => {
  let kafka: RunningKafka;
  let dir: string;

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), "cdckit-frozen-"));
    kafka = await startKafka({ dir });
  });
  afterAll(async () => {
    await kafka.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  describe.each(drivers)("%s, within %i ms", (_, withinMs, make) => {
    test("is in health() in time, with its address, until it goes on", async () => {
      const admin = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING }).admin();
      const topic = uniqueName("frozen");
      await admin.connect();
      await createTopics(admin, [{ topic }]);
      await admin.disconnect();
      let acknowledgements = 0;
      const driver = heard(make(kafka.brokers), () => acknowledgements++);
      const consumer = createConsumer({ driver, groupId: topic, topics: [topic], signals: false, logger: false });
      const running = consumer.on("*", () => {}).run();
      running.catch(() => {}); // awaited below
      const waitOf = ({ waits }: Health) => waits.find((wait) => wait.what === what);
      try {
        await vi.waitFor(() => expect(consumer.health()).toMatchObject({ ready: true, assigned: [{ topic }] }), 60_000);
        await vi.waitFor(() => expect(acknowledgements).toBeGreaterThan(0), 30_000);
        kill(kafka.record.pid, "SIGSTOP");
        const frozenMs = performance.now();
        await vi.waitFor(() => expect(waitOf(consumer.health())).toBeDefined(), { timeout: 30_000, interval: 50 });
        expect(performance.now() - frozenMs).toBeLessThan(withinMs + slackMs);
        expect(waitOf(consumer.health())).toMatchObject({ host: kafka.brokers, cause: expect.stringContaining("does not answer") });
        expect(consumer.health().reasons.join()).toContain(kafka.brokers);
        kill(kafka.record.pid, "SIGCONT");
        await vi.waitFor(() => expect(consumer.health()).toMatchObject({ ready: true, waits: [] }), 30_000);
      } finally {
        kill(kafka.record.pid, "SIGCONT");
        await consumer.stop();
        await running;
      }
    }, 120_000);
  });
});
