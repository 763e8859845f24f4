import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Kafka, logLevel } from "kafkajs";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { produceLines, startKafka } from "../../scripts/stack/kafka.mjs";
import { isRunning, type ProcessRecord, startProcess } from "../../scripts/stack/process.mjs";
import { writeState } from "../../scripts/stack/state.mjs";
import { createTopics, withKafka } from "../integration/stack.ts";

const script = join(import.meta.dirname, "../../scripts/stack.mjs");
const found = await withKafka(); // the same requirements, and the largest download is done

describe("npm run stack:*", () => {
  const dir = mkdtempSync(join(tmpdir(), "cdckit-command-"));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  function run(...args: string[]): { status: number | null; output: string } {
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args, "--dir", dir], { encoding: "utf8" });
    return { status, output: stdout + stderr };
  }

  test("an unknown command, a wrong number and an unknown flag are told with the usage", () => {
    for (const args of [["fly"], [], ["seed", "--rows", "many"], ["up", "--dri", "x"]]) {
      const { status, output } = run(...args);
      expect([status, output]).toEqual([2, expect.stringMatching(/^.+\nusage: [^]*--rows N/)]);
    }
  });

  test("status, seed and down say that the stack is not up, and how to start it", () => {
    const up = `npm run stack:up -- --dir ${dir}`; // without it, the command would act on the stack of the checkout
    expect(run("status")).toEqual({ status: 0, output: expect.stringContaining(up) });
    expect(run("seed")).toEqual({ status: 1, output: expect.stringContaining(up) });
    expect(run("down")).toEqual({ status: 0, output: expect.stringContaining("nothing to stop") });
  });

  test("stop and start ask for a service, and say which of them cannot be stopped alone", () => {
    expect(run("stop")).toEqual({ status: 2, output: expect.stringMatching(/^stop what\? Give the name of a service: kafka\nusage: /) });
    expect(run("stop", "kafak")).toEqual({ status: 1, output: expect.stringContaining("there are connect, registry, kafka, postgres") });
    expect(run("start", "registry")).toEqual({ status: 1, output: expect.stringContaining("keeps its schemas in memory") });
    expect(run("stop", "kafka")).toEqual({ status: 1, output: expect.stringContaining(`npm run stack:up -- --dir ${dir}`) });
  });

  test("down stops every service, also if nobody reads what it says", async () => {
    const half = mkdtempSync(join(tmpdir(), "cdckit-unread-"));
    onTestFinished(() => rmSync(half, { recursive: true, force: true }));
    const [connect, kafka] = ["connect", "kafka"].map((name) => {
      const marker = `${half}/${name}`;
      const args = ["-e", "setInterval(() => {}, 1000)", marker];
      return startProcess({ name, command: process.execPath, args, marker, log: `${marker}.log`, outlive: true }).record;
    }) as [ProcessRecord, ProcessRecord];
    writeState(half, {
      startedAt: new Date().toISOString(),
      starter: { pid: -1, marker: "", log: "" },
      services: { connect, kafka },
      folders: [],
      addresses: null,
    });
    const down = spawn(process.execPath, [script, "down", "--dir", half], { stdio: ["ignore", "pipe", "ignore"] });
    down.stdout?.destroy();
    expect(await new Promise((resolve) => down.once("exit", resolve))).toBe(0);
    expect([connect, kafka].filter((record) => isRunning(record))).toEqual([]);
    expect(existsSync(join(half, "state.json"))).toBe(false);
  });

  test.skipIf(found.skip !== false)(
    "stop and start end Kafka alone and bring it back with its data, on the same port",
    { meta: { skipReason: String(found.skip) }, timeout: 180_000 },
    async () => {
      const kafkaDir = mkdtempSync(join(tmpdir(), "cdckit-one-service-"));
      const runThere = (...args: string[]): { status: number | null; output: string } => {
        const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args, "--dir", kafkaDir], { encoding: "utf8" });
        return { status, output: stdout + stderr };
      };
      const kafka = await startKafka({ dir: kafkaDir, outlive: true });
      try {
        const parts = { registryUrl: "", converterUrl: "", connectUrl: "", connectors: [] };
        const postgres = { host: "127.0.0.1", port: 1, user: "", password: "", database: "" };
        const topic = "kept";
        writeState(kafkaDir, {
          startedAt: new Date().toISOString(),
          starter: { pid: -1, marker: "", log: "" },
          services: { kafka: kafka.record },
          folders: [],
          addresses: { ...parts, brokers: kafka.brokers, postgres, topics: [topic] },
        });
        const admin = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING }).admin();
        await admin.connect();
        await createTopics(admin, [{ topic }]);
        await admin.disconnect();
        await produceLines(kafka, { topic, lines: ["a", "b"] });
        expect(runThere("stop", "kafka")).toEqual({ status: 0, output: expect.stringContaining("npm run stack:start -- kafka") });
        expect(isRunning(kafka.record)).toBe(false);
        expect(runThere("status").output).toMatch(/kafka +NOT running/);
        expect(runThere("status").output).toContain(`(npm run stack:start -- kafka --dir ${kafkaDir}, at 127`);
        expect(runThere("stop", "kafka").output).toContain("kafka is not running");
        expect(runThere("start", "kafka")).toEqual({ status: 0, output: expect.stringContaining(`ready at ${kafka.brokers}`) });
        expect(runThere("status").output).toMatch(/kafka +running at 127[^]*kept +2/);
        expect(runThere("start", "kafka").output).toContain("running already");
      } finally {
        runThere("down");
        rmSync(kafkaDir, { recursive: true, force: true });
      }
    },
  );

  test.skipIf(found.skip !== false).each(["SIGINT", "SIGHUP"] as const)(
    "%s while the stack starts stops what was started, and leaves no state",
    { meta: { skipReason: String(found.skip) } },
    async (signal) => {
      const up = spawn(process.execPath, [script, "up", "--dir", dir], { stdio: ["ignore", "ignore", "pipe"] });
      const services = await firstServices(up);
      up.kill(signal);
      const code = await new Promise((resolve) => up.once("exit", resolve));
      expect(code).toBe(130);
      expect(services.length).toBeGreaterThan(0);
      expect(services.filter((record) => isRunning(record))).toEqual([]);
      expect(existsSync(join(dir, "state.json"))).toBe(false);
    },
  );

  /** Waits for the first service to be ready, when others are on their way. */
  async function firstServices(up: ChildProcess): Promise<ProcessRecord[]> {
    if (up.stderr === null) throw new Error("unreachable: it was asked for");
    for await (const line of createInterface({ input: up.stderr })) {
      if (line.endsWith("is ready")) break;
    }
    const { services } = JSON.parse(readFileSync(join(dir, "state.json"), "utf8")) as { services: Record<string, ProcessRecord> };
    return Object.values(services);
  }
});
