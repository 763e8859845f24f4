import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { setTimeout as pass } from "node:timers/promises";
import { promisify } from "node:util";
import { Kafka, logLevel } from "kafkajs";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { expectValidResult } from "../integration/result-schema.ts";
import { createTopics, describeWithKafka, uniqueName } from "../integration/stack.ts";

/** The program as users start it; it runs what the build made. */
const binary = fileURLToPath(new URL("../../packages/cdc-bench/bin/cdc-bench.js", import.meta.url));
const run = promisify(execFile);
/** A member whose last heartbeat is older sends one at once. */
const heartbeatMs = 3_500;

/** What is looked at of the result. */
interface Result {
  readonly group: {
    readonly elapsedMs: number;
    readonly recordsPerSecond: number;
    readonly broker: { readonly cpuShare: number } | null;
    readonly processes: readonly {
      readonly number: number;
      readonly partitions: number;
      readonly records: number;
      readonly share: number;
    }[];
  };
  readonly metrics: readonly unknown[];
  readonly notes: readonly string[];
}

await describeWithKafka("cdc-bench run --processes", (kafka) => {
  const client = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING });
  const admin = client.admin();
  const producer = client.producer({
    createPartitioner:
      () =>
      ({ message }) =>
        Number(message.key) % 4,
  });
  const records = 4_000;
  const topic = uniqueName("processes");

  beforeAll(async () => {
    await Promise.all([admin.connect(), producer.connect()]);
    await createTopics(admin, [{ topic, numPartitions: 4 }]);
    const messages = Array.from({ length: records }, (_, id) => ({ key: `${id}`, value: JSON.stringify({ id, name: `row ${id}` }) }));
    await producer.send({ topic, messages });
  });
  afterAll(async () => {
    await Promise.all([admin.disconnect(), producer.disconnect()]);
  });

  test("handles each record in one of the processes, and measures them together and each", async () => {
    const args = ["run", "--brokers", kafka.brokers, "--topics", topic, "--processes", "2", "--json"];
    const running = run(process.execPath, [binary, ...args], { env: { PATH: process.env["PATH"] } });
    const { stdout } = await running;
    const result = expectValidResult(stdout) as unknown as Result; // its schema says so
    const { group } = result;
    expect(group).toMatchObject({ outcome: "end-reached", records, events: records, errorRecords: 0 });
    expect(group.processes.map(({ number, partitions, records: own, share }) => [number, partitions, own, share])).toEqual([
      [1, 2, records / 2, 0.5],
      [2, 2, records / 2, 0.5],
    ]);
    expect(group.recordsPerSecond).toBeCloseTo((records / group.elapsedMs) * 1e3, 6);
    // The broker of the tests is on this machine.
    if (process.platform === "linux") {
      expect(group.broker?.cpuShare).toBeGreaterThanOrEqual(0);
    }
    expect(result.metrics).toContainEqual({ name: "rate", scope: "2 processes", value: group.recordsPerSecond });
    expect(result.notes.join()).not.toContain("rebalanced");
    const { groups } = await admin.listGroups();
    // Other tests have groups on this broker, too.
    const own = `cdc-bench-${running.child.pid}-`;
    expect(groups.filter(({ groupId }) => groupId.startsWith(own)).map(({ groupId }) => groupId)).toEqual([]);
  });

  test("that gets SIGTERM with all of its processes, as from timeout, gives what it has, with exit code 130", async () => {
    const args = ["run", "--brokers", kafka.brokers, "--topics", topic, "--processes", "2", "--json"];
    // Detached: a group of its own, which the signal is for. The pipe reports at once what stderr shows only every few seconds.
    const env = { PATH: process.env["PATH"], CDC_BENCH_OBSERVE_FD: "3" };
    const child = spawn(process.execPath, [binary, ...args], { env, detached: true, stdio: ["ignore", "pipe", "pipe", "pipe"] });
    let [stdout, stderr, observed] = ["", "", ""];
    let isSignalled = false;
    child.stdout!.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr!.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    child.stdio[3]!.on("data", (chunk: Buffer) => {
      observed += chunk.toString();
      // Once: a second signal ends the process before it has written what it has.
      if (!isSignalled && observed.includes("2 processes, one group")) {
        isSignalled = true;
        process.kill(-child.pid!, "SIGTERM");
      }
    });
    const [code] = (await once(child, "close")) as [number | null];
    expect(code, stderr).toBe(130);
    const result = expectValidResult(stdout) as unknown as Result & { readonly aborted: boolean };
    expect(result.aborted).toBe(true);
    expect(result.group).toMatchObject({ outcome: "interrupted", processes: [{ number: 1 }, { number: 2 }] });
  });

  test("that gets Ctrl-C while its processes join says that it was interrupted, and leaves no group behind", async () => {
    const args = ["run", "--brokers", kafka.brokers, "--topics", topic, "--processes", "2"];
    const env = { PATH: process.env["PATH"], CDC_BENCH_OBSERVE_FD: "3" };
    const child = spawn(process.execPath, [binary, ...args], { env, detached: true, stdio: ["ignore", "ignore", "pipe", "pipe"] });
    let [stderr, observed] = ["", ""];
    let isSignalled = false;
    child.stderr!.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    child.stdio[3]!.on("data", (chunk: Buffer) => {
      observed += chunk.toString();
      // One of them is in the group, and the other one is on its way.
      if (!isSignalled && /"phase":"2 processes join","done":[1-9]/.test(observed)) {
        isSignalled = true;
        process.kill(-child.pid!, "SIGINT");
      }
    });
    const [code] = (await once(child, "close")) as [number | null];
    expect([isSignalled, code], stderr).toEqual([true, 130]);
    const { groups } = await admin.listGroups();
    expect(groups.filter(({ groupId }) => groupId.startsWith(`cdc-bench-${child.pid}-`))).toEqual([]);
  });

  /** Two partitions that take long to read: each record is in a batch of its own, and a batch is the least that a fetch brings. */
  async function slowTopic(count: number): Promise<string> {
    const name = uniqueName("processes");
    const own = client.producer(); // one goes on to ask for every topic that it wrote to, and fails when one is deleted
    await Promise.all([own.connect(), createTopics(admin, [{ topic: name, numPartitions: 2 }])]);
    for (let sent = 0; sent < count; sent += 100) {
      const batches = Array.from({ length: 100 }, (_, i) => ({ topic: name, messages: [{ partition: i % 2, value: "{}" }] }));
      await Promise.all(batches.map((batch) => own.send(batch)));
    }
    await own.disconnect();
    return name;
  }

  /** The group whose id begins so, once its members have joined: a process says what it will read before it asks to join. */
  function stableGroup(prefix: string): Promise<string> {
    return vi.waitFor(async () => {
      const { groups } = await admin.listGroups();
      const groupIds = groups.map((one) => one.groupId).filter((groupId) => groupId.startsWith(prefix));
      expect(groupIds).toHaveLength(1);
      expect((await admin.describeGroups(groupIds)).groups[0]?.state).toBe("Stable");
      return groupIds[0]!;
    }, 20_000);
  }

  /**
   * Another member joins the group of that process and leaves it. The process and its own are stopped meanwhile, until their next heartbeat is due:
   * they would read on until then, on a fast machine to the end.
   */
  async function rebalance(pid: number, name: string): Promise<void> {
    const groupId = await stableGroup(`cdc-bench-${pid}-`);
    process.kill(-pid, "SIGSTOP");
    const isDue = pass(heartbeatMs);
    const consumer = client.consumer({ groupId });
    let joining: Promise<void> | undefined;
    try {
      await consumer.connect();
      await consumer.subscribe({ topic: name });
      joining = consumer.run({ autoCommit: false, eachMessage: async () => {} });
      await vi.waitFor(async () => expect((await admin.describeGroups([groupId])).groups[0]?.state).toBe("PreparingRebalance"), 20_000);
      await isDue;
    } finally {
      process.kill(-pid, "SIGCONT");
    }
    await joining;
    await consumer.disconnect();
  }

  test.each([
    ["--processes 2", ["--processes", "2"], "the topics were"],
    ["one process", [], "TOPIC was"],
  ])("%s says that the group was rebalanced while it was measured", { timeout: 90_000 }, async (_, flags, whatWas) => {
    const slow = await slowTopic(2_000);
    const args = ["run", "--brokers", kafka.brokers, "--topics", slow, "--fetch-bytes", "1", ...flags, "--json"];
    const env = { PATH: process.env["PATH"], CDC_BENCH_OBSERVE_FD: "3" };
    const child = spawn(process.execPath, [binary, ...args], { env, stdio: ["ignore", "pipe", "inherit", "pipe"], detached: true });
    let [stdout, observed] = ["", ""];
    let rebalanced: Promise<void> | undefined;
    child.stdout!.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
    child.stdio[3]!.on("data", (chunk: Buffer) => {
      observed += chunk.toString();
      if (rebalanced === undefined && /one group|\[1\/1\]/.test(observed)) {
        rebalanced = rebalance(child.pid!, slow);
      }
    });
    expect(await once(child, "close")).toEqual([0, null]);
    await rebalanced;
    const { notes } = expectValidResult(stdout) as unknown as Result;
    const note = `The group was rebalanced while ${whatWas.replace("TOPIC", slow)} read: `;
    expect(notes.filter((each) => each.startsWith(note))).toHaveLength(1);
  });

  test("names what a process waits for, when the topic is deleted while it is read", { timeout: 90_000 }, async () => {
    const deleted = await slowTopic(4_000);
    const args = ["run", "--brokers", kafka.brokers, "--topics", deleted, "--processes", "2", "--fetch-bytes", "1"];
    const env = { PATH: process.env["PATH"], CDC_BENCH_OBSERVE_FD: "3" };
    const child = spawn(process.execPath, [binary, ...args], { env, stdio: ["ignore", "ignore", "pipe", "pipe"] });
    let [stderr, observed] = ["", ""];
    let isDeleted = false;
    child.stderr!.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    child.stdio[3]!.on("data", (chunk: Buffer) => {
      observed += chunk.toString();
      if (!isDeleted && observed.includes("2 processes, one group")) {
        isDeleted = true;
        void admin.deleteTopics({ topics: [deleted] });
      }
    });
    const [code] = (await once(child, "close")) as [number | null];
    const why = `there is no topic ${deleted} any more`;
    expect(observed).toContain(`2 processes, one group: ${why}`);
    expect(stderr).toMatch(
      new RegExp(`${deleted} gave nothing for 10 s, [\\d,]+ offsets in front of the end\\. The driver waits: ${why}\\.`),
    );
    expect(code).toBe(4);
  });

  test("that has more processes than partitions says so, and begins after all of them have joined", async () => {
    const narrow = uniqueName("processes");
    await createTopics(admin, [{ topic: narrow, numPartitions: 1 }]);
    await producer.send({ topic: narrow, messages: [{ key: "0", value: "{}" }] });
    const args = ["run", "--brokers", kafka.brokers, "--topics", narrow, "--processes", "3"];
    const { stdout } = await run(process.execPath, [binary, ...args], { env: { PATH: process.env["PATH"] } });
    expect(stdout).toContain("2 of 3 processes had no partition");
    expect(stdout).not.toContain("rebalanced");
  });
});
