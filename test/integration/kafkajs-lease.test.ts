import { connect } from "node:net";
import { silentLogger } from "@cdckit/consumer";
import { kafkajs } from "@cdckit/kafkajs";
import { ProbeSink } from "@cdckit/testkit";
import { type Admin, Kafka, logLevel } from "kafkajs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTopics, describeWithKafka, uniqueName } from "./stack.ts";

/** Longer than a test: only the answer to a commit can tell that the group has gone on. */
const heartbeatIntervalMs = 60_000;
const sessionTimeoutMs = 120_000;

await describeWithKafka("a member of a group on a real broker", (kafka) => {
  const client = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING, retry: { retries: 2 } });
  const admin: Admin = client.admin();
  const producer = client.producer({ idempotent: true, maxInFlightRequests: 1 });

  beforeAll(async () => {
    await Promise.all([admin.connect(), producer.connect()]);
  });
  afterAll(async () => {
    await Promise.all([admin.disconnect(), producer.disconnect()]);
  });

  test("loses its partitions in the moment in which a commit is refused", async () => {
    const topic = uniqueName("lease");
    const groupId = uniqueName("group");
    await createTopics(admin, [{ topic, numPartitions: 1 }]);
    await producer.send({ topic, messages: [{ value: "a" }, { value: "b" }] });
    const driver = kafkajs({ brokers: [kafka.brokers], heartbeatIntervalMs, sessionTimeoutMs, maxWaitMs: 100 });
    const sink = new ProbeSink();
    // A handler that takes its time: the batch is under way when the group goes on without the member.
    sink.onBatch = () => new Promise(() => {});
    const session = await driver.connect({ groupId, topics: [topic], from: "earliest", logger: silentLogger }, sink);
    await sink.until(({ records }) => records.length >= 2);
    const [assignment] = sink.held;
    const { groups } = await admin.describeGroups([groupId]);
    await leaveGroup(kafka.brokers, groupId, groups[0]?.members[0]?.memberId ?? "");
    const refused = session.commit(assignment === undefined ? [] : [{ assignment, offset: 1n }]);
    await expect(refused).rejects.toMatchObject({ type: "UNKNOWN_MEMBER_ID" });
    expect(sink.revocations).toMatchObject([{ how: "lost" }]);
    await session.close(5_000);
  });

  test("sends a commit once before its first batch, too: a later try could go out in a later generation", async () => {
    const topic = uniqueName("once");
    const groupId = uniqueName("group");
    await createTopics(admin, [{ topic, numPartitions: 1 }]);
    const { kafka: failing, asked } = clientWithFailingCommits(kafka.brokers, 1);
    const sink = new ProbeSink();
    const session = await kafkajs({ kafka: failing }).connect({ groupId, topics: [topic], from: "earliest", logger: silentLogger }, sink);
    await sink.until(({ held }) => held.length > 0);
    const commit = (): Promise<void> => session.commit(sink.held.map((assignment) => ({ assignment, offset: 0n })));
    await expect(commit()).rejects.toThrow("the connection broke");
    expect(asked()).toBe(1);
    await commit();
    const [offsets] = await admin.fetchOffsets({ groupId, topics: [topic] });
    expect([asked(), offsets?.partitions.map(({ offset }) => offset)]).toEqual([2, ["0"]]);
    await session.close(5_000);
  });
});

/** A client whose next commits fail on their way, as on a connection that breaks. `asked`: how many commits there were. */
function clientWithFailingCommits(brokers: string, fails: number): { readonly kafka: Kafka; readonly asked: () => number } {
  const kafka = new Kafka({ brokers: [brokers], logLevel: logLevel.NOTHING });
  const symbol = Object.getOwnPropertySymbols(kafka).find(({ description }) => description === "private:Kafka:createCluster");
  const parts = kafka as unknown as Record<symbol, (options: object) => Coordinators>; // its types do not have it
  const makeCluster = symbol === undefined ? undefined : parts[symbol];
  if (symbol === undefined || makeCluster === undefined) {
    throw new Error("expected kafkajs' way to make a cluster");
  }
  let asked = 0;
  parts[symbol] = (options) => {
    const cluster = makeCluster(options);
    const find = cluster.findGroupCoordinator.bind(cluster);
    cluster.findGroupCoordinator = async (request) => {
      const broker = await find(request);
      const commit = broker.offsetCommit.bind(broker);
      broker.offsetCommit = async (offsets) => {
        asked++;
        return asked > fails ? commit(offsets) : Promise.reject(Object.assign(new Error("the connection broke"), { retriable: true }));
      };
      return broker;
    };
    return cluster;
  };
  return { kafka, asked: () => asked };
}

interface Coordinators {
  findGroupCoordinator(request: unknown): Promise<{ offsetCommit(request: unknown): Promise<unknown> }>;
}

/** Takes a member out of its group, as the coordinator does with one whose session has run out: Kafka's request LeaveGroup, version 1. */
function leaveGroup(brokers: string, groupId: string, memberId: string): Promise<void> {
  const [host = "", port = ""] = brokers.split(":");
  const text = (value: string): Buffer => {
    const bytes = Buffer.from(value);
    const length = Buffer.alloc(2);
    length.writeInt16BE(bytes.length);
    return Buffer.concat([length, bytes]);
  };
  const head = Buffer.from([0, 13, 0, 1, 0, 0, 0, 1]); // key, version, correlation
  const request = Buffer.concat([head, text("test"), text(groupId), text(memberId)]);
  const size = Buffer.alloc(4);
  size.writeInt32BE(request.length);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), host, () => socket.write(Buffer.concat([size, request])));
    socket.once("error", reject);
    socket.once("data", (answer) => {
      socket.end();
      const error = answer.readInt16BE(12); // behind size, correlation and throttle time
      if (error === 0) {
        resolve();
      } else {
        reject(new Error(`LeaveGroup was refused with error ${error}`));
      }
    });
  });
}
