import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { readExamples } from "../../scripts/example/examples.mjs";
import { withDatabase } from "../../scripts/stack/postgres.mjs";
import { isRunning, type ProcessRecord } from "../../scripts/stack/process.mjs";
import { addressesIn } from "../../scripts/stack/state.mjs";
import { missingForRedis } from "./redis-server.ts";

const script = join(import.meta.dirname, "../../scripts/example.mjs");
const skipReason = process.env["EXAMPLE_STACK"] === "1" ? "" : "starts a stack of its own, which takes half a minute: EXAMPLE_STACK=1";
const redisSkipReason = skipReason || missingForRedis();

describe("npm run example", () => {
  const dir = mkdtempSync(join(tmpdir(), "cdckit-example-"));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  function run(args: readonly string[], env: NodeJS.ProcessEnv = process.env): { status: number | null; output: string } {
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args, "--dir", dir], { encoding: "utf8", env });
    return { status, output: stdout + stderr };
  }

  test("without a name, with a wrong one or with an unknown flag lists the examples", () => {
    for (const args of [[], ["quickstat"], ["quickstart", "--dri"]]) {
      const { status, output } = run(args);
      expect(status).toBe(2);
      for (const { name, description } of readExamples()) {
        expect(output).toMatch(new RegExp(`^  ${name} +${description}$`, "m"));
      }
    }
  });

  test("says how to get all that is missing, and starts nothing", () => {
    const path = join(dir, "bin"); // with Node and nothing else
    mkdirSync(path);
    symlinkSync(process.execPath, join(path, "node"));
    const { status, output } = run(["cache-invalidation"], { PATH: path, HOME: process.env["HOME"] });
    expect([status, output]).toEqual([1, expect.stringMatching(/\[java-missing\] .*apt-get install openjdk/)]);
    expect(output).toMatch(/\[redis-missing\] .*apt-get install redis-server .* set REDIS_URL/);
    expect(existsSync(join(dir, "state.json"))).toBe(false);
  });

  test.skipIf(skipReason !== "")(
    "starts the stack, changes rows, also after a change has failed, and leaves nothing behind after Ctrl-C",
    { meta: { skipReason }, timeout: 300_000 },
    async () => {
      const example = spawn(process.execPath, [script, "quickstart", "--dir", dir], { stdio: ["ignore", "pipe", "pipe"] });
      onTestFinished(() => void example.kill("SIGTERM"));
      const ended = new Promise((resolve) => example.once("exit", resolve));
      await firstLine(example, /^- \d+$/);
      const services = servicesOfStack();
      expect(services.filter((record) => isRunning(record))).toHaveLength(4);

      const { postgres } = addressesIn(dir);
      const failed = firstLine(
        example,
        /^\[sql-failed\] changes\.sql of quickstart failed: .* does not exist\. It runs again/,
        example.stderr,
      );
      await withDatabase(postgres, (client) => client.query("alter table sales.salesorderdetail rename to hidden"));
      await failed;
      await withDatabase(postgres, (client) => client.query("alter table sales.hidden rename to salesorderdetail"));
      await firstLine(example, /^- \d+$/);

      example.kill("SIGINT");
      example.kill("SIGINT"); // npm passes on what the terminal has sent already
      expect(await ended).toBe(0);
      expect(services.filter((record) => isRunning(record))).toEqual([]);
      expect(existsSync(join(dir, "state.json"))).toBe(false);
    },
  );

  test.skipIf(redisSkipReason !== "")(
    "starts Redis, lets Debezium follow another table, and leaves nothing behind if the shell is killed that it was started from",
    { meta: { skipReason: redisSkipReason }, timeout: 300_000 },
    async () => {
      const command = ["-c", '"$@"; true', "sh", process.execPath, script, "cache-invalidation", "--dir", dir];
      const shell = spawn("sh", command, { stdio: ["ignore", "pipe", "inherit"] });
      onTestFinished(() => void shell.kill("SIGKILL"));
      await firstLine(shell, /"msg":"deleted"/);
      const services = servicesOfStack();
      shell.kill("SIGKILL");
      await vi.waitFor(() => expect(existsSync(join(dir, "state.json"))).toBe(false), { timeout: 60_000, interval: 100 });
      expect(services.filter((record) => isRunning(record))).toEqual([]);
    },
  );

  test.skipIf(skipReason !== "")(
    "leaves the stack to another example that runs on it, and the last one takes it down",
    { meta: { skipReason }, timeout: 300_000 },
    async () => {
      const [first, firstEnded] = start("first");
      await firstLine(first, /^- \d+$/);
      const services = servicesOfStack();
      const [second, secondEnded] = start("second");
      await firstLine(second, /^- \d+$/);
      first.kill("SIGINT");
      expect(await firstEnded).toBe(0);
      expect(services.filter((record) => isRunning(record))).toHaveLength(4);
      await firstLine(second, /^- \d+$/); // changes still come
      second.kill("SIGINT");
      expect(await secondEnded).toBe(0);
      expect(services.filter((record) => isRunning(record))).toEqual([]);
      expect(existsSync(join(dir, "state.json"))).toBe(false);

      /** A group of its own: the topic has one partition, and two members of a group would not both see changes. */
      function start(groupId: string): [ChildProcess, Promise<unknown>] {
        const env = { ...process.env, KAFKA_GROUP_ID: groupId };
        const example = spawn(process.execPath, [script, "quickstart", "--dir", dir], { stdio: ["ignore", "pipe", "inherit"], env });
        onTestFinished(() => void example.kill("SIGTERM"));
        return [example, new Promise((resolve) => example.once("exit", resolve))];
      }
    },
  );

  function servicesOfStack(): ProcessRecord[] {
    const { services } = JSON.parse(readFileSync(join(dir, "state.json"), "utf8")) as { services: Record<string, ProcessRecord> };
    return Object.values(services);
  }

  async function firstLine(example: ChildProcess, wanted: RegExp, output = example.stdout): Promise<void> {
    if (output === null) throw new Error("unreachable: it was asked for");
    const lines = createInterface({ input: output });
    await new Promise<void>((resolve, reject) => {
      lines.on("line", (line) => wanted.test(line) && resolve());
      example.once("exit", (code) => reject(new Error(`the example ended with ${code} before it wrote ${wanted}`)));
    });
    lines.on("line", () => {}); // read on: a full pipe would stop the example
  }
});
