import { setTimeout as wait } from "node:timers/promises";
import { BenchError } from "../../bench-error.ts";

/** The part of @redis/client that is used here. */
type RedisModule = typeof import("@redis/client");

/** The commands that are used here, with values as bytes. */
export interface RedisConnection {
  ping(): Promise<unknown>;
  set(key: string, value: Buffer, options: { readonly expiration: { readonly type: "EX"; readonly value: number } }): Promise<unknown>;
  get(key: string): Promise<Buffer | null>;
  xAdd(key: string, id: "*", message: Readonly<Record<string, string | Buffer>>, options: StreamTrim): Promise<unknown>;
  xRead(
    stream: { readonly key: string; readonly id: string },
    options: { readonly BLOCK: number; readonly COUNT: number },
  ): Promise<unknown>;
  expire(key: string, seconds: number): Promise<unknown>;
  unlink(keys: string | string[]): Promise<unknown>;
  /** Lets what is under way end. */
  close(): Promise<unknown>;
  /** Ends at once. */
  destroy(): void;
}

interface StreamTrim {
  readonly TRIM: { readonly strategy: "MAXLEN"; readonly strategyModifier: "~"; readonly threshold: number };
}

export interface RedisAddress {
  /** `redis://user:password@host:port/0`. Its userinfo is a secret. */
  readonly url: string;
}

const connectTimeoutMs = 5_000;

/** Reaches a Redis, or fails with a sentence that says what stands in the way. The package @redis/client does the talking. */
export async function connectRedis({ url }: RedisAddress): Promise<RedisConnection> {
  const redis = await loadRedis();
  const seen: Error[] = [];
  const client = createRedisClient(redis, url, (error) => seen.push(error));
  try {
    const connected = client.connect().then(() => client.ping());
    connected.catch(() => {}); // it may fail after the race is over
    const answer = await Promise.race([connected, wait(connectTimeoutMs, "silent", { ref: false })]);
    if (answer === "silent") {
      throw new Error("silent");
    }
    return client;
  } catch (error) {
    client.destroy();
    throw explainRedis(url, seen[0] ?? error);
  }
}

function createRedisClient({ createClient, RESP_TYPES }: RedisModule, url: string, onError: (error: Error) => void): RedisClient {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    socket: { connectTimeout: connectTimeoutMs, reconnectStrategy: false },
  });
  client.on("error", onError);
  return client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer }) as unknown as RedisClient; // its own type is as long as Redis' list of commands
}

interface RedisClient extends RedisConnection {
  connect(): Promise<unknown>;
}

async function loadRedis(): Promise<RedisModule> {
  try {
    return await import("@redis/client");
  } catch (cause) {
    throw new BenchError("usage", "to talk to Redis the package @redis/client is needed: npm install @redis/client.", { cause });
  }
}

/** Why Redis did not let us in or went away. What a server says is not repeated: it could hold what was typed. */
export function explainRedis(url: string, error: unknown): BenchError {
  const { host } = new URL(url);
  const { code, message } = Object(error) as { readonly code?: unknown; readonly message?: unknown };
  const said = `${String(code ?? "")} ${String(message ?? error)}`;
  const known = reasons.find(({ pattern }) => pattern.test(said));
  return new BenchError("connection", known?.sentence(host) ?? `Redis at ${host} failed (${String(code ?? "no code")}): look at its log.`, {
    cause: error,
  });
}

interface Reason {
  readonly pattern: RegExp;
  readonly sentence: (host: string) => string;
}

const reasons: readonly Reason[] = [
  {
    pattern: /ECONNREFUSED/,
    sentence: (host) => `no Redis answers at ${host}: start one (redis-server), or name another with --redis redis://HOST:PORT.`,
  },
  { pattern: /ENOTFOUND|EAI_AGAIN/, sentence: (host) => `there is no host of the name in --redis (${host}).` },
  {
    pattern: /NOAUTH/,
    sentence: (host) => `Redis at ${host} wants a password: set REDIS_PASSWORD (and a user as redis://USER@HOST:PORT).`,
  },
  {
    pattern: /WRONGPASS|invalid password|invalid username|without any password configured/i,
    sentence: (host) => `Redis at ${host} refuses the user or the password: check REDIS_PASSWORD and the user in --redis.`,
  },
  {
    pattern: /NOPERM/,
    sentence: (host) =>
      `Redis at ${host} does not let this user do what is needed: SET, GET, XADD, XREAD, EXPIRE and UNLINK on keys named cdc-bench-*.`,
  },
  {
    pattern: /DB index is out of range/i,
    sentence: (host) => `Redis at ${host} has no database of the number in --redis: leave it away, or name a smaller one.`,
  },
  {
    pattern: /OOM|MISCONF|READONLY|LOADING/,
    sentence: (host) => `Redis at ${host} takes no writes now: look at its memory, its disk and its role.`,
  },
  {
    pattern: /Unknown RESP type|Invalid|Socket closed unexpectedly|ECONNRESET|client is closed/i,
    sentence: (host) =>
      `what answers at ${host} does not speak Redis' protocol, or hung up: is it another server, or one that wants TLS (rediss://)?`,
  },
  {
    pattern: /silent|ETIMEDOUT|timeout/i,
    sentence: (host) => `what listens at ${host} does not answer within ${connectTimeoutMs / 1e3} s: is it a Redis?`,
  },
];
