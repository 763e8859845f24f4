import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { readExamples } from "../../scripts/example/examples.mjs";
import { isRunning, type ProcessRecord } from "../../scripts/stack/process.mjs";

const script = join(import.meta.dirname, "../../scripts/example.mjs");
const skipReason = process.env["EXAMPLE_STACK"] === "1" ? "" : "starts a stack of its own, which takes half a minute: EXAMPLE_STACK=1";

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
    "starts the stack, lets Debezium follow more tables, and leaves nothing behind after Ctrl-C",
    { meta: { skipReason }, timeout: 300_000 },
    async () => {
      for (const [name, line] of [
        ["quickstart", /^- \d+$/],
        ["cache-invalidation", /"msg":"deleted"/],
      ] as const) {
        const example = spawn(process.execPath, [script, name, "--dir", dir], { stdio: ["ignore", "pipe", "inherit"] });
        onTestFinished(() => void example.kill("SIGTERM"));
        const ended = new Promise((resolve) => example.once("exit", resolve));
        await firstLine(example, line);
        const { services } = JSON.parse(readFileSync(join(dir, "state.json"), "utf8")) as { services: Record<string, ProcessRecord> };
        expect(Object.values(services).filter((record) => isRunning(record))).toHaveLength(4);
        example.kill("SIGINT");
        example.kill("SIGINT"); // npm passes on what the terminal has sent already
        expect(await ended).toBe(0);
        expect(Object.values(services).filter((record) => isRunning(record))).toEqual([]);
        expect(existsSync(join(dir, "state.json"))).toBe(false);
      }
    },
  );

  async function firstLine(example: ChildProcess, wanted: RegExp): Promise<void> {
    if (example.stdout === null) throw new Error("unreachable: it was asked for");
    const lines = createInterface({ input: example.stdout });
    await new Promise<void>((resolve) => lines.on("line", (line) => wanted.test(line) && resolve()));
    lines.on("line", () => {}); // read on: a full pipe would stop the example
  }
});
