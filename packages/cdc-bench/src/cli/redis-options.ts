import { type Command, InvalidArgumentError } from "commander";
import { BenchError } from "../bench-error.ts";
import type { Terminal } from "../terminal.ts";
import { envValue } from "./env-value.ts";

export interface RedisFlags {
  readonly redis?: string;
}

export function addRedisFlag(command: Command): Command {
  return command.option(
    "--redis <url>",
    "redis://host:port/0, or rediss:// for TLS (env REDIS_URL; the password by env REDIS_PASSWORD)",
    parseRedisUrl,
  );
}

/** The address with its login: a secret. */
export function resolveRedis({ redis }: RedisFlags, env: Terminal["env"]): string {
  const address = redis ?? envValue("REDIS_URL", env, parseRedisUrl);
  if (address === undefined) {
    throw new BenchError("usage", "where is Redis? Give --redis redis://HOST:PORT, or set REDIS_URL.");
  }
  const password = envValue("REDIS_PASSWORD", env, String);
  const url = new URL(address);
  if (password !== undefined) {
    url.password = encodeURIComponent(password);
  }
  return url.href;
}

function parseRedisUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !["redis:", "rediss:"].includes(url.protocol) || url.hostname === "" || !/^(\/\d{0,5})?$/.test(url.pathname)) {
    throw new InvalidArgumentError("It must be an address such as redis://127.0.0.1:6379.");
  }
  return text;
}
