import type { Socket } from "node:net";
import { confluent } from "@cdckit/confluent";
import { type Consumer, createConsumer, type KafkaDriver } from "@cdckit/consumer";
import { platformatic } from "@cdckit/platformatic";
import { type Admin, Kafka, logLevel, type Producer } from "kafkajs";
import { afterAll, beforeAll, describe, expect, type TestContext, test, vi } from "vitest";
import { BrokerProxy } from "./broker-proxy.ts";
import { skipReason as withoutConfluent } from "./confluent-native.ts";
import { type RackCluster, startRackCluster } from "./rack-cluster.ts";
import { missingForKafka } from "./secured-kafka.ts";
import { createTopics, uniqueName } from "./stack.ts";

const skipReason = await missingForKafka();
const tuning = { heartbeatIntervalMs: 300, sessionTimeoutMs: 10_000, maxWaitMs: 100 } as const;

/** kafkajs reads nothing at all if one of the leaders cannot be reached. */
const drivers: readonly (readonly [name: string, wait: string, make: (brokers: string[]) => KafkaDriver])[] = [
  ["platformatic", "the connection to the brokers", (brokers) => platformatic({ brokers, ...tuning })],
  ...(withoutConfluent === null
    ? [["confluent", "the connection to its broker", (brokers: string[]) => confluent({ brokers, ...tuning })] as const]
    : []),
];

/** Stands before a broker. Connections through it can be cut off and refused. */
class Gate extends BrokerProxy {
  readonly #clients = new Set<Socket>();

  protected answering(client: Socket): (chunk: Buffer) => void {
    this.#clients.add(client);
    client.on("close", () => this.#clients.delete(client));
    return (chunk) => void client.write(chunk);
  }

  shut(): void {
    this.close();
    this.#clients.forEach((client) => client.destroy());
  }
}

describe.skipIf(skipReason !== "")("a broker that leads partitions and cannot be reached from here", { meta: { skipReason } }, () => {
  const gates: { readonly gate: Gate; readonly port: number }[] = [];
  let cluster: RackCluster;
  let admin: Admin;
  let producer: Producer;

  beforeAll(async () => {
    cluster = await startRackCluster(async (brokerPort) => {
      const gate = new Gate(brokerPort);
      const port = await gate.listen();
      gates.push({ gate, port });
      return port;
    });
    const kafka = new Kafka({ brokers: [...cluster.brokers], logLevel: logLevel.NOTHING });
    admin = kafka.admin();
    producer = kafka.producer();
    await Promise.all([admin.connect(), producer.connect()]);
    // The group's coordinator can be reached in any case.
    const replicaAssignment = [0, 1, 2, 3].map((partition) => ({ partition, replicas: [cluster.first.id] }));
    await createTopics(admin, [
      { topic: "__consumer_offsets", replicaAssignment, configEntries: [{ name: "cleanup.policy", value: "compact" }] },
    ]);
  });
  afterAll(async () => {
    await Promise.all([admin.disconnect(), producer.disconnect()]);
    gates.forEach(({ gate }) => gate.shut());
    await cluster.stop();
  });

  test.for(drivers)(
    "%s reads the partitions of the others, also after a start, and names it until it can be reached",
    { timeout: 240_000 },
    async ([, wait, make], { onTestFinished }) => {
      const topic = uniqueName("unreachable");
      const replicaAssignment = [cluster.first, cluster.second].map(({ id }, partition) => ({ partition, replicas: [id] }));
      await createTopics(admin, [{ topic, replicaAssignment }]);
      const write = async (): Promise<void> => {
        await producer.send({ topic, messages: [0, 1].map((partition) => ({ partition, value: '{"id":1}' })) });
      };
      const second = gates.find(({ port }) => cluster.proxied[1]?.endsWith(`:${port}`));
      if (second === undefined) {
        throw new Error("expected a gate before each broker");
      }
      await write();
      const { consumer, handled, stop } = begin(make([...cluster.proxied]), topic, onTestFinished);
      await vi.waitFor(() => expect(handled).toEqual([1, 1]), 60_000);

      second.gate.shut();
      await write();
      await vi.waitFor(() => expect(consumer.health().waits.map(({ what }) => what)).toContain(wait), { timeout: 15_000, interval: 50 });
      expect(consumer.health().reasons.join()).toMatch(/ECONNREFUSED|Connection refused|Connection closed|not connected/);
      await vi.waitFor(() => expect(handled).toEqual([2, 1]), 30_000);
      await stop();

      await write();
      const next = begin(make([...cluster.proxied]), topic, onTestFinished);
      await vi.waitFor(() => expect(next.handled[0]).toBe(1), 60_000);
      await vi.waitFor(
        () =>
          expect(next.consumer.health().waits).toContainEqual(expect.objectContaining({ what: "the start offset", place: `${topic}[1]` })),
        30_000,
      );

      await second.gate.listen(second.port);
      await vi.waitFor(() => expect(next.handled).toEqual([1, 2]), 60_000);
      await vi.waitFor(() => expect(next.consumer.health()).toMatchObject({ ready: true, waits: [], reasons: [] }), 30_000);
    },
  );
});

/** A consumer, and how many records of each partition it has handled. */
function begin(
  driver: KafkaDriver,
  topic: string,
  onTestFinished: TestContext["onTestFinished"],
): { readonly consumer: Consumer; readonly handled: number[]; readonly stop: () => Promise<void> } {
  const handled = [0, 0];
  const consumer = createConsumer({ driver, groupId: topic, topics: [topic], signals: false, logger: false });
  consumer.on("*", ({ record: { partition } }) => {
    handled[partition] = (handled[partition] ?? 0) + 1;
  });
  const run = consumer.run();
  run.catch(() => {}); // awaited below
  const stop = async (): Promise<void> => {
    await consumer.stop();
    await run;
  };
  onTestFinished(stop);
  return { consumer, handled, stop };
}
