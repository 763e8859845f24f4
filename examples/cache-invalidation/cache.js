import { randomUUID } from "node:crypto";
import { createClient } from "@redis/client";

const keptForS = 3_600;
// Longer than a reader may take between its two questions to Redis.
const changedForS = 60;
/** What stands for the last change of a row that has not changed lately. */
const unchanged = "";

/**
 * Sets a row only if it has not changed since the reader looked. Without it, a slow reader would put back what a change has deleted:
 *   1. the reader misses, and reads the old row from the database
 *   2. the row changes, its event comes, and the key is deleted
 *   3. the reader sets the key to the old row, which nothing deletes again
 */
const setUnlessChanged = `
  if (redis.call("GET", KEYS[2]) or "${unchanged}") == ARGV[1] then
    redis.call("SET", KEYS[1], ARGV[2], "EX", ${keptForS})
    return 1
  end
  return 0`;

/**
 * A cache of rows in Redis.
 * @param {string} url
 * @param {(error: Error) => void} onError
 */
export async function openCache(url, onError) {
  let isOpen = false;
  const client = createClient({
    url,
    disableOfflineQueue: true, // a read asks the database while Redis is away, and does not wait
    socket: { connectTimeout: 5_000, reconnectStrategy: (attempts) => isOpen && Math.min(attempts * 100, 2_000) },
  });
  client.on("error", (error) => isOpen && onError(error));
  await client.connect().catch((cause) => {
    const help = "Start one (apt-get install redis-server; npm run example starts its own), or set REDIS_URL to the address of one";
    throw new Error(`no Redis answers at ${new URL(url).host}. ${help}`, { cause });
  });
  isOpen = true;

  return {
    /** @param {string} key @returns {Promise<string | null>} */
    get: (key) => client.get(rowKey(key)),

    /** The id of the row's last change, if there was one lately. A reader asks before it reads the database. @param {string} key */
    lastChangeOf: async (key) => (await client.get(changeKey(key))) ?? unchanged,

    /** @param {string} key @param {string} row @param {string} lastChange what `lastChangeOf` said before the row was read */
    set: (key, row, lastChange) => client.eval(setUnlessChanged, { keys: [rowKey(key), changeKey(key)], arguments: [lastChange, row] }),

    /**
     * What these keys had is no longer so. It may be done twice, and in any order. A change has a random id, and no number: a count would begin
     * again after it has expired, and a reader from before would meet its own number again.
     * @param {ReadonlySet<string>} keys
     */
    async delete(keys) {
      const commands = client.multi();
      for (const key of keys) {
        commands.del(rowKey(key)).set(changeKey(key), randomUUID(), { expiration: { type: "EX", value: changedForS } });
      }
      await commands.exec();
    },

    close: () => client.close(),
  };
}

/** @param {string} key */
const rowKey = (key) => `products:${key}`;
/** @param {string} key */
const changeKey = (key) => `products:${key}:change`;
