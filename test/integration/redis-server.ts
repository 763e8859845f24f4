import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePorts } from "../../scripts/stack/ports.mjs";

/** A Redis of a test's own, in memory alone. */
export interface TestRedis {
  readonly url: string;
  readonly port: number;
  /** One command in Redis' own protocol, and the answer as it comes: the truth that no client stands in front of. */
  ask(...command: readonly string[]): Promise<string>;
  stop(): Promise<void>;
}

/** Why this machine has no Redis, or an empty text. */
export function missingForRedis(): string {
  const found = spawnSync("redis-server", ["--version"]);
  return found.error === undefined ? "" : "there is no redis-server here (Debian: apt-get install redis-server)";
}

export async function startRedis(...settings: readonly string[]): Promise<TestRedis> {
  const dir = mkdtempSync(join(tmpdir(), "cdckit-redis-"));
  const [port = 0] = await freePorts(1);
  const args = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--dir", dir, ...settings];
  const child: ChildProcess = spawn("redis-server", args, { stdio: ["ignore", "pipe", "inherit"] });
  await new Promise<void>((resolve, reject) => {
    let said = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes("Ready to accept connections")) {
        resolve();
      }
    });
    child.once("exit", (code) => reject(new Error(`redis-server ended with ${code}: ${said}`)));
  });
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    ask: (...command) => ask(port, command),
    async stop() {
      const ended = once(child, "exit");
      child.kill();
      await ended;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function ask(port: number, command: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let answer = "";
    socket.once("error", reject).once("close", () => resolve(answer));
    socket.on("data", (chunk: Buffer) => (answer += chunk.toString()));
    // QUIT closes the connection behind the answer.
    for (const words of [command, ["QUIT"]]) {
      socket.write(`*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join("")}`);
    }
  });
}
