import { silentLogger } from "@cdckit/consumer";
import { platformatic } from "@cdckit/platformatic";
import { ProbeSink } from "@cdckit/testkit";
import { Kafka, logLevel } from "kafkajs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ProxiedKafka, startProxiedKafka } from "../chaos/proxied-kafka.ts";
import type { TcpProxy } from "../chaos/tcp-proxy.ts";
import { missingForKafka } from "./secured-kafka.ts";
import { createTopics } from "./stack.ts";

/** Requests of a join, by Kafka's numbers. */
const lostAnswers = [
  ["the question for an id", 11],
  ["its assignment", 14],
] as const;
/** Far below the time for which the group may hold back the answer to a join. */
const timeout = 45_000;

const skipReason = await missingForKafka();

// Beside each other, each with a proxy of its own: they wait for most of their time.
describe.skipIf(skipReason !== "").concurrent("a member that joins a group with @platformatic/kafka", { meta: { skipReason } }, () => {
  let broker: ProxiedKafka;

  beforeAll(async () => {
    broker = await startProxiedKafka(lostAnswers.length);
    const admin = new Kafka({ brokers: [broker.kafka.brokers], logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    await createTopics(admin, [{ topic: "rows", numPartitions: 2 }]);
    await admin.disconnect();
  });
  afterAll(() => broker?.stop());

  async function joined(port: number, groupId: string) {
    const sink = new ProbeSink();
    const subscription = { groupId, topics: ["rows"], from: "earliest", logger: silentLogger } as const;
    const options = { brokers: [`127.0.0.1:${port}`], sessionTimeoutMs: 6_000, heartbeatIntervalMs: 500, maxWaitMs: 100 };
    const session = await platformatic(options).connect(subscription, sink);
    return { sink, session };
  }

  for (const [i, [what, apiKey]] of lostAnswers.entries()) {
    test(`reads its partition soon if the answer to ${what} is lost on the way`, { timeout }, async () => {
      const proxy = broker.proxies[i] as TcpProxy; // there are as many
      const first = await joined(broker.kafka.port, what);
      await first.sink.until(({ held }) => held.length === 2);
      const lost = proxy.loseNextAnswer(apiKey);
      const second = await joined(proxy.port, what);
      await lost;
      await second.sink.until(({ held }) => held.length === 1);
      expect(second.sink.failures).toEqual([]);
      await Promise.all([first.session.close(5_000), second.session.close(5_000)]);
    });
  }
});
