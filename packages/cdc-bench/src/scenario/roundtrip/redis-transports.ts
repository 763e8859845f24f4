import { asBuffer, PendingDeliveries, type Transport } from "./transport.ts";
import { connectRedis, explainRedis, type RedisAddress, type RedisConnection } from "./redis-connection.ts";

/** Keys go by themselves after so long, whatever becomes of this process. */
const keepSeconds = 3_600;
/** What a stream keeps, about: nobody reads an entry twice. */
const maxStreamEntries = 10_000;
const blockMs = 1_000;
const maxEntriesPerRead = 1_000;

/** SET and then GET of the same key: what the published benchmark does. Each exchange in flight has keys of its own. */
export async function openRedisValues(address: RedisAddress, hash: string): Promise<Transport> {
  const client = await connectRedis(address);
  const free: string[] = [];
  let made = 0;
  return {
    async exchange(payloads, onSent) {
      const fields = payloads.map(() => free.pop() ?? String(made++));
      try {
        // All of them in one go: the client writes what is asked in one turn of the event loop in one packet.
        const keys = fields.map((field) => `${hash}:${field}`);
        await Promise.all(
          payloads.map((payload, i) => client.set(keys[i] ?? "", asBuffer(payload), { expiration: { type: "EX", value: keepSeconds } })),
        );
        onSent();
        const found = await Promise.all(keys.map((key) => client.get(key)));
        return found.map((bytes) => bytes ?? Buffer.alloc(0));
      } catch (error) {
        throw explainRedis(address.url, error);
      } finally {
        free.push(...fields);
      }
    },
    close: async () => {
      await client.unlink(Array.from({ length: Math.max(1, made) }, (_, field) => `${hash}:${field}`)).catch(() => {});
      await endOf(client);
    },
  };
}

/** XADD by one connection, XREAD by another one that waits for what comes. */
export async function openRedisStream(address: RedisAddress, key: string): Promise<Transport> {
  const writer = await connectRedis(address);
  const reader = await connectRedis(address).catch(async (error: unknown) => {
    await endOf(writer);
    throw error;
  });
  const pending = new PendingDeliveries();
  let isOpen = true;
  const reading = (async () => {
    let id = "0";
    while (isOpen) {
      const streams = await reader.xRead({ key, id }, { BLOCK: blockMs, COUNT: maxEntriesPerRead });
      for (const { messages } of (streams ?? []) as readonly StreamReply[]) {
        for (const entry of messages) {
          id = String(entry.id);
          pending.deliver(String(entry.message["n"]), entry.message["v"] ?? Buffer.alloc(0));
        }
      }
    }
  })();
  reading.catch((error: unknown) => pending.fail(explainRedis(address.url, error)));
  let isKept = false;
  return {
    async exchange(payloads, onSent) {
      try {
        const numbers = payloads.map(() => pending.number());
        const delivered = Promise.all(numbers.map((number) => pending.wait(number)));
        delivered.catch(() => {}); // if sending fails, that is the error to tell
        await Promise.all(
          payloads.map((payload, i) =>
            writer.xAdd(
              key,
              "*",
              { n: numbers[i] ?? "", v: asBuffer(payload) },
              { TRIM: { strategy: "MAXLEN", strategyModifier: "~", threshold: maxStreamEntries } },
            ),
          ),
        );
        if (!isKept) {
          isKept = true;
          await writer.expire(key, keepSeconds);
        }
        onSent();
        return await delivered;
      } catch (error) {
        throw explainRedis(address.url, error);
      }
    },
    async close() {
      isOpen = false;
      reader.destroy();
      await reading.catch(() => {});
      await writer.unlink(key).catch(() => {});
      await endOf(writer);
    },
  };
}

interface StreamReply {
  readonly messages: readonly { readonly id: unknown; readonly message: Readonly<Record<string, Uint8Array>> }[];
}

async function endOf(client: RedisConnection): Promise<void> {
  await client.close().catch(() => client.destroy());
}
