import { Socket } from "node:net";
import { PostgresSinkError } from "./errors.ts";
import type { OwnPool, PostgresPool } from "./options.ts";

/** How long connections may take to close. */
const goodbyeMs = 1_000;

/**
 * A pool of the package pg that closes whatever the database does. pg itself waits for ever for a server that accepts a connection and does
 * not answer, and its sockets keep the process alive.
 */
export async function ownPool(connectionString: string | null): Promise<OwnPool> {
  const sockets = new PoolSockets();
  const pg = await loadPg();
  const pool = new pg.Pool({
    keepAlive: true,
    stream: () => sockets.make(),
    ...(connectionString === null ? {} : { connectionString }),
  });
  // The pool replaces an idle connection that breaks. Without a listener, its error would end the process.
  pool.on("error", () => {});
  const connects = pool as unknown as PostgresPool; // pg's own types are wider
  return {
    connect: () => connects.connect(),
    closeSilent: (sinceMs) => sockets.closeSilent(sinceMs),
    end: async () => {
      // Not awaited: it ends at the latest when its connections are closed below.
      void pool.end().catch(() => {});
      await sockets.end(goodbyeMs);
    },
  };
}

/** The open sockets of a pool. */
class PoolSockets {
  /** Each socket, with the time at which something was last heard on it. */
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
    // The pool hears of the error before this listener does, and does not hand the connection out again.
    await Promise.all(silent.map(([socket]) => new Promise((resolve) => socket.once("close", resolve).destroy())));
  }

  /** Resolves when all are closed. Those that do not close within this time are destroyed. */
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
    throw new PostgresSinkError("pg-missing", "the package pg cannot be loaded: run npm install pg, or pass a pool", { cause: error });
  }
}
