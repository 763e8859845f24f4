import { Socket } from "node:net";
import { PostgresSinkError } from "./errors.ts";
import type { OwnPool, PostgresPool } from "./options.ts";

/** How long connections may take to say good-bye. */
const goodbyeMs = 1_000;

/**
 * A pool of the package pg, and an end that comes whatever the database does: pg itself waits for ever for a server that accepts and does not
 * answer, and its sockets keep the process alive.
 */
export async function ownPool(connectionString: string | null): Promise<OwnPool> {
  const sockets = new PoolSockets();
  const pg = await loadPg();
  const pool = new pg.Pool({
    keepAlive: true,
    stream: () => sockets.make(),
    ...(connectionString === null ? {} : { connectionString }),
  });
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  pool.on("error", () => {});
  const connects = pool as unknown as PostgresPool; // pg's own types are wider
  return {
    connect: () => connects.connect(),
    closeSilent: (sinceMs) => sockets.closeSilent(sinceMs),
    end: async () => {
      // Not awaited: where it does not end by itself, its connections are ended, and then it does.
      void pool.end().catch(() => {});
      await sockets.end(goodbyeMs);
    },
  };
}

/** The sockets of a pool that are open. */
class PoolSockets {
  /** Each with the moment at which something was last heard on it. */
  readonly #open = new Map<Socket, number>();
  #onNoneLeft: () => void = () => {};

  make(): Socket {
    const socket = new Socket();
    this.#open.set(socket, performance.now());
    socket.on("data", () => this.#open.set(socket, performance.now()));
    socket.once("close", () => {
      this.#open.delete(socket);
      if (this.#open.size === 0) {
        this.#onNoneLeft();
      }
    });
    return socket;
  }

  async closeSilent(sinceMs: number): Promise<void> {
    const silent = [...this.#open].filter(([, heardMs]) => heardMs <= sinceMs);
    // The pool hears of it before this does: it gives none of them out any more.
    await Promise.all(silent.map(([socket]) => new Promise((resolve) => socket.once("close", resolve).destroy())));
  }

  /** Resolves when all are closed: by themselves within this time, or else by force. */
  async end(withinMs: number): Promise<void> {
    if (this.#open.size === 0) {
      return;
    }
    const closed = new Promise<void>((resolve) => {
      this.#onNoneLeft = resolve;
    });
    const timer = setTimeout(() => void this.closeSilent(performance.now()), withinMs);
    await closed;
    clearTimeout(timer);
  }
}

async function loadPg(): Promise<typeof import("pg")> {
  try {
    return (await import("pg")).default as unknown as typeof import("pg"); // a CommonJS module: all its names are on the default
  } catch (error) {
    throw new PostgresSinkError("pg-missing", "the package pg cannot be loaded: npm install pg, or give a pool", { cause: error });
  }
}
