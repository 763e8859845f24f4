import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DriverSession, type PartitionAssignment, silentLogger } from "@cdckit/consumer";
import { isPlatformaticDriverError, platformatic, type PlatformaticOptions } from "@cdckit/platformatic";
import { ProbeSink } from "@cdckit/testkit";
import { Admin, Connection, joinGroupV9 } from "@platformatic/kafka";
import { Kafka, logLevel } from "kafkajs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type KafkaOptions, startKafka } from "../../scripts/stack/kafka.mjs";
import { oldKafkaJars, versions } from "../../scripts/stack/versions.mjs";
import { platformaticClients } from "./platformatic-clients.ts";
import { missingForKafka } from "./secured-kafka.ts";
import { createTopics, describeWithKafka, uniqueName } from "./stack.ts";

interface Member {
  readonly sink: ProbeSink;
  readonly session: DriverSession;
}

async function joined(options: PlatformaticOptions, topic: string, groupId: string, prepare?: (sink: ProbeSink) => void): Promise<Member> {
  const sink = new ProbeSink();
  prepare?.(sink);
  const session = await platformatic(options).connect({ groupId, topics: [topic], from: "earliest", logger: silentLogger }, sink);
  return { sink, session };
}

function closed(...members: readonly Member[]): Promise<unknown> {
  return Promise.all(members.map(({ session }) => session.close(5_000)));
}

/** Which partitions each member was given by the group and has not given up. */
function heldBy(...members: readonly Member[]): readonly number[] {
  return members.flatMap(({ sink }) => sink.held.map(({ partition }) => partition)).sort((a, b) => a - b);
}

for (const { major, ...client } of platformaticClients) {
  await describeWithKafka(
    `groups of KIP-848 with @platformatic/kafka ${major}`,
    (kafka) => {
      const admin = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING }).admin();
      const classic = { brokers: [kafka.brokers], heartbeatIntervalMs: 100, sessionTimeoutMs: 6_000, maxWaitMs: 100, ...client } as const;
      const fast = { brokers: [kafka.brokers], groupProtocol: "consumer", maxWaitMs: 100, ...client } as const;
      beforeAll(() => admin.connect());
      afterAll(() => admin.disconnect());

      async function topicOf(numPartitions: number): Promise<string> {
        const topic = uniqueName("consumer-groups");
        await createTopics(admin, [{ topic, numPartitions }]);
        return topic;
      }

      test("the group is one of the consumer protocol, and its session timeout is the brokers'", async () => {
        const groupId = uniqueName("group");
        const member = await joined(fast, await topicOf(1), groupId);
        await member.sink.until(({ starts, acknowledgements }) => starts.length === 1 && acknowledgements.length > 1);
        const logs = new Admin({ clientId: "groups", bootstrapBrokers: [kafka.brokers] });
        const groups = await logs.listGroups({ types: ["consumer"] });
        await logs.close();
        expect([...groups.keys()]).toContain(groupId);
        expect(member.sink.acknowledgements.every((validForMs) => validForMs > 0 && validForMs <= 6_000)).toBe(true);
        await closed(member);
      });

      test("a rebalance takes only the partitions that move", async () => {
        const topic = await topicOf(4);
        const groupId = uniqueName("group");
        const first = await joined(fast, topic, groupId);
        await first.sink.until(({ held }) => held.length === 4);
        const kept: readonly PartitionAssignment[] = first.sink.held;
        const second = await joined(fast, topic, groupId);
        await Promise.all([first, second].map(({ sink }) => sink.until(({ held }) => held.length === 2)));
        expect(first.sink.held.every((assignment) => kept.includes(assignment))).toBe(true);
        expect(heldBy(first, second)).toEqual([0, 1, 2, 3]);
        await second.session.close(5_000);
        await first.sink.until(({ held }) => held.length === 4);
        await closed(first);
      });

      test("nobody gets a partition before its owner has let go of it, and meanwhile the owner stays in the group", async () => {
        const topic = await topicOf(2);
        const groupId = uniqueName("group");
        let letGo = (): void => {};
        const first = await joined(fast, topic, groupId, (sink) => {
          sink.onRevoked = () => new Promise<void>((resolve) => (letGo = resolve));
        });
        await first.sink.until(({ held }) => held.length === 2);
        const second = await joined(fast, topic, groupId);
        await first.sink.until(({ revocations }) => revocations.length === 1);
        const soFar = first.sink.acknowledgements.length;
        await first.sink.until(({ acknowledgements }) => acknowledgements.length > soFar + 3);
        expect(second.sink.held).toEqual([]);
        letGo();
        await second.sink.until(({ held }) => held.length === 1);
        expect(first.sink.revocations).toHaveLength(1);
        await closed(first, second);
      });

      test("the group removes a member that does not let go within the rebalance timeout: all is lost, and it joins again", async () => {
        const topic = await topicOf(2);
        const groupId = uniqueName("group");
        const going: (() => void)[] = [];
        const first = await joined({ ...fast, rebalanceTimeoutMs: 1_000 }, topic, groupId, (sink) => {
          sink.onRevoked = () => new Promise<void>((resolve) => going.push(resolve));
        });
        await first.sink.until(({ held }) => held.length === 2);
        const second = await joined(fast, topic, groupId);
        await first.sink.until(({ revocations }) => revocations.some(({ how }) => how === "lost"));
        going.forEach((letGo) => letGo());
        await Promise.all([first, second].map(({ sink }) => sink.until(({ held }) => held.length === 1)));
        expect(heldBy(first, second)).toEqual([0, 1]);
        await closed(first, second);
      });

      test("a static member that comes back takes nothing from another, and one whose id is taken says so", async () => {
        const topic = await topicOf(2);
        const groupId = uniqueName("group");
        const first = await joined({ ...fast, groupInstanceId: "one" }, topic, groupId);
        await first.sink.until(({ held }) => held.length === 2);
        const second = await joined({ ...fast, groupInstanceId: "two" }, topic, groupId);
        await Promise.all([first, second].map(({ sink }) => sink.until(({ held }) => held.length === 1)));
        const before = heldBy(second);
        const revoked = first.sink.revocations.length;
        await closed(second);
        const again = await joined({ ...fast, groupInstanceId: "two" }, topic, groupId);
        await again.sink.until(({ held }) => held.length === 1);
        expect([heldBy(again), first.sink.revocations.length]).toEqual([before, revoked]);
        const usurper = await joined({ ...fast, groupInstanceId: "one" }, topic, groupId);
        await usurper.sink.until(({ failures }) => failures.length > 0);
        expect(usurper.sink.failures[0]).toMatchObject({ code: "fenced", message: expect.stringContaining("groupInstanceId") as string });
        expect([first.sink.failures, heldBy(first, again)]).toEqual([[], [0, 1]]);
        await closed(first, again, usurper);
      });

      test("members change from the classic protocol to the new one while others read", async () => {
        const topic = await topicOf(4);
        const groupId = uniqueName("group");
        const old = await joined(classic, topic, groupId);
        await old.sink.until(({ held }) => held.length === 4);
        const renewed = await joined(fast, topic, groupId);
        await Promise.all([old, renewed].map(({ sink }) => sink.until(({ held }) => held.length === 2)));
        expect(heldBy(old, renewed)).toEqual([0, 1, 2, 3]);
        await closed(old);
        await renewed.sink.until(({ held }) => held.length === 4);
        expect([old.sink.failures, renewed.sink.failures]).toEqual([[], []]);
        await closed(renewed);
      });

      test("a group that is not one of consumers is an error that says what to do", async () => {
        const groupId = uniqueName("group");
        const leave = await joinAsConnect(kafka.brokers, groupId);
        const member = await joined(fast, await topicOf(1), groupId);
        await member.sink.until(({ failures }) => failures.length > 0);
        expect(member.sink.failures[0]).toMatchObject({
          code: "group-protocol-unsupported",
          message: expect.stringMatching(/has members of the classic protocol.*Stop them all/) as string,
        });
        await closed(member);
        await leave();
      });
    },
    { concurrent: true },
  );
}

const skipReason = await missingForKafka();

describe.skipIf(skipReason !== "")("a broker that has only the classic protocol", { meta: { skipReason }, concurrent: true }, () => {
  test.each<[string, Pick<KafkaOptions, "config" | "jars">]>([
    ["switched off", { config: { "group.coordinator.rebalance.protocols": "classic" } }],
    [`Kafka ${versions.oldKafka}`, { jars: oldKafkaJars }],
  ])("refuses the start, and the error says what to do: %s", async (_, broker) => {
    const dir = mkdtempSync(join(tmpdir(), "cdckit-classic-"));
    const kafka = await startKafka({ dir, ...broker });
    try {
      const admin = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING }).admin();
      await admin.connect();
      await createTopics(admin, [{ topic: "rows" }]);
      await admin.disconnect();
      for (const { major: __, ...client } of platformaticClients) {
        const options = { brokers: [kafka.brokers], ...client } as const;
        const failure: unknown = await joined({ ...options, groupProtocol: "consumer" }, "rows", "group").catch((error: unknown) => error);
        expect(isPlatformaticDriverError(failure)).toBe(true);
        expect(failure).toMatchObject({
          code: "group-protocol-unsupported",
          message: expect.stringMatching(/Kafka 4\.0 or newer.*Leave groupProtocol out/) as string,
        });
        const member = await joined(options, "rows", "group");
        await member.sink.until(({ starts }) => starts.length === 1);
        await closed(member);
      }
    } finally {
      await kafka.stop();
      rmSync(dir, { recursive: true, force: true });
    }
  });
});

/** Joins as a worker of Kafka Connect does. Returns what ends it. */
async function joinAsConnect(brokers: string, groupId: string): Promise<() => Promise<void>> {
  const [host = "", port = ""] = brokers.split(":");
  const connection = new Connection("worker");
  await connection.connect(host, Number(port));
  const joinAs = (memberId: string) =>
    joinGroupV9.api.async(
      connection,
      groupId,
      60_000,
      60_000,
      memberId,
      null,
      "connect",
      [{ name: "default", metadata: Buffer.alloc(1) }],
      "",
    );
  await joinAs("").catch((error: unknown) => joinAs((error as { readonly response: { readonly memberId: string } }).response.memberId));
  return () => connection.close();
}
