import { silentLogger } from "@cdckit/consumer";
import { platformatic } from "@cdckit/platformatic";
import { ProbeSink } from "@cdckit/testkit";
import * as one from "@platformatic/kafka";
import { type Admin, Kafka, logLevel, type Producer } from "kafkajs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { platformaticClients } from "./platformatic-clients.ts";
import { type RackCluster, startRackCluster } from "./rack-cluster.ts";
import { missingForKafka } from "./secured-kafka.ts";
import { createTopics, uniqueName } from "./stack.ts";

const skipReason = await missingForKafka();

/** A fetch that was answered: by which broker, and whether with records. */
interface AnsweredFetch {
  readonly port: number;
  readonly bytes: number;
}

/** The client, and what its fetches were answered. */
function watched(client: typeof one, fetches: AnsweredFetch[]): object {
  class WatchedConnection extends client.Connection {
    at = 0;
    override connect(host: string, port: number): Promise<void> {
      this.at = port;
      return super.connect(host, port) as unknown as Promise<void>;
    }
  }
  const createAPI = (key: number, version: number, request: never, parse: never): object => {
    const api = client.createAPI(key, version, request, parse) as unknown as { async: (...values: unknown[]) => Promise<unknown> };
    const answered = async (connection: WatchedConnection, ...values: unknown[]): Promise<unknown> => {
      const answer = await api.async(connection, ...values);
      const { partitions = [] } = answer as { readonly partitions?: readonly { readonly bytes: Buffer }[] };
      fetches.push({ port: connection.at, bytes: partitions.reduce((sum, { bytes }) => sum + bytes.length, 0) });
      return answer;
    };
    return { ...api, async: answered };
  };
  return { ...client, Connection: WatchedConnection, createAPI };
}

describe.skipIf(skipReason !== "")("brokers in two racks", { meta: { skipReason } }, () => {
  let cluster: RackCluster;
  let admin: Admin;
  let producer: Producer;

  beforeAll(async () => {
    cluster = await startRackCluster();
    const kafka = new Kafka({ brokers: [...cluster.brokers], logLevel: logLevel.NOTHING });
    admin = kafka.admin();
    producer = kafka.producer({ retry: { retries: 20 } });
    await Promise.all([admin.connect(), producer.connect()]);
  });
  afterAll(async () => {
    await Promise.all([admin.disconnect(), producer.disconnect()]);
    await cluster.stop();
  });

  async function produce(topic: string, count: number): Promise<void> {
    await producer.send({ topic, acks: -1, messages: Array.from({ length: count }, (_, i) => ({ value: `${i}` })) });
  }

  /** A topic that the first broker leads, with a replica on the second, and 50 records. */
  async function topicOfFirst(): Promise<string> {
    const topic = uniqueName("racks");
    const replicaAssignment = [{ partition: 0, replicas: [cluster.first.id, cluster.second.id] }];
    await createTopics(admin, [{ topic, replicaAssignment }]);
    await produce(topic, 50);
    return topic;
  }

  for (const { major, client = () => Promise.resolve(one) } of platformaticClients) {
    test(`client ${major}: a partition is read from the replica in the rack, and from its leader while that is gone`, async () => {
      const topic = await topicOfFirst();
      const { first, second } = cluster;
      const fetches: AnsweredFetch[] = [];
      const sink = new ProbeSink();
      const driver = platformatic({
        brokers: cluster.brokers,
        client: watched((await client()) as typeof one, fetches),
        rackId: second.rack,
        maxWaitMs: 100,
        metadataMaxAgeMs: 500,
      });
      const session = await driver.connect({ groupId: uniqueName("group"), topics: [topic], from: "earliest", logger: silentLogger }, sink);
      await sink.until(({ records }) => records.length === 50);
      expect(sourcesOf(fetches)).toEqual([second.port]);

      // The leader is asked again when its word is too old.
      const asked = (): number => fetches.filter(({ port }) => port === first.port).length;
      const soFar = asked();
      await sink.until(() => asked() > soFar);

      const before = fetches.length;
      await cluster.crashSecond();
      await produce(topic, 50);
      await sink.until(({ records }) => records.length === 100);
      expect(sourcesOf(fetches.slice(before))).toEqual([first.port]);
      expect(sink.records.map(({ offset }) => Number(offset))).toEqual(Array.from({ length: 100 }, (_, i) => i));

      await cluster.startSecond();
      const after = fetches.length;
      for (let sent = 100; !sourcesOf(fetches.slice(after)).includes(second.port); sent++) {
        await produce(topic, 1);
        await sink.until(({ records }) => records.length > sent);
      }
      expect(sink.failures).toEqual([]);
      await session.close(5_000);
    });

    test(`client ${major}: without rackId the leader is read`, async () => {
      const topic = await topicOfFirst();
      const fetches: AnsweredFetch[] = [];
      const sink = new ProbeSink();
      const driver = platformatic({ brokers: cluster.brokers, client: watched((await client()) as typeof one, fetches) });
      const session = await driver.connect({ groupId: uniqueName("group"), topics: [topic], from: "earliest", logger: silentLogger }, sink);
      await sink.until(({ records }) => records.length === 50);
      expect(sourcesOf(fetches)).toEqual([cluster.first.port]);
      await session.close(5_000);
    });
  }
});

/** The ports of the brokers from which records came. */
function sourcesOf(fetches: readonly AnsweredFetch[]): readonly number[] {
  return [...new Set(fetches.flatMap(({ port, bytes }) => (bytes > 0 ? [port] : [])))];
}
