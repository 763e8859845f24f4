import { setTimeout as pass } from "node:timers/promises";
import { confluent } from "@cdckit/confluent";
import { createConsumer, type KafkaDriver } from "@cdckit/consumer";
import { kafkajs } from "@cdckit/kafkajs";
import { platformatic } from "@cdckit/platformatic";
import { type Admin, AclOperationTypes, AclPermissionTypes, AclResourceTypes, Kafka, logLevel, ResourcePatternTypes } from "kafkajs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { skipReason as withoutConfluent } from "./confluent-native.ts";
import { platformaticClients } from "./platformatic-clients.ts";
import { missingForKafka, password, type SecuredKafka, startSecuredKafka, tokenOf, username } from "./secured-kafka.ts";
import { createTopics, uniqueName } from "./stack.ts";

const skipReason = await missingForKafka();
/** A new object each time: kafkajs writes into the one that it is given. */
const login = () => ({ mechanism: "plain", username, password }) as const;

const tokenLogin = (token: () => string) => ({ mechanism: "oauthbearer", oauthBearerProvider: async () => ({ value: token() }) }) as const;

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
      "listener.name.login.scram-sha-256.connections.max.reauth.ms": "3000", // a login is refreshed within a test's patience
    });
    admin = new Kafka({ brokers: [secured.plain], logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
  });
  afterAll(async () => {
    await admin.disconnect();
    await secured.stop();
  });

  async function allow(
    resourceType: AclResourceTypes,
    resourceName: string,
    operation: AclOperationTypes,
    resourcePatternType: ResourcePatternTypes = ResourcePatternTypes.LITERAL,
  ): Promise<void> {
    const rest = { principal: `User:${username}`, host: "*", permissionType: AclPermissionTypes.ALLOW } as const;
    await admin.createAcls({ acl: [{ resourceType, resourceName, resourcePatternType, operation, ...rest }] });
  }

  async function write(topic: string): Promise<void> {
    const producer = new Kafka({ brokers: [secured.plain], logLevel: logLevel.NOTHING }).producer();
    await producer.connect();
    await producer.send({ topic, messages: [{ value: '{"id":1}' }] });
    await producer.disconnect();
  }

  /**
   * A broker hears of new rights a moment after they are given, and in their order: whoever waits for the last one has all. Until then, the topic is
   * missing for the user.
   */
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

  test("a login that is refused while a consumer runs ends it, with every driver: it would try the same password for ever", async () => {
    const [topic, groups] = [uniqueName("rotated"), uniqueName("rotated")];
    await createTopics(admin, [{ topic, numPartitions: 1 }]);
    await allow(AclResourceTypes.GROUP, groups, AclOperationTypes.READ, ResourcePatternTypes.PREFIXED);
    await allow(AclResourceTypes.TOPIC, topic, AclOperationTypes.READ);
    await untilSeen(topic);
    await write(topic);
    const brokers = [secured.sasl];
    const sasl = () => ({ mechanism: "scram-sha-256", username, password }) as const;
    const made: readonly KafkaDriver[] = [
      kafkajs({ brokers, sasl: sasl(), reauthenticationThreshold: 1_000 }),
      ...platformaticClients.map(({ major: _, ...client }) => platformatic({ brokers, sasl: sasl(), ...client })),
      ...(withoutConfluent === null ? [confluent({ brokers, sasl: sasl(), heartbeatIntervalMs: 1_000 })] : []),
    ];
    const handled: Promise<void>[] = [];
    const ends = made.map((driver, i) => {
      const options = { driver, groupId: `${groups}-${i}`, topics: [topic], signals: false, logger: false } as const;
      const consumer = createConsumer(options);
      handled.push(new Promise((resolve) => consumer.on("*", () => resolve())));
      return consumer.run().then(
        () => null,
        (error: unknown) => error,
      );
    });
    await Promise.race([Promise.all(handled), ...ends]);
    await secured.setPassword("canary-another-password");
    for (const end of await Promise.all(ends)) {
      expect(end).toMatchObject({ code: "authentication-failed" });
      expect(`${String(end)}${JSON.stringify(end)}`).not.toContain("canary");
    }
  });

  test.each<[string, (brokers: string[], token: () => string) => KafkaDriver]>([
    ["kafkajs", (brokers, token) => kafkajs({ brokers, sasl: tokenLogin(token) })],
    ...platformaticClients.map(
      ({ major, ...client }) =>
        [
          `platformatic ${major}`,
          (brokers: string[], token: () => string): KafkaDriver =>
            platformatic({ brokers, sasl: { mechanism: "oauthbearer", token }, ...client }),
        ] as [string, (brokers: string[], token: () => string) => KafkaDriver],
    ),
  ])("a token that the broker refuses is named, and the next one of the function is used: %s", async (_, make) => {
    const [topic, groupId] = [uniqueName("token"), uniqueName("token")];
    await createTopics(admin, [{ topic, numPartitions: 1 }]);
    await allow(AclResourceTypes.GROUP, groupId, AclOperationTypes.READ);
    await allow(AclResourceTypes.TOPIC, topic, AclOperationTypes.READ);
    await untilSeen(topic);
    await write(topic);
    let isExpired = true;
    const token = (): string => tokenOf(username, isExpired);
    const start = (): { readonly ended: Promise<unknown>; readonly handled: Promise<void>; stop(): Promise<void> } => {
      const consumer = createConsumer({ driver: make([secured.sasl], token), groupId, topics: [topic], signals: false, logger: false });
      const handled = new Promise<void>((resolve) => consumer.on("*", () => resolve()));
      return { handled, ended: consumer.run().catch((error: unknown) => error), stop: () => consumer.stop() };
    };
    expect(await start().ended).toMatchObject({
      code: "authentication-failed",
      message: expect.stringContaining("the broker refused the token (invalid_token)") as string,
    });
    isExpired = false;
    const { ended, handled, stop } = start();
    expect(await Promise.race([handled, ended])).toBe(undefined);
    await stop();
  });

  test.each<[string, (token: () => Promise<string>) => KafkaDriver]>([
    [
      "kafkajs",
      (token) =>
        kafkajs({
          brokers: [secured.sasl],
          sasl: { mechanism: "oauthbearer", oauthBearerProvider: async () => ({ value: await token() }) },
        }),
    ],
    ...platformaticClients.map(
      ({ major, ...client }) =>
        [
          `platformatic ${major}`,
          (token: () => Promise<string>): KafkaDriver =>
            platformatic({ brokers: [secured.sasl], sasl: { mechanism: "oauthbearer", token }, ...client }),
        ] as [string, (token: () => Promise<string>) => KafkaDriver],
    ),
  ])("a function for a token may take longer than a connection: %s", async (_, make) => {
    const [topic, groupId] = [uniqueName("token"), uniqueName("token")];
    await createTopics(admin, [{ topic, numPartitions: 1 }]);
    await allow(AclResourceTypes.GROUP, groupId, AclOperationTypes.READ);
    await allow(AclResourceTypes.TOPIC, topic, AclOperationTypes.READ);
    await untilSeen(topic);
    await write(topic);
    const takesMs = 6_000; // more than the 5 s that a connection may take
    const driver = make(() => pass(takesMs).then(() => tokenOf(username, false)));
    const consumer = createConsumer({ driver, groupId, topics: [topic], signals: false, logger: false });
    const handled = new Promise<void>((resolve) => consumer.on("*", () => resolve()));
    expect(await Promise.race([handled, consumer.run()])).toBe(undefined);
    await consumer.stop();
  });

  test.each<[string, () => KafkaDriver]>([
    [
      "kafkajs",
      () => kafkajs({ brokers: [secured.sasl], sasl: { mechanism: "oauthbearer", oauthBearerProvider: () => new Promise(() => {}) } }),
    ],
    ...platformaticClients.map(
      ({ major, ...client }) =>
        [
          `platformatic ${major}`,
          (): KafkaDriver =>
            platformatic({ brokers: [secured.sasl], sasl: { mechanism: "oauthbearer", token: () => new Promise(() => {}) }, ...client }),
        ] as [string, () => KafkaDriver],
    ),
  ])("a function for a token that never answers is the reason why a start fails, and not the brokers: %s", async (_, make) => {
    const consumer = createConsumer({ driver: make(), groupId: uniqueName("token"), topics: ["any"], signals: false, logger: false });
    consumer.on("*", () => {});
    await expect(consumer.run()).rejects.toMatchObject({
      code: "authentication-failed",
      message: expect.stringContaining("found no answer within 10000 ms") as string,
    });
  });

  describe.each(drivers)("%s", (_name, make) => {
    test("who may see a topic and not read it ends the consumer with what is missing", async () => {
      const topic = uniqueName("refused");
      const groupId = uniqueName("refused");
      await createTopics(admin, [{ topic, numPartitions: 1 }]);
      await allow(AclResourceTypes.GROUP, groupId, AclOperationTypes.READ);
      await allow(AclResourceTypes.TOPIC, topic, AclOperationTypes.DESCRIBE);
      await untilSeen(topic);
      const consumer = createConsumer({ driver: make([secured.sasl]), groupId, topics: [topic], signals: false, logger: false });
      consumer.on("*", () => {});
      await expect(consumer.run()).rejects.toMatchObject({
        code: "not-authorized",
        message: expect.stringContaining(`The user needs Describe and Read on the topic ${topic}`) as string,
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
        message: expect.stringContaining(`The user needs Read on the group ${groupId}`) as string,
      });
    });

    test("of the topics that an expression matches, the one that may not be read is named", async () => {
      const [prefix, groupId] = [uniqueName("matched"), uniqueName("refused")];
      const [read, seen] = [`${prefix}.read`, `${prefix}.seen`];
      await createTopics(
        admin,
        [read, seen].map((topic) => ({ topic, numPartitions: 1 })),
      );
      await allow(AclResourceTypes.GROUP, groupId, AclOperationTypes.READ);
      await allow(AclResourceTypes.TOPIC, read, AclOperationTypes.READ);
      await allow(AclResourceTypes.TOPIC, seen, AclOperationTypes.DESCRIBE);
      await untilSeen(seen);
      const topics = [new RegExp(`^${prefix}\\.`)];
      const consumer = createConsumer({ driver: make([secured.sasl]), groupId, topics, signals: false, logger: false });
      consumer.on("*", () => {});
      await expect(consumer.run()).rejects.toMatchObject({
        code: "not-authorized",
        message: expect.stringMatching(new RegExp(`The user needs Describe and Read on the topic ${seen.replace(".", "\\.")}$`)) as string,
      });
    });

    test("who may not see a topic is not sent to look for it", async () => {
      const [topic, shown, groupId] = [uniqueName("hidden"), uniqueName("shown"), uniqueName("refused")];
      await createTopics(
        admin,
        [topic, shown].map((one) => ({ topic: one, numPartitions: 1 })),
      );
      await allow(AclResourceTypes.GROUP, groupId, AclOperationTypes.READ);
      await allow(AclResourceTypes.TOPIC, shown, AclOperationTypes.DESCRIBE);
      await untilSeen(shown);
      const consumer = createConsumer({ driver: make([secured.sasl]), groupId, topics: [topic], signals: false, logger: false });
      consumer.on("*", () => {});
      await expect(consumer.run()).rejects.toMatchObject({
        code: "not-authorized",
        message: expect.stringContaining(`The user needs Describe and Read on the topic ${topic}`) as string,
      });
    });

    test("who may not write or create the dead-letter topic hears of the right that is missing", async () => {
      const [topic, letters, groupId] = [uniqueName("refused"), uniqueName("letters"), uniqueName("refused")];
      await createTopics(admin, [{ topic, numPartitions: 1 }]);
      await allow(AclResourceTypes.GROUP, groupId, AclOperationTypes.READ);
      await allow(AclResourceTypes.TOPIC, topic, AclOperationTypes.READ);
      await untilSeen(topic);
      const consume = (createDeadLetterTopic: boolean): Promise<unknown> => {
        const failure = { poison: "dead-letter", deadLetterTopic: letters, createDeadLetterTopic, retry: false } as const;
        const options = { driver: make([secured.sasl]), groupId, topics: [topic], signals: false, logger: false, failure } as const;
        const consumer = createConsumer(options).on("*", () => {
          throw new Error("a row that nobody can handle");
        });
        return consumer.run().then(
          () => null,
          (error: unknown) => error,
        );
      };
      expect(await consume(true)).toMatchObject({
        code: "not-authorized",
        message: expect.stringContaining(`The user needs Create on the topic ${letters}`) as string,
      });
      const needsWrite = expect.stringContaining(`The user needs Describe and Write on the topic ${letters}`) as string;
      expect(await consume(false)).toMatchObject({ code: "not-authorized", message: needsWrite });
      await createTopics(admin, [{ topic: letters, numPartitions: 1 }]);
      await allow(AclResourceTypes.TOPIC, letters, AclOperationTypes.DESCRIBE);
      await untilSeen(letters);
      await write(topic);
      expect(await consume(false)).toMatchObject({ code: "dead-letter-failed", cause: { code: "not-authorized", message: needsWrite } });
    });

    test("who lacks a right for a transaction hears which one it is", async () => {
      const [topic, output, kept, groupId] = [uniqueName("refused"), uniqueName("output"), uniqueName("kept"), uniqueName("refused")];
      await createTopics(
        admin,
        [topic, output, kept].map((one) => ({ topic: one, numPartitions: 1 })),
      );
      await allow(AclResourceTypes.TOPIC, topic, AclOperationTypes.READ);
      await allow(AclResourceTypes.TOPIC, output, AclOperationTypes.WRITE);
      await allow(AclResourceTypes.GROUP, groupId, AclOperationTypes.READ);
      await allow(AclResourceTypes.TOPIC, kept, AclOperationTypes.DESCRIBE);
      await untilSeen(kept);
      await write(topic);
      const pipe = (to: string): Promise<unknown> => {
        const options = { driver: make([secured.sasl]), groupId, topics: [topic], signals: false, logger: false } as const;
        const consumer = createConsumer({ ...options, failure: { retry: false } });
        consumer.pipe("*", (events) => events.map(() => ({ topic: to, key: null, value: Buffer.from("{}"), headers: [] })));
        return consumer.run().then(
          () => null,
          (error: unknown) => error,
        );
      };
      const refusal = (needed: string) => ({
        cause: { cause: { code: "not-authorized", message: expect.stringContaining(`The user needs ${needed}`) as string } },
      });
      expect(await pipe(output)).toMatchObject(refusal(`Write on the transactional ids that begin with ${groupId}`));
      await allow(AclResourceTypes.TRANSACTIONAL_ID, groupId, AclOperationTypes.WRITE, ResourcePatternTypes.PREFIXED);
      let refused = await pipe(kept);
      while (String((refused as { cause: { cause: Error } }).cause.cause).includes("transactional ids")) {
        refused = await pipe(kept); // a broker hears of new rights a moment after they are given
      }
      expect(refused).toMatchObject(refusal(`Describe and Write on the topic ${kept}`));
    });
  });
});
