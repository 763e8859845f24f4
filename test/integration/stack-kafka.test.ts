import { Kafka, logLevel } from "kafkajs";
import { expect, test } from "vitest";
import { produceLines } from "../../scripts/stack/kafka.mjs";
import { createTopics, describeWithKafka, uniqueName } from "./stack.ts";

await describeWithKafka("the shared test broker", (kafka) => {
  const client = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING, retry: { retries: 0 } });

  test("serves what Kafka's own producer wrote, with its key", async () => {
    const topic = uniqueName("lines");
    const admin = client.admin();
    await admin.connect();
    await createTopics(admin, [{ topic }]);
    await produceLines(kafka, { topic, lines: ["k|v", "l|w"], separator: "|", compression: "gzip" });
    expect(await admin.fetchTopicOffsets(topic)).toMatchObject([{ partition: 0, high: "2" }]);
    await admin.disconnect();
  });

  test("does not create a topic that somebody asks for", async () => {
    const admin = client.admin();
    await admin.connect();
    await expect(admin.fetchTopicOffsets(uniqueName("missing"))).rejects.toThrow("does not host this topic-partition");
    await admin.disconnect();
  });
});
