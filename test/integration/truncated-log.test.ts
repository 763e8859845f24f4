import { spawn } from "node:child_process";
import { once } from "node:events";
import { statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { createConsumer, silentLogger } from "@cdckit/consumer";
import { platformatic } from "@cdckit/platformatic";
import { type Admin, Kafka, logLevel, type Producer } from "kafkajs";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { skipReason as noConfluent } from "./confluent-native.ts";
import { platformaticClients } from "./platformatic-clients.ts";
import { type RackCluster, startRackCluster } from "./rack-cluster.ts";
import { missingForKafka } from "./secured-kafka.ts";
import { createTopics, uniqueName } from "./stack.ts";

const skipReason = await missingForKafka();
const memberScript = join(import.meta.dirname, "confluent-member.mjs");
const tuning = { heartbeatIntervalMs: 300, maxWaitMs: 100, metadataMaxAgeMs: 1_000 } as const;

describe.skipIf(skipReason !== "")("a log whose end is lost with its only broker", { meta: { skipReason } }, () => {
  let cluster: RackCluster;
  let admin: Admin;
  let producer: Producer;

  beforeAll(async () => {
    cluster = await startRackCluster();
    const kafka = new Kafka({ brokers: [`127.0.0.1:${cluster.first.port}`], logLevel: logLevel.NOTHING });
    admin = kafka.admin();
    producer = kafka.producer({ metadataMaxAge: 500, retry: { retries: 20 } });
    await Promise.all([admin, producer].map((client) => client.connect()));
  });
  afterAll(async () => {
    await Promise.all([admin, producer].map((client) => client.disconnect()));
    await cluster.stop();
  });

  const write = async (topic: string, count: number): Promise<void> => {
    for (let written = 0; written < count; written++) {
      await producer.send({ topic, messages: [{ value: '{"id":1}' }] }); // a batch for each record
    }
  };
  /** Ends the log of the second broker after three records, as after a power failure: what the broker had not written to its disk is gone. */
  const truncate = async (topic: string, keptBytes: number): Promise<void> => {
    await cluster.crashSecond();
    truncateSync(cluster.segmentOfSecond(topic), keptBytes);
    await cluster.startSecond();
    await write(topic, 4); // from 3 on: the record at 5, where the group goes on, is another one than it would have been
  };

  test.each(platformaticClients)(
    "halts a member that starts after it, although other records have its offsets: platformatic $major",
    {
      timeout: 180_000,
    },
    async ({ major: _, ...client }) => {
      const topic = uniqueName("truncated");
      const groupId = uniqueName("truncated");
      await createTopics(admin, [{ topic, replicaAssignment: [{ partition: 0, replicas: [cluster.second.id] }] }]);
      const begin = () => {
        const driver = platformatic({ brokers: cluster.brokers, ...tuning, ...client });
        const consumer = createConsumer({ driver, groupId, topics: [topic], signals: false, logger: silentLogger });
        const offsets: bigint[] = [];
        consumer.on("*", ({ record }) => void offsets.push(record.offset));
        const run = consumer.run();
        onTestFinished(async () => {
          await consumer.stop();
          await run.catch(() => {});
        });
        return { consumer, offsets, run };
      };
      await write(topic, 3);
      const keptBytes = statSync(cluster.segmentOfSecond(topic)).size;
      await write(topic, 2);
      const before = begin();
      await vi.waitFor(() => expect(before.offsets).toEqual([0n, 1n, 2n, 3n, 4n]), 60_000);
      await before.consumer.stop();
      await before.run;

      await truncate(topic, keptBytes);

      const after = begin();
      await expect(after.run).rejects.toThrow(
        expect.objectContaining({
          code: "offset-out-of-range",
          message: expect.stringContaining(`${topic}[0]: the log ends at 3, before offset 5 at which group ${groupId} continues`),
        }),
      );
      expect(after.offsets).toEqual([]);
    },
  );

  test.skipIf(noConfluent !== null)(
    "halts a member that was reading it, although the log has grown past its offset before the member is connected again: confluent",
    { timeout: 180_000, meta: noConfluent === null ? {} : { skipReason: noConfluent } },
    async () => {
      const topic = uniqueName("truncated");
      await createTopics(admin, [{ topic, replicaAssignment: [{ partition: 0, replicas: [cluster.second.id] }] }]);
      await write(topic, 3);
      const keptBytes = statSync(cluster.segmentOfSecond(topic)).size;
      await write(topic, 2);
      const member = spawn(process.execPath, [memberScript, cluster.brokers.join(), topic, uniqueName("truncated")], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      onTestFinished(() => void member.kill("SIGKILL"));
      let said = "";
      member.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
      await vi.waitFor(() => expect(said).toBe("0\n1\n2\n3\n4\n"), 60_000);
      member.kill("SIGSTOP"); // it sees nothing of the log before the writes
      await truncate(topic, keptBytes);
      member.kill("SIGCONT");
      await once(member, "close");
      expect(said).toMatch(/^0\n1\n2\n3\n4\n\[offset-out-of-range\] .*: the log ends at 4, before offset 5 at which group/);
    },
  );
});
