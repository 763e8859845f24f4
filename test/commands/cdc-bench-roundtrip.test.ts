import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Kafka, logLevel } from "kafkajs";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { missingForRedis, startRedis, type TestRedis } from "./redis-server.ts";
import { describeWithKafka } from "../integration/stack.ts";

/** The program as users start it; it runs what the build made. */
const binary = fileURLToPath(new URL("../../packages/cdc-bench/bin/cdc-bench.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "cdckit-roundtrip-"));

afterAll(() => rmSync(folder, { recursive: true }));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function roundtrip(
  args: readonly string[],
  env: Record<string, string> = {},
  whenStarted?: (child: ChildProcess) => void,
): Promise<Ended> {
  const child = spawn(process.execPath, [binary, "roundtrip", ...args], {
    env: { PATH: process.env["PATH"], XDG_STATE_HOME: folder, ...env },
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  whenStarted?.(child);
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout, stderr };
}

interface Result {
  readonly aborted: boolean;
  readonly roundtrips: readonly {
    readonly codec: string;
    readonly mode: string;
    readonly compression: string;
    readonly threads: number;
    readonly rounds: number;
    readonly payloadBytes: number;
    readonly latency: { readonly count: number; readonly p50Ns: number };
    readonly stages: Readonly<Record<string, number>>;
  }[];
  readonly evolution: readonly { readonly codec: string; readonly reader: string; readonly copes: boolean }[];
}

const few = ["--rounds", "10", "--warmup", "2", "--quick", "--codecs", "json,avro,protobuf", "--json"];
const copingWithRedisAndKafka = {
  json: [true, true],
  "avro, headless (avsc)": [false, false],
  "avro, schema id (avsc)": [true, true],
  "protobuf (protobufjs)": [true, true],
} as const;

function expectWhole({ stdout, stderr, code }: Ended, threads: number): Result {
  expect(code, stderr).toBe(0);
  const result = JSON.parse(stdout) as Result;
  expect(result.aborted).toBe(false);
  for (const { rounds, latency, threads: used, stages, payloadBytes } of result.roundtrips) {
    expect([rounds, latency.count, used]).toEqual([10 * threads, 10 * threads, threads]);
    expect(Math.min(latency.p50Ns, payloadBytes, ...Object.values(stages))).toBeGreaterThan(0);
  }
  for (const [codec, coping] of Object.entries(copingWithRedisAndKafka)) {
    expect([codec, ...result.evolution.filter((each) => each.codec === codec).map((each) => each.copes)]).toEqual([codec, ...coping]);
  }
  return result;
}

const missing = missingForRedis();

describe.skipIf(missing !== "")(`cdc-bench roundtrip over Redis${missing === "" ? "" : ` (skipped: ${missing})`}`, () => {
  let redis: TestRedis;
  let at: readonly string[];

  beforeAll(async () => {
    redis = await startRedis();
    at = ["--redis", redis.url];
  });

  afterAll(() => redis.stop());

  test("goes by SET and GET, with every mode, compression and thread, and leaves no key", async () => {
    const ended = await roundtrip(["--via", "redis", ...at, ...few, "--threads", "2", "--compression", "none,gzip", "--in-flight", "4"]);
    const { roundtrips } = expectWhole(ended, 2);
    const modes = new Set(roundtrips.map(({ mode, compression }) => `${mode}, ${compression}`));
    expect([...modes]).toEqual(["one at a time, none", "pipelined, none", "one at a time, gzip", "pipelined, gzip"]);
    const sizes = roundtrips.filter(({ codec, mode }) => codec === "json" && mode === "pipelined").map(({ payloadBytes }) => payloadBytes);
    expect(sizes[1]).toBeLessThan(sizes[0]! / 3);
    expect(await redis.ask("DBSIZE")).toMatch(/^:0\r\n/);
    // Redis itself says how often it was asked: 2 threads, 4 modes, 10 rounds and 2 of warm-up, for 4 to 7 codecs.
    const [, sets] = /cmdstat_set:calls=(\d+)/.exec(await redis.ask("INFO", "commandstats")) ?? [];
    expect(Number(sets)).toBeGreaterThan(2 * 4 * 12 * 4);
  });

  test("goes by streams", async () => {
    expectWhole(await roundtrip(["--via", "redis-streams", ...at, ...few, "--batch", "3"]), 1);
    expect(await redis.ask("DBSIZE")).toMatch(/^:0\r\n/);
  });

  test("prints what it has at Ctrl-C, says so, and leaves no key", async () => {
    const args = ["--via", "redis", ...at, "--duration", "10m", "--codecs", "json", "--quick"];
    const { code, stdout } = await roundtrip(args, {}, (child) => {
      child.stderr?.on("data", (chunk: Buffer) => {
        // Once: a second signal ends the process before it has written what it has.
        if (!child.killed && /json, one at a time, [\d,]+ rounds/.test(chunk.toString())) {
          child.kill("SIGINT");
        }
      });
    });
    expect(code).toBe(130);
    expect(stdout).toMatch(/^ABORTED/);
    expect(stdout).toMatch(/^json +2,641/m);
    expect(await redis.ask("DBSIZE")).toMatch(/^:0\r\n/);
  });

  test("a run that is killed leaves keys that the next start names and --clean removes", async () => {
    const env = { XDG_STATE_HOME: join(folder, "killed") };
    await roundtrip(["--via", "redis", ...at, "--duration", "10m", "--codecs", "json", "--quick", "--in-flight", "2"], env, (child) => {
      child.stderr?.on("data", (chunk: Buffer) => {
        if (/one at a time, [\d,]+ rounds/.test(chunk.toString())) {
          child.kill("SIGKILL");
        }
      });
    });
    expect(await redis.ask("DBSIZE")).toMatch(/^:1\r\n/);
    const cleaned = await roundtrip([...at, "--via", "redis", "--clean"], env);
    expect(cleaned.code, cleaned.stderr).toBe(0);
    expect(cleaned.stdout).toMatch(/^removed redis key cdc-bench-roundtrip-/m);
    expect(await redis.ask("DBSIZE")).toMatch(/^:0\r\n/);
  });

  test.each([
    ["throws", "serialize() { throw new Error('out of ink'); }", "failed in serialize(): out of ink."],
    ["lies", "deserialize: () => ({ id: 1 })", "mine does not give back the values that were written"],
    ["lies later", "n: 0, deserialize(b) { return this.n++ > 50 ? { id: 1 } : JSON.parse(b); }", "does not give back the values"],
    ["hangs at once", "deserialize() { for (;;); }", "hangs: its deserialize() did not end within 2 s"],
    [
      "hangs later",
      "n: 0, serialize(v) { while (this.n++ > 50); return Buffer.from(JSON.stringify(v)); }",
      "mine hangs: it did not end within 2 s",
    ],
    ["never settles", "serialize: () => new Promise(() => {})", "hangs: its serialize() did not end within 2 s"],
    ["ends the process", "serialize() { process.exit(0); }", "ended by itself"],
  ])("a codec of the user's own that %s is named, with exit code 2", async (name, half, said) => {
    const file = join(folder, `${name.replaceAll(" ", "-")}.mjs`);
    const whole = "name: 'mine', serialize: (v) => Buffer.from(JSON.stringify(v)), deserialize: (b) => JSON.parse(Buffer.from(b))";
    writeFileSync(file, `export default { ${whole}, ${half} };`);
    const args = ["--via", "redis", ...at, "--codec", file, "--codecs", "avro, headless", "--timeout", "2s", "--quick", "--json"];
    const { code, stdout, stderr } = await roundtrip(args);
    expect(stderr).toContain(said);
    expect([code, stdout]).toEqual([2, ""]);
    expect(await redis.ask("DBSIZE")).toMatch(/^:0\r\n/);
  });

  test("a password that is missing or wrong is said, and never shown", async () => {
    const locked = await startRedis("--requirepass", "canary-right");
    try {
      const args = [
        "--via",
        "redis",
        "--redis",
        locked.url,
        "--rounds",
        "5",
        "--warmup",
        "1",
        "--quick",
        "--no-evolve",
        "--codecs",
        "json",
        "--json",
      ];
      expect(await roundtrip(args)).toMatchObject({ code: 3, stderr: expect.stringContaining("wants a password: set REDIS_PASSWORD") });
      const wrong = await roundtrip([...args, "--debug"], { REDIS_PASSWORD: "canary-wrong" });
      expect(wrong).toMatchObject({ code: 3, stderr: expect.stringContaining("refuses the user or the password") });
      const right = await roundtrip(args, { REDIS_PASSWORD: "canary-right" });
      expect(right.code, right.stderr).toBe(0);
      expect(`${wrong.stderr}${right.stdout}${right.stderr}`).not.toContain("canary");
    } finally {
      await locked.stop();
    }
  });

  test("a server that is no Redis, or says nothing, is told apart", async () => {
    const http = createServer((_, response) => response.end("hello")).listen(0, "127.0.0.1");
    const silent = createTcpServer(() => {}).listen(0, "127.0.0.1");
    try {
      await Promise.all([once(http, "listening"), once(silent, "listening")].map((each) => each.catch(() => {})));
      const urlOf = (server: { address(): unknown }): string => `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const [other, mute] = await Promise.all([http, silent].map((server) => roundtrip(["--via", "redis", "--redis", urlOf(server)])));
      expect(other).toMatchObject({ code: 3, stderr: expect.stringContaining("does not speak Redis' protocol") });
      expect(mute).toMatchObject({ code: 3, stderr: expect.stringContaining("does not answer within 5 s") });
    } finally {
      http.closeAllConnections();
      http.close();
      silent.close();
    }
  });
});

await describeWithKafka("cdc-bench roundtrip over Kafka", (kafka) => {
  const admin = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING }).admin();

  beforeAll(() => admin.connect());
  afterAll(() => admin.disconnect());

  test("measures each codec, and leaves neither topics nor groups", async () => {
    expectWhole(
      await roundtrip(["--brokers", kafka.brokers, ...few, "--threads", "2", "--in-flight", "4", "--compression", "none,gzip"]),
      2,
    );
    const isOurs = (name: string): boolean => name.startsWith("cdc-bench-roundtrip-");
    // The controller has deleted it; a broker may list it for a moment longer.
    await vi.waitFor(async () => expect((await admin.listTopics()).filter(isOurs)).toEqual([]), { timeout: 10_000 });
    expect((await admin.listGroups()).groups.map(({ groupId }) => groupId).filter(isOurs)).toEqual([]);
  });
});
