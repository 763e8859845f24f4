import { BenchError } from "../../bench-error.ts";
import type { RemoveThing } from "../leftovers.ts";
import { withLogin } from "../thing.ts";
import { connectResp, type RespConnection } from "./resp-connection.ts";

export interface RedisKeyRemover {
  readonly removeKey: RemoveThing;
  close(): Promise<void>;
}

/**
 * One connection to each Redis serves all of its keys: a run has thousands. If it fails, no other is tried, and every key gets the reason.
 * @param access used for the Redis that it names, and for no other
 */
export function createRedisKeyRemover(access: string | undefined): RedisKeyRemover {
  const connections = new Map<string, Promise<RespConnection>>();
  const connectionTo = (at: string): Promise<RespConnection> => {
    const connection = connections.get(at) ?? openRedis(withLogin(at, [access]));
    connections.set(at, connection);
    return connection;
  };
  return {
    // The command that the run itself needs a right to.
    removeKey: async ({ name, at }) => (await connectionTo(at)).run(["UNLINK", name]),
    close: async () => {
      await Promise.all([...connections.values()].map((opening) => opening.then((opened) => opened.close()).catch(() => {}))); // one that was never opened, too
    },
  };
}

/** Connects and logs in. @param address with its login: a secret */
async function openRedis(address: string): Promise<RespConnection> {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !["redis:", "rediss:"].includes(url.protocol)) {
    throw new BenchError("usage", "the address of a Redis must start with redis:// or rediss://");
  }
  const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  const database = url.pathname.slice(1);
  const connection = await connectResp(url);
  try {
    if (user !== "" || password !== "") {
      await connection.run(user === "" ? ["AUTH", password] : ["AUTH", user, password]);
    }
    if (!["", "0"].includes(database)) {
      await connection.run(["SELECT", database]); // without need it would be one more right that a user must have
    }
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}
