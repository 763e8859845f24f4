import { confluent } from "@cdckit/confluent";
import { type KafkaDriver, silentLogger } from "@cdckit/consumer";
import { kafkajs } from "@cdckit/kafkajs";
import { platformatic } from "@cdckit/platformatic";
import { ProbeSink } from "@cdckit/testkit";
import { type Admin, Kafka, logLevel } from "kafkajs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { skipReason as withoutConfluent } from "./confluent-native.ts";
import { EveryBroker } from "./every-broker.ts";
import { platformaticClients } from "./platformatic-clients.ts";
import { type RackCluster, startRackCluster } from "./rack-cluster.ts";
import { missingForKafka } from "./secured-kafka.ts";
import { createTopics, uniqueName } from "./stack.ts";

const skipReason = await missingForKafka();
const drivers: readonly (readonly [string, (brokers: readonly string[]) => KafkaDriver])[] = [
  ["kafkajs", (brokers) => kafkajs({ brokers: [...brokers] })],
  ...platformaticClients.map(
    ({ major, ...client }) => [`platformatic ${major}`, (brokers: readonly string[]) => platformatic({ brokers, ...client })] as const,
  ),
  ...(withoutConfluent === null ? [["confluent", (brokers: readonly string[]) => confluent({ brokers: [...brokers] })] as const] : []),
];

describe.skipIf(skipReason !== "")("a topic that has fewer replicas than its records need", { meta: { skipReason } }, () => {
  let cluster: RackCluster;
  let admin: Admin;
  const [read, written] = [uniqueName("read"), uniqueName("two-copies")];

  beforeAll(async () => {
    cluster = await startRackCluster();
    const [firstBroker = ""] = cluster.brokers;
    admin = new Kafka({ brokers: [firstBroker], logLevel: logLevel.NOTHING }).admin();
    const everyBroker = new EveryBroker([firstBroker]);
    await Promise.all([admin.connect(), everyBroker.connect()]);
    await createTopics(admin, [
      { topic: read, replicaAssignment: [{ partition: 0, replicas: [1] }] },
      {
        topic: written,
        replicaAssignment: [{ partition: 0, replicas: [1, 2] }],
        configEntries: [{ name: "min.insync.replicas", value: "2" }],
      },
    ]);
    await everyBroker.close();
    await cluster.crashSecond();
    await cluster.untilAlone();
  });
  afterAll(async () => {
    await admin?.disconnect();
    await cluster?.stop();
  });

  test.each(drivers)(
    "is not waited for as brokers that are away are, because they have answered: %s",
    { timeout: 120_000 },
    async (_, make) => {
      const subscription = { groupId: uniqueName("replicas"), topics: [read], from: "earliest", logger: silentLogger } as const;
      const session = await make(cluster.brokers.slice(0, 1)).connect(subscription, new ProbeSink());
      const failure: unknown = await session.send?.([{ topic: written, key: null, value: Buffer.from("{}"), headers: [] }]).then(
        () => "it is written",
        (error: unknown) => error,
      );
      await session.close(10_000);
      expect(failure).toMatchObject({ code: "send-failed", message: expect.stringMatching(/in-sync replicas/i) as string });
      const codes: unknown[] = [];
      for (let cause = failure as Error | undefined; cause instanceof Error; cause = cause.cause as Error | undefined) {
        codes.push((cause as { readonly code?: unknown }).code);
      }
      expect(codes).not.toContain("brokers-unreachable");
    },
  );
});
