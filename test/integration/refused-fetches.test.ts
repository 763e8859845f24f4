import { setTimeout as pass } from "node:timers/promises";
import { confluent } from "@cdckit/confluent";
import { createConsumer, type KafkaDriver } from "@cdckit/consumer";
import { kafkajs } from "@cdckit/kafkajs";
import { platformatic } from "@cdckit/platformatic";
import { type Admin, AclOperationTypes, AclPermissionTypes, AclResourceTypes, Kafka, logLevel, ResourcePatternTypes } from "kafkajs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { skipReason as withoutConfluent } from "./confluent-native.ts";
import { platformaticClients } from "./platformatic-clients.ts";
import { missingForKafka, password, type SecuredKafka, startSecuredKafka, username } from "./secured-kafka.ts";
import { createTopics, uniqueName } from "./stack.ts";

const skipReason = await missingForKafka();
/** A new object each time: kafkajs writes into the one that it is given. */
const login = () => ({ mechanism: "plain", username, password }) as const;

const drivers: readonly (readonly [string, (brokers: string[]) => KafkaDriver])[] = [
  ["kafkajs", (brokers) => kafkajs({ brokers, sasl: login() })],
  ["kafkajs, own client", (brokers) => kafkajs({ kafka: new Kafka({ brokers, sasl: login(), logLevel: logLevel.NOTHING }) })],
  ...platformaticClients.map(
    ({ major, ...client }) =>
      [`platformatic ${major}`, (brokers: string[]): KafkaDriver => platformatic({ brokers, sasl: login(), ...client })] as const,
  ),
  ...(withoutConfluent === null ? [["confluent", (brokers: string[]): KafkaDriver => confluent({ brokers, sasl: login() })] as const] : []),
];

describe.skipIf(skipReason !== "").concurrent("a user without all rights", { meta: { skipReason } }, () => {
  let secured: SecuredKafka;
  let admin: Admin;

  beforeAll(async () => {
    secured = await startSecuredKafka({
      "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
      "super.users": "User:ANONYMOUS", // the listener without a login: the broker's own, and that of this test
    });
    admin = new Kafka({ brokers: [secured.plain], logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
  });
  afterAll(async () => {
    await admin.disconnect();
    await secured.stop();
  });

  async function allow(resourceType: AclResourceTypes, resourceName: string, operation: AclOperationTypes): Promise<void> {
    const resourcePatternType = ResourcePatternTypes.LITERAL;
    const rest = { principal: `User:${username}`, host: "*", permissionType: AclPermissionTypes.ALLOW } as const;
    await admin.createAcls({ acl: [{ resourceType, resourceName, resourcePatternType, operation, ...rest }] });
  }

  /** A broker hears of new rights a moment after they are given. Until then, the topic is missing for the user. */
  async function untilSeen(topic: string): Promise<void> {
    const user = new Kafka({ brokers: [secured.sasl], sasl: login(), logLevel: logLevel.NOTHING }).admin();
    await user.connect();
    try {
      while (!(await user.listTopics()).includes(topic)) {
        await pass(50);
      }
    } finally {
      await user.disconnect();
    }
  }

  describe.each(drivers)("%s", (_name, make) => {
    test("who may see a topic and not read it ends the consumer with what is missing", async () => {
      const topic = uniqueName("refused");
      const groupId = uniqueName("refused");
      await createTopics(admin, [{ topic, numPartitions: 1 }]);
      await allow(AclResourceTypes.TOPIC, topic, AclOperationTypes.DESCRIBE);
      await allow(AclResourceTypes.GROUP, groupId, AclOperationTypes.READ);
      await untilSeen(topic);
      const consumer = createConsumer({ driver: make([secured.sasl]), groupId, topics: [topic], signals: false, logger: false });
      consumer.on("*", () => {});
      await expect(consumer.run()).rejects.toMatchObject({
        code: "not-authorized",
        message: expect.stringMatching(/The user needs .*Read on the topics/) as string,
      });
    });

    test("who may not read the group ends the consumer with what is missing", async () => {
      const topic = uniqueName("refused");
      await createTopics(admin, [{ topic, numPartitions: 1 }]);
      await allow(AclResourceTypes.TOPIC, topic, AclOperationTypes.READ);
      await untilSeen(topic);
      const groupId = uniqueName("refused");
      const consumer = createConsumer({ driver: make([secured.sasl]), groupId, topics: [topic], signals: false, logger: false });
      consumer.on("*", () => {});
      await expect(consumer.run()).rejects.toMatchObject({
        code: "not-authorized",
        message: expect.stringMatching(/Read on .*the group/) as string,
      });
    });
  });
});
