import { mkdirSync } from "node:fs";
import { down } from "../stack/down.mjs";
import { hasRedis, startRedis } from "../stack/redis.mjs";
import { addressesIn, readState } from "../stack/state.mjs";
import { up } from "../stack/up.mjs";

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
  const redis = needsRedis && hasRedis() ? await startRedis({ signal }) : null; // without one, its parts say so
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
