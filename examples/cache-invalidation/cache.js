import { createClient } from "@redis/client";

const keptForS = 3_600;
// Longer than a reader may take between its two questions to Redis.
const changedForS = 60;

/**
 * Sets a row only if it has not changed since the reader looked. Without it, a slow reader would put back what a change has deleted:
 *   1. the reader misses, and reads the old row from the database
 *   2. the row changes, its event comes, and the key is deleted
 *   3. the reader sets the key to the old row, which nothing deletes again
 */
const setUnlessChanged = `
  if (redis.call("GET", KEYS[2]) or "0") == ARGV[1] then
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

    /** How often the row has changed lately. A reader asks before it reads the database. @param {string} key */
    changesOf: async (key) => (await client.get(changesKey(key))) ?? "0",

    /** @param {string} key @param {string} row @param {string} changes what `changesOf` said before the row was read */
    set: (key, row, changes) => client.eval(setUnlessChanged, { keys: [rowKey(key), changesKey(key)], arguments: [changes, row] }),

    /** What these keys had is no longer so. It may be done twice, and in any order. @param {ReadonlySet<string>} keys */
    async delete(keys) {
      const commands = client.multi();
      for (const key of keys) {
        commands.del(rowKey(key)).incr(changesKey(key)).expire(changesKey(key), changedForS);
      }
      await commands.exec();
    },

    close: () => client.close(),
  };
}

/** @param {string} key */
const rowKey = (key) => `products:${key}`;
/** @param {string} key */
const changesKey = (key) => `products:${key}:changes`;
