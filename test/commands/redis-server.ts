import { connect } from "node:net";
import { hasRedis, startRedis as start } from "../../scripts/stack/redis.mjs";

/** A Redis of a test's own, in memory alone. */
export interface TestRedis {
  readonly url: string;
  readonly port: number;
  /** One command in Redis' own protocol, and the answer as it comes: the truth that no client stands in front of. */
  ask(...command: readonly string[]): Promise<string>;
  stop(): Promise<void>;
}

/** Why this machine has no Redis, or an empty text. */
export function missingForRedis(): string {
  return hasRedis() ? "" : "there is no redis-server here (Debian: apt-get install redis-server)";
}

export async function startRedis(...settings: readonly string[]): Promise<TestRedis> {
  const redis = await start({ settings });
  return { ...redis, ask: (...command) => ask(redis.port, command) };
}

function ask(port: number, command: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let answer = "";
    socket.once("error", reject).once("close", () => resolve(answer));
    socket.on("data", (chunk: Buffer) => (answer += chunk.toString()));
    // QUIT closes the connection behind the answer.
    for (const words of [command, ["QUIT"]]) {
      socket.write(`*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join("")}`);
    }
  });
}
