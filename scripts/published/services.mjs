import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { down } from "../stack/down.mjs";
import { freePorts } from "../stack/ports.mjs";
import { startProcess, stopProcess } from "../stack/process.mjs";
import { addressesIn, readState } from "../stack/state.mjs";
import { up } from "../stack/up.mjs";
import { waitUntil } from "../stack/wait.mjs";

/**
 * Starts what the parts need, in a folder of its own. A stack that an earlier run left, because it was killed, is stopped first.
 * @param {string} dir
 * @param {{ needsStack: boolean, needsRedis: boolean, signal: AbortSignal }} wanted
 * @returns {Promise<{ services: import("./parts.mjs").Services, stop(): Promise<void> }>}
 */
export async function startServices(dir, { needsStack, needsRedis, signal }) {
  mkdirSync(dir, { recursive: true });
  if (readState(dir) !== null) {
    await down(dir);
  }
  const redis = needsRedis ? await startRedis(dir, signal) : null;
  const stop = async () => {
    if (needsStack && readState(dir) !== null) {
      await down(dir);
    }
    await redis?.stop();
  };
  try {
    if (needsStack) {
      await up(dir, signal);
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { services: { stackDir: dir, ...(needsStack ? addresses(dir) : noAddresses), redisUrl: redis?.url ?? null }, stop };
}

const noAddresses = { brokers: "", registryUrl: "", databaseUrl: "" };

/** @param {string} dir */
function addresses(dir) {
  const { brokers, registryUrl, postgres } = addressesIn(dir);
  const { user, password, host, port, database } = postgres;
  return {
    brokers,
    registryUrl,
    databaseUrl: `postgres://${encodeURIComponent(user)}:${encodeURIComponent(password)}@${host}:${port}/${database}`,
  };
}

/**
 * A Redis without persistence, which ends with this process. Null if none is installed: its parts then say so.
 * @param {string} dir
 * @param {AbortSignal} signal
 */
async function startRedis(dir, signal) {
  if (spawnSync("redis-server", ["--version"]).status !== 0) {
    return null;
  }
  const [port = 0] = await freePorts(1);
  const { record, assertAlive } = startProcess({
    name: "redis",
    command: "redis-server",
    args: ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", dir],
    marker: `:${port}`, // it renames itself to "redis-server 127.0.0.1:PORT"
    log: join(dir, "redis.log"),
    outlive: false,
  });
  try {
    await waitUntil({
      what: "Redis",
      deadlineMs: 20_000,
      signal,
      giveUp: assertAlive,
      check: () => answers(port),
    });
  } catch (error) {
    await stopProcess(record);
    throw error;
  }
  return { url: `redis://127.0.0.1:${port}`, stop: () => stopProcess(record) };
}

/** @param {number} port @returns {Promise<boolean>} */
function answers(port) {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write("PING\r\n"));
    socket.once("data", (data) => {
      socket.destroy();
      resolve(data.toString().startsWith("+PONG"));
    });
    socket.once("error", () => resolve(false));
  });
}
