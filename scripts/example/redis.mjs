import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePorts } from "../stack/ports.mjs";
import { startProcess, stopProcess } from "../stack/process.mjs";
import { StackError } from "../stack/stack-error.mjs";
import { waitUntil } from "../stack/wait.mjs";

/** Throws with how to get Redis if this machine has none. */
export function requireRedis() {
  if (spawnSync("redis-server", ["--version"]).error !== undefined) {
    throw new StackError(
      "redis-missing",
      'no Redis found (tried "redis-server --version"). Get it with: apt-get install redis-server (Debian, Ubuntu), brew install redis ' +
        "(macOS); if one runs already, set REDIS_URL to its address",
    );
  }
}

/**
 * A Redis in memory on a free port of 127.0.0.1.
 * @param {AbortSignal} signal
 * @returns {Promise<{ url: string, stop(): Promise<void> }>}
 */
export async function startRedis(signal) {
  const dir = mkdtempSync(join(tmpdir(), "cdckit-redis-"));
  const [port = 0] = await freePorts(1);
  const { record, assertAlive } = startProcess({
    name: "redis-server",
    command: "redis-server",
    args: ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--dir", dir],
    marker: "redis-server", // the rest of its command line is rewritten by Redis itself
    log: join(dir, "redis.log"),
    outlive: true, // Ctrl-C must not reach it before the example has stopped
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
  return { url: `redis://127.0.0.1:${port}`, stop };
}

/** @param {number} port @returns {Promise<boolean>} */
function answers(port) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write("PING\r\n"));
    socket.once("error", reject).once("data", (data) => {
      socket.destroy();
      resolve(data.toString().startsWith("+PONG"));
    });
  });
}
