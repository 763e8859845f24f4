import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePorts } from "./ports.mjs";
import { startProcess, stopProcess } from "./process.mjs";
import { waitUntil } from "./wait.mjs";

/** Whether this machine has a Redis server. */
export function hasRedis() {
  return spawnSync("redis-server", ["--version"]).error === undefined;
}

/**
 * A Redis in memory on a free port of 127.0.0.1.
 * @param {object} [options]
 * @param {AbortSignal} [options.signal]
 * @param {boolean} [options.outlive] whether it goes on after this process has ended
 * @param {readonly string[]} [options.settings] as on its command line
 * @returns {Promise<{ url: string, port: number, stop(): Promise<void> }>}
 */
export async function startRedis({ signal, outlive = false, settings = [] } = {}) {
  const dir = mkdtempSync(join(tmpdir(), "cdckit-redis-"));
  const [port = 0] = await freePorts(1);
  const { record, assertAlive } = startProcess({
    name: "redis-server",
    command: "redis-server",
    args: ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--dir", dir, ...settings],
    marker: "redis-server", // the rest of its command line is rewritten by Redis itself
    log: join(dir, "redis.log"),
    outlive,
  });
  const stop = async () => {
    await stopProcess(record);
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    await waitUntil({ what: "redis-server", deadlineMs: 20_000, everyMs: 50, signal, giveUp: assertAlive, check: () => answers(port) });
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `redis://127.0.0.1:${port}`, port, stop };
}

/**
 * With a password, the answer is that one is wanted.
 * @param {number} port
 * @returns {Promise<boolean>}
 */
function answers(port) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write("PING\r\n"));
    socket.once("error", reject).once("data", (data) => {
      socket.destroy();
      resolve(/^(?:\+PONG|-NOAUTH)/.test(data.toString()));
    });
  });
}
