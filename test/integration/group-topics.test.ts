import { type Consumer, createConsumer } from "@cdckit/consumer";
import { kafkajs } from "@cdckit/kafkajs";
import { Kafka, logLevel } from "kafkajs";
import { expect, test, vi } from "vitest";
import { createTopics, describeWithKafka, uniqueName } from "./stack.ts";

await describeWithKafka("two members of one group", (kafka) => {
  function member(groupId: string, topic: string): { readonly consumer: Consumer; readonly running: Promise<void> } {
    const consumer = createConsumer({
      driver: kafkajs({ brokers: [kafka.brokers], maxWaitMs: 100, heartbeatIntervalMs: 300, sessionTimeoutMs: 6_000 }),
      groupId,
      topics: [topic],
      signals: false,
      logger: false,
    });
    consumer.on("*", () => {});
    return { consumer, running: consumer.run() };
  }

  async function topicsOf(count: number, numPartitions: number): Promise<readonly string[]> {
    const admin = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    const topics = Array.from({ length: count }, () => uniqueName("mine"));
    await createTopics(
      admin,
      topics.map((topic) => ({ topic, numPartitions })),
    );
    await admin.disconnect();
    return topics;
  }

  test.each([1, 4])("that subscribe to different topics of %i partitions both say so, and stop saying so", async (partitions) => {
    const [mine = "", theirs = ""] = await topicsOf(2, partitions);
    const groupId = uniqueName("shared");
    const one = member(groupId, mine);
    await vi.waitFor(() => expect(one.consumer.health().ready).toBe(true), { timeout: 20_000 });
    const other = member(groupId, theirs);
    await vi.waitFor(
      () => {
        for (const { consumer } of [one, other]) {
          const reasons = consumer.health().reasons.join();
          expect(reasons).toContain(`[subscriptions-differ] the members of the group ${groupId} subscribe to different topics`);
          expect(reasons).toContain("use one group for each set of topics");
          expect([reasons.includes(mine), reasons.includes(theirs)]).toEqual([true, true]);
        }
      },
      { timeout: 30_000, interval: 100 },
    );
    await other.consumer.stop();
    await other.running;
    await vi.waitFor(() => expect(one.consumer.health()).toMatchObject({ ready: true, reasons: [] }), { timeout: 20_000 });
    await one.consumer.stop();
    await one.running;
  });

  test("that subscribe to the same topic say nothing, also if one has no partition", async () => {
    const [topic = ""] = await topicsOf(1, 1);
    const groupId = uniqueName("shared");
    const members = [member(groupId, topic), member(groupId, topic)];
    await vi.waitFor(() => expect(members.filter(({ consumer }) => consumer.health().assigned.length === 1)).toHaveLength(1), {
      timeout: 20_000,
    });
    await vi.waitFor(() => expect(members.every(({ consumer }) => consumer.health().phase === "running")).toBe(true), { timeout: 20_000 });
    expect(members.flatMap(({ consumer }) => consumer.health().reasons).join()).not.toContain("subscriptions-differ");
    await Promise.all(members.map(({ consumer }) => consumer.stop()));
    await Promise.all(members.map(({ running }) => running));
  });
});
