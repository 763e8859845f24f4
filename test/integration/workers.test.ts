import { existsSync } from "node:fs";
import { createConsumer } from "@cdckit/consumer";
import { Kafka, logLevel } from "kafkajs";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createTopics, describeWithKafka, uniqueName } from "./stack.ts";
import { type Said, type Scenario, Service } from "./workers-service.ts";

// Threads load what users run.
const isBuilt = existsSync(new URL("../../packages/consumer/dist/worker-program.js", import.meta.url));
/** After `run()` has settled, nothing is left to wait for: this is for a machine that has much to do. */
const allowedMs = 2_000;
const services: Service[] = [];

afterEach(() => services.splice(0).forEach((service) => service.kill()));

function serve(...scenarios: readonly Scenario[]): Service {
  const service = new Service(scenarios);
  services.push(service);
  return service;
}

describe.skipIf(!isBuilt)("a consumer with workers", () => {
  // Each with its own threads, in one process that starts once.
  const ends: readonly (readonly [Scenario, string | null, string?, string?])[] = [
    [{ does: "throws" }, "handler-failed", "orders[0]@0", "a bug"],
    [{ does: "exits" }, "worker-failed", "worker 2 of 2 ended with exit code 7 before its consumer had stopped"],
    [{ workers: 1, does: "throws elsewhere" }, "worker-failed", "failed outside of its consumer", "nobody catches this"],
    [{ workers: 1, does: "throws while it loads" }, "worker-failed", "workers-module.mjs", "no database"],
    [{ workers: 1, does: "finds no database" }, "worker-failed", "makes the consumer failed on worker 1: connect", "connect ECONNREFUSED"],
    [{ workers: 1, does: "stops itself, as CommonJS", module: "./workers-module-compiled.cjs" }, null],
    [{ workers: 1, does: "gives a wrong option" }, "invalid-option", "delivery.concurrency"],
    [{ workers: 1, does: "loads nothing", module: "./no-such-module.mjs" }, "worker-failed", "no-such-module.mjs"],
    [{ workers: 1, does: "makes nothing" }, "invalid-option", "must return the consumer that it has made, and returned undefined"],
    [{ workers: 1, does: "starts by itself" }, "invalid-option", "has started its consumer itself, by run() or stream()"],
    [{ workers: 1, does: "allocates", resourceLimits: { maxOldGenerationSizeMb: 64 } }, "worker-failed", "memory limit"],
    [{ workers: 1, does: "blocks", health: { stuckAfterMs: 2_000 } }, "worker-failed", "worker 1 of 1 has said nothing for "],
    [{ does: "stops itself" }, null],
    [{ workers: 1, does: "fails to close" }, null],
    [{ workers: 1, does: "logs, and loads slowly", health: { stuckAfterMs: 1_000 } }, null],
    [{ workers: 1, does: "has no turn while it connects", health: { stuckAfterMs: 1_000 } }, null],
    [{ workers: 1, does: "keeps a timer", stopsWhen: "connecting" }, null],
    [{ does: "handles", stopsWhen: "idle" }, "wrong-phase", "was stopped before it was started"],
    [{ workers: 1, does: "hangs", stopsWhen: "connecting" }, null],
  ];

  test("that cannot go on with all of its threads halts all of them, with an error that says why", async () => {
    const { settled, livedOnMs } = await serve(...ends.map(([scenario]) => scenario)).end();
    const found = ends.map(([{ does }]) => settled.get(does));
    expect(found.map((line) => [line?.does, line?.error?.code ?? null])).toEqual(ends.map(([{ does }, code]) => [does, code]));
    for (const [i, [{ does }, , message = "", cause]] of ends.entries()) {
      expect(found[i]?.error?.message ?? "", does).toContain(message);
      if (cause !== undefined) {
        expect(found[i]?.cause, does).toBe(cause);
      }
      expect(found[i]?.health, does).toMatchObject({ phase: "stopped", live: false, ready: false, assigned: [] });
    }
    expect(livedOnMs).toBeLessThan(allowedMs);
  });

  test("drains all of its threads at a signal, reports them together, and the process ends by itself", async () => {
    const service = serve({ does: "handles" }, { does: "hangs", shutdownTimeoutMs: 1_500 });
    await service.until(({ does, what }) => does === "handles" && what === "handling", 6);
    await service.until(({ does, what, worker }) => does === "hangs" && what === "handling" && worker === 2);
    service.signal("SIGTERM");
    const { settled, livedOnMs } = await service.end();
    const [handles, hangs] = [settled.get("handles"), settled.get("hangs")];
    expect([handles?.error, hangs?.error?.code]).toEqual([null, "work-abandoned"]);
    expect(hangs?.error?.message).toContain("orders[0]@0");
    expect(handles?.health?.counts).toMatchObject({ records: 6, events: 6, handled: 6 });
    expect(handles?.health?.workers.map((worker) => worker?.counts.handled)).toEqual([3, 3]);
    const closed = service.said.filter(({ does, what }) => does === "handles" && what === "closed");
    expect(new Set(closed.map(({ worker }) => worker))).toEqual(new Set([1, 2]));
    expect(closed).toHaveLength(2);
    expect(livedOnMs).toBeLessThan(allowedMs);
  });

  test("settles run() before stop() resolves: the process may end then", async () => {
    const settled: string[] = [];
    const module = new URL("./workers-module.mjs?do=handles", import.meta.url);
    const consumer = createConsumer({ workers: 1, module, groupId: "g", topics: ["orders"], signals: false, logger: false });
    const ran = consumer.run().then(() => void settled.push("run"));
    await Promise.all([ran, consumer.stop().then(() => void settled.push("stop"))]);
    expect(settled).toEqual(["run", "stop"]);
  });

  test("closes what its modules have opened also if it is stopped before they have made their consumers", async () => {
    const service = serve({ does: "opens, and waits" });
    await service.until(({ what }) => what === "loading", 2);
    service.signal("SIGTERM");
    const { settled, livedOnMs } = await service.end();
    expect(settled.get("opens, and waits")?.error).toBeNull();
    expect(service.said.filter(({ what }) => what === "closed").map(({ worker }) => worker)).toHaveLength(2);
    expect(livedOnMs).toBeLessThan(allowedMs);
  });

  test("closes once what a module has opened, also if it is stopped while it closes what it has failed with", async () => {
    const service = serve({ does: "opens, and fails" });
    const { settled, livedOnMs } = await service.end();
    expect(settled.get("opens, and fails")?.error?.code).toBe("worker-failed");
    const whoSaid = (text: string) => service.said.filter(({ what }) => what === text).map(({ worker }) => worker);
    const opened = whoSaid("opened"); // on a busy machine, one that is still loading when the other one fails opens nothing
    expect([new Set(whoSaid("closed")), whoSaid("closed").length]).toEqual([new Set(opened), opened.length]);
    expect(opened).toContain(1);
    expect(livedOnMs).toBeLessThan(allowedMs);
  });

  test("ends a thread that a timer keeps alive soon after its module is closed, not at the deadline", async () => {
    const service = serve({ does: "keeps a timer", shutdownTimeoutMs: 600_000 });
    await service.until(({ what }) => what === "handling", 6);
    service.signal("SIGTERM");
    const { settled, livedOnMs } = await service.end();
    expect(settled.get("keeps a timer")?.error).toBeNull();
    expect(service.said.filter(({ what }) => what === "closed")).toHaveLength(2);
    expect(livedOnMs).toBeLessThan(allowedMs);
  });

  test("waits for what a module closes no longer than a stop may take, and says meanwhile what it waits for", async () => {
    const shutdownTimeoutMs = 3_000;
    const service = serve({ does: "never closes", shutdownTimeoutMs });
    await service.until(({ what }) => what === "handling", 6);
    await service.until(({ what }) => what === "ready"); // from then on, the service notes reasons
    service.signal("SIGTERM");
    await service.until(({ what }) => what === "closed", 2);
    const closedAt = performance.now();
    const { settled } = await service.end();
    const waitedMs = performance.now() - closedAt;
    expect(settled.get("never closes")).toMatchObject({
      error: null,
      reasons: expect.arrayContaining(["worker 1: it waits for a function of its module's onStopped"]) as readonly string[],
    });
    expect(waitedMs).toBeGreaterThan(shutdownTimeoutMs - 500);
    expect(waitedMs).toBeLessThan(shutdownTimeoutMs + allowedMs);
  });

  test("stops waiting at a second signal, also for a thread that answers nothing, and for a module that does not load or close", async () => {
    const patient = { shutdownTimeoutMs: 60_000 };
    const others = [{ does: "never loads" }, { does: "never closes", ...patient }];
    const service = serve({ does: "hangs", ...patient }, { does: "blocks", ...patient }, ...others);
    for (const busy of ["hangs", "blocks", "never closes"]) {
      await service.until(({ does, what, worker }) => does === busy && what === "handling" && worker === 2);
    }
    await service.until(({ does, what, worker }) => does === "never closes" && what === "handling" && worker === 1); // both have what to close
    await service.until(({ what }) => what === "loading", 2);
    service.signal("SIGTERM");
    await service.until(({ does, what }) => does === "never loads" && what === "settled");
    await service.until(({ does, what }) => does === "never closes" && what === "closed", 2);
    service.signal("SIGINT"); // SIGTERM again within a second would be the same one
    const { settled, livedOnMs } = await service.end();
    const codes = ["hangs", "blocks", "never loads", "never closes"].map((does) => settled.get(does)?.error?.code ?? null);
    expect(codes).toEqual(["work-abandoned", "work-abandoned", null, null]);
    expect(settled.get("blocks")?.error?.message).toMatch(/still at work: .*worker 2/);
    expect(livedOnMs).toBeLessThan(allowedMs);
  });
});

await describeWithKafka("workers of a group on Kafka", (kafka) => {
  const client = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING });
  const admin = client.admin();
  const producer = client.producer({
    createPartitioner:
      () =>
      ({ message }) =>
        Number(message.key) % partitions,
  });
  const partitions = 4;
  const records = 2_000;

  beforeAll(async () => {
    await Promise.all([admin.connect(), producer.connect()]);
  });
  afterAll(async () => {
    await Promise.all([admin.disconnect(), producer.disconnect()]);
  });

  /** Starts a service. Its topic gets records after both threads have joined and have partitions. */
  async function consume(does: string): Promise<{ readonly service: Service; readonly topic: string; readonly groupId: string }> {
    const [topic, groupId] = [uniqueName("workers"), uniqueName("workers")];
    await createTopics(admin, [{ topic, numPartitions: partitions }]);
    const service = serve({ does, brokers: kafka.brokers, topics: [topic], groupId, shutdownTimeoutMs: 10_000 });
    await service.until(({ what }) => what === "ready");
    const messages = Array.from({ length: records }, (_, id) => ({ key: `${id % 40}`, value: JSON.stringify({ id }) }));
    await producer.send({ topic, messages });
    return { service, topic, groupId };
  }

  async function committed(groupId: string, topic: string): Promise<readonly number[]> {
    const [offsets] = await admin.fetchOffsets({ groupId, topics: [topic] });
    return Array.from({ length: partitions }, (_, index) =>
      Number(offsets?.partitions.find(({ partition }) => partition === index)?.offset),
    );
  }

  const isHandling = ({ what }: Said): boolean => what === "handling";

  /** The offsets that were handled, by partition, in the order of their handling. */
  function handledOf(said: readonly Said[]): readonly (readonly number[])[] {
    return Array.from({ length: partitions }, (_, index) =>
      said.filter(isHandling).flatMap(({ partition, offset }) => (partition === index ? [offset ?? -1] : [])),
    );
  }

  test.skipIf(!isBuilt)("handle each record once, in the order of its partition, and commit all of them", async () => {
    const { service, topic, groupId } = await consume("handles");
    await service.until(isHandling, records);
    service.signal("SIGTERM");
    const { settled, livedOnMs } = await service.end();
    expect(settled.get("handles")?.error).toBeNull();
    const inOrder = Array.from({ length: records / partitions }, (_, offset) => offset);
    expect(handledOf(service.said)).toEqual(Array.from({ length: partitions }, () => inOrder));
    expect(await committed(groupId, topic)).toEqual(Array.from({ length: partitions }, () => inOrder.length));
    const partitionsOf = (number: number): ReadonlySet<unknown> =>
      new Set(service.said.filter((line) => isHandling(line) && line.worker === number).map(({ partition }) => partition));
    expect([partitionsOf(1).size, partitionsOf(2).size]).toEqual([2, 2]);
    expect(livedOnMs).toBeLessThan(allowedMs);
  });

  test.skipIf(!isBuilt)("that lose one of them halt: the others commit what they handled, and nothing else is committed", async () => {
    const { service, topic, groupId } = await consume("exits");
    const { settled, livedOnMs } = await service.end();
    expect(settled.get("exits")?.error?.code).toBe("worker-failed");
    const handled = handledOf(service.said);
    const ownerOf = (index: number): number | undefined => service.said.find(({ partition }) => partition === index)?.worker;
    const offsets = await committed(groupId, topic);
    // A worker that has ended in its first record has committed nothing. The group knows no offset then: -1.
    const expected = handled.map((of, index) => (ownerOf(index) === 1 && of.length > 0 ? of.length : -1));
    expect(offsets).toEqual(expected);
    expect(livedOnMs).toBeLessThan(allowedMs);
  });
});
