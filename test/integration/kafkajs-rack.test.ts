import { mkdtempSync, rmSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "@cdckit/consumer";
import { kafkajs } from "@cdckit/kafkajs";
import { ProbeSink } from "@cdckit/testkit";
import { type Admin, Kafka, logLevel, type Producer } from "kafkajs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningCluster, startCluster } from "../../scripts/stack/kafka.mjs";
import { BrokerProxy } from "./broker-proxy.ts";
import { kafkaJsClients } from "./kafkajs-clients.ts";
import { missingForKafka } from "./secured-kafka.ts";
import { uniqueName } from "./stack.ts";

/** Stands before a broker, and counts the bytes that it answers. */
class CountingProxy extends BrokerProxy {
  bytes = 0;

  protected answering(client: Socket): (chunk: Buffer) => void {
    return (chunk) => {
      this.bytes += chunk.length;
      client.write(chunk);
    };
  }
}

const skipReason = await missingForKafka();
const recordBytes = 2_000;

describe.skipIf(skipReason !== "")("brokers in three racks", { meta: { skipReason } }, () => {
  const dir = mkdtempSync(join(tmpdir(), "cdckit-racks-"));
  let cluster: RunningCluster;
  let admin: Admin;
  let producer: Producer;

  beforeAll(async () => {
    cluster = await startCluster({ dir, racks: ["a", "b", "c"], config: { "min.insync.replicas": 1 } }); // one of two replicas is gone for a while
    const client = new Kafka({ brokers: cluster.brokers.split(","), logLevel: logLevel.NOTHING });
    admin = client.admin();
    producer = client.producer();
    await Promise.all([admin.connect(), producer.connect()]);
  });
  afterAll(async () => {
    await Promise.all([admin?.disconnect(), producer?.disconnect()]);
    await cluster?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  test.each(kafkaJsClients)("%s: records come from the replica of the reader's rack, all of them and in order", async (_, reach) => {
    const topic = uniqueName("rack");
    // Led by the first node, in rack a. The second has a replica.
    await admin.createTopics({ topics: [{ topic, replicaAssignment: [{ partition: 0, replicas: [1, 2] }] }], waitForLeaders: true });
    const proxies = new Map(cluster.nodes.map(({ port }) => [port, new CountingProxy(port)]));
    const ports = new Map<number, number>();
    for (const [port, proxy] of proxies) {
      ports.set(port, await proxy.listen());
    }
    const written: string[] = [];
    const write = async (count: number): Promise<void> => {
      const values = Array.from({ length: count }, (_, i) => String(written.length + i).padStart(recordBytes, "x"));
      await producer.send({ topic, messages: values.map((value) => ({ value })), acks: -1 });
      written.push(...values);
    };
    await write(300);
    const sink = new ProbeSink();
    const driver = kafkajs({
      ...reach({ brokers: cluster.brokers.split(",") }, ({ host, port }) => ({ host, port: ports.get(port) ?? port })),
      rackId: "b",
      maxWaitMs: 100,
      maxBytesPerPartition: 50_000,
    });
    const session = await driver.connect({ groupId: uniqueName("group"), topics: [topic], from: "earliest", logger: silentLogger }, sink);
    await sink.until(({ records, failures }) => failures.length > 0 || records.length >= 300);
    await write(300);
    await sink.until(({ records, failures }) => failures.length > 0 || records.length >= 600);
    await session.close(10_000);
    expect(sink.failures).toEqual([]);
    expect(sink.records.map(({ value }) => Buffer.from(value ?? []).toString())).toEqual(written);
    const [leader, replica] = cluster.nodes.map(({ port }) => proxies.get(port)?.bytes ?? 0);
    expect(replica).toBeGreaterThan(600 * recordBytes);
    expect(leader).toBeLessThan(100 * recordBytes);
    proxies.forEach((proxy) => proxy.close());
  });

  test("records come from the leader soon after the replica of the reader's rack is gone, however old metadata may get", async () => {
    const topic = uniqueName("rack");
    await admin.createTopics({ topics: [{ topic, replicaAssignment: [{ partition: 0, replicas: [1, 2] }] }], waitForLeaders: true });
    const write = (): Promise<unknown> => producer.send({ topic, messages: [{ value: "{}" }], acks: 1 });
    await write();
    const sink = new ProbeSink();
    const driver = kafkajs({ brokers: cluster.brokers.split(","), rackId: "b", maxWaitMs: 100, metadataMaxAgeMs: 600_000 });
    const session = await driver.connect({ groupId: uniqueName("group"), topics: [topic], from: "earliest", logger: silentLogger }, sink);
    await sink.until(({ records }) => records.length === 1);
    await cluster.nodes[1]?.crash();
    await write();
    // The first one comes again if the broker was the group's coordinator, too.
    await sink.until(({ records, failures }) => failures.length > 0 || records.at(-1)?.offset === 1n);
    expect(sink.failures).toEqual([]);
    await session.close(10_000);
  });
});
