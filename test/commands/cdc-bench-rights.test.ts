import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pass } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import {
  type AclEntry,
  type Admin,
  AclOperationTypes,
  AclPermissionTypes,
  AclResourceTypes,
  Kafka,
  logLevel,
  ResourcePatternTypes,
  type TopicMessages,
} from "kafkajs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { missingForKafka, password, type SecuredKafka, startSecuredKafka, username } from "../integration/secured-kafka.ts";
import { createTopics } from "../integration/stack.ts";

/** The program as users start it; it runs what the build made. */
const binary = fileURLToPath(new URL("../../packages/cdc-bench/bin/cdc-bench.js", import.meta.url));
/** The user may read it. */
const readable = "rights.readable";
/** The user may see it, and not read it. */
const seen = "rights.seen";
/** The user may not see it. */
const hidden = "rights.hidden";

/** Where the program writes down what it makes. */
const state = mkdtempSync(join(tmpdir(), "cdckit-rights-"));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const skipReason = await missingForKafka();

describe.skipIf(skipReason !== "")("cdc-bench for a user without all rights", { meta: { skipReason } }, () => {
  let kafka: SecuredKafka;
  let admin: Admin;

  beforeAll(async () => {
    kafka = await startSecuredKafka({
      "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
      "super.users": "User:ANONYMOUS", // the listener without a login: the broker's own, and that of this test
    });
    const client = new Kafka({ brokers: [kafka.plain], logLevel: logLevel.NOTHING });
    admin = client.admin();
    await admin.connect();
    await createTopics(
      admin,
      [readable, seen, hidden].map((topic) => ({ topic, numPartitions: 1 })),
    );
    const messages = [{ value: '{"id":1}' }];
    await produce([readable, seen].map((topic) => ({ topic, messages })));
    await allow(readable, AclOperationTypes.READ);
    await allow(seen, AclOperationTypes.DESCRIBE);
    await untilSeen();
  });

  afterAll(async () => {
    await admin.disconnect();
    await kafka.stop();
    rmSync(state, { recursive: true });
  });

  async function produce(topicMessages: TopicMessages[]): Promise<void> {
    const producer = new Kafka({ brokers: [kafka.plain], logLevel: logLevel.NOTHING }).producer();
    await producer.connect();
    await producer.sendBatch({ topicMessages });
    await producer.disconnect();
  }

  function allow(topic: string, operation: AclOperationTypes): Promise<void> {
    return allowOn(
      { resourceType: AclResourceTypes.TOPIC, resourceName: topic, resourcePatternType: ResourcePatternTypes.LITERAL },
      operation,
    );
  }

  async function allowOn(
    resource: Pick<AclEntry, "resourceType" | "resourceName" | "resourcePatternType">,
    operation: AclOperationTypes,
  ): Promise<void> {
    await admin.createAcls({
      acl: [{ ...resource, operation, principal: `User:${username}`, host: "*", permissionType: AclPermissionTypes.ALLOW }],
    });
  }

  /** A broker hears of new rights a moment after they are given. */
  async function untilSeen(): Promise<void> {
    const sasl = { mechanism: "plain", username, password } as const;
    const user = new Kafka({ brokers: [kafka.sasl], sasl, logLevel: logLevel.NOTHING }).admin();
    await user.connect();
    while ((await user.listTopics()).length < 2) {
      await pass(50);
    }
    await user.disconnect();
  }

  function cdcBench(args: readonly string[]): Promise<Ended> {
    return new Promise((resolve, reject) => {
      const login = ["--brokers", kafka.sasl, "--sasl-mechanism", "plain", "--sasl-username", username, "--log-level", "silent"];
      const child = spawn(process.execPath, [binary, ...args, ...login], {
        env: { PATH: process.env["PATH"], KAFKA_SASL_PASSWORD: password, XDG_STATE_HOME: state },
      });
      const printed = { stdout: "", stderr: "" };
      child.stdout.on("data", (chunk: Buffer) => (printed.stdout += chunk.toString()));
      child.stderr.on("data", (chunk: Buffer) => (printed.stderr += chunk.toString()));
      child.on("error", reject);
      child.on("close", (code) => resolve({ ...printed, code }));
    });
  }

  test("a topic that the user may not see is no mistake in its name", async () => {
    const refused = /the user may not do this \(topic\): it needs Describe and Read on the topic rights\.hidden/;
    const [inspected, checked] = [await cdcBench(["inspect", "-t", hidden]), await cdcBench(["doctor", "-t", hidden])];
    expect(inspected).toEqual({ code: 3, stdout: "", stderr: expect.stringMatching(refused) as string });
    expect(checked).toMatchObject({ code: 3, stdout: expect.stringMatching(refused) as string });
    expect(checked.stdout).not.toContain("names are case-sensitive");
  });

  test("a group that the user may not see is named, and no broker is called unreachable", async () => {
    const { code, stderr } = await cdcBench(["offsets", "--group", "stock"]);
    expect(code).toBe(3);
    expect(stderr).toMatch(/the user may not do this \(group\): it needs Describe on the group stock/);
  });

  test("doctor ends as other commands do if the records may not be read, and does not blame them", async () => {
    for (const topic of [readable, seen]) {
      const { code, stdout } = await cdcBench(["doctor", "-t", topic]);
      expect([code, topic], stdout).toEqual([3, topic]);
      expect(stdout).toMatch(/PROBLEM +decode +\[not-authorized\] /);
      expect(stdout).not.toContain("inspect --explain");
    }
  });

  test("who may not make a topic hears of the right, and not of brokers that are away", async () => {
    const { code, stderr } = await cdcBench(["produce", "--prefix", "made", "--formats", "json", "--rows", "10", "--create-topics"]);
    expect(code).toBe(3);
    expect(stderr).toMatch(/the user may not do this \(topic\): it needs Create on the topics made-json\.sales\.salesorderdetail/);
  });

  test("a redrive to a topic that the user may not see passes no dead letter over", async () => {
    const [dead, groupId] = ["rights.dead", "redriven"];
    await createTopics(admin, [{ topic: dead, numPartitions: 1 }]);
    await allow(dead, AclOperationTypes.READ);
    await allowOn(
      { resourceType: AclResourceTypes.GROUP, resourceName: groupId, resourcePatternType: ResourcePatternTypes.LITERAL },
      AclOperationTypes.READ,
    );
    const headers = { "__connect.errors.topic": hidden, "__connect.errors.partition": "0", "__connect.errors.offset": "0" };
    await produce([{ topic: dead, messages: [{ value: "{}", headers }] }]);
    let ended = await cdcBench(["redrive", "-t", dead, "--group", groupId]);
    while (ended.stderr.includes(dead) || ended.stderr.includes("(group)")) {
      ended = await cdcBench(["redrive", "-t", dead, "--group", groupId]); // the broker has not heard of the new rights
    }
    expect(ended.code, ended.stdout).toBe(3);
    expect(ended.stderr).toMatch(/it needs Describe and Write on the topic rights\.hidden, if there is one/);
    expect((await admin.fetchOffsets({ groupId, topics: [dead] }))[0]?.partitions).toMatchObject([{ offset: "-1" }]);
  });

  test("without the right to delete groups, commands measure, and say once that their groups stay", async () => {
    const groups = { resourceType: AclResourceTypes.GROUP, resourceName: "cdc-bench-", resourcePatternType: ResourcePatternTypes.PREFIXED };
    await allowOn(groups, AclOperationTypes.READ);
    let read = await cdcBench(["run", "-t", readable]);
    while (read.code === 3) {
      read = await cdcBench(["run", "-t", readable]); // the broker has not heard of the new right
    }
    expect(read.code, read.stderr).toBe(0);
    expect(read.stderr.split("groups named cdc-bench-* stay until the brokers forget them")).toHaveLength(2);
    const sweep = ["sweep", "-t", readable, "--dimensions", "concurrency", "--rounds", "1", "--point-time", "200ms", "--time-limit", "3s"];
    const { code, stdout, stderr } = await cdcBench(sweep);
    expect(code, stderr).toBe(0);
    expect(stdout).toContain("concurrency");
    const [line, ...others] = stderr.split("\n").filter((each) => each.startsWith("could not remove "));
    expect(line).toMatch(
      /consumer group cdc-bench-sweep-\S+ at .*: the brokers do not delete it \(GROUP_AUTHORIZATION_FAILED\): the login needs Delete on/,
    );
    expect(others).toEqual([]);
  });

  // docs/security.md names these rights. It is the last test: they stay.
  test("commands that make topics need no more than rights on what is named cdc-bench-*", async () => {
    const named = { resourceName: "cdc-bench-", resourcePatternType: ResourcePatternTypes.PREFIXED };
    const topics = { ...named, resourceType: AclResourceTypes.TOPIC };
    const { CREATE, DELETE, READ, WRITE } = AclOperationTypes;
    await Promise.all([READ, DELETE].map((operation) => allowOn({ ...named, resourceType: AclResourceTypes.GROUP }, operation)));
    await Promise.all([CREATE, DELETE, READ].map((operation) => allowOn(topics, operation)));
    const small = ["-n", "2000", "--partitions", "1", "--writers", "2"];
    const commands: readonly (readonly string[])[] = [
      ["drain", ...small, "--checkpoint-events", "200", "--rounds", "1"],
      ["soak", ...small, "--formats", "json", "-d", "2s"],
    ];
    for (const command of commands) {
      let ended = await cdcBench(command);
      while (/needs (Create|Describe and Read)/.test(ended.stderr)) {
        ended = await cdcBench(command); // the broker has not heard of the new rights
      }
      expect([command[0], ended.code], ended.stderr).toEqual([command[0], 3]);
      expect(ended.stderr).toMatch(/the user may not do this \(topic\): it needs Describe and Write on the topic cdc-bench-/);
    }
    await allowOn(topics, WRITE);
    for (const command of commands) {
      let ended = await cdcBench(command);
      while (ended.stderr.includes("needs Describe and Write")) {
        ended = await cdcBench(command);
      }
      expect([command[0], ended.code], ended.stderr).toEqual([command[0], 0]);
      expect(ended.stderr).not.toContain("could not remove");
    }
    expect((await admin.listTopics()).filter((topic) => topic.startsWith("cdc-bench-"))).toEqual([]);
  });
});
