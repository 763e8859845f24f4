import { hasRedis } from "../stack/redis.mjs";
import { StackError } from "../stack/stack-error.mjs";

/** Throws with how to get Redis if this machine has none. */
export function requireRedis() {
  if (!hasRedis()) {
    throw new StackError(
      "redis-missing",
      'no Redis found (tried "redis-server --version"). Get it with: apt-get install redis-server (Debian, Ubuntu), brew install redis ' +
        "(macOS); if one runs already, set REDIS_URL to its address",
    );
  }
}
