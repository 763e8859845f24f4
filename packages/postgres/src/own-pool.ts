import { Socket } from "node:net";
import { PostgresSinkError } from "./errors.ts";
import type { HeardBytes, OwnPool, PostgresPool } from "./options.ts";

/** After how long without a word the system asks whether the other end of a connection is still there. */
const keepAliveMs = 10_000;

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
    keepAliveInitialDelayMillis: keepAliveMs, // one statement has no time limit: that which rewrites a table
    stream: () => sockets.make(),
    ...(connectionString === null ? {} : { connectionString }),
  });
  // The pool replaces an idle connection that breaks. Without a listener, its error would end the process.
  pool.on("error", () => {});
  // The same if the server ends a new connection in the packet that says that it is ready: whoever waits for it hears of it only after that.
  pool.on("connect", (client) => client.on("error", () => {}));
  const connects = pool as unknown as PostgresPool; // pg's own types are wider
  return {
    connect: () => connects.connect(),
    heard: () => sockets.heard(),
    closeSilent: (since) => sockets.closeSilent(since),
    end: async () => {
      // Not awaited: it ends at the latest when its connections are closed below.
      void pool.end().catch(() => {});
      await sockets.end(goodbyeMs);
    },
  };
}

/** The open sockets of a pool. */
class PoolSockets {
  readonly #open = new Set<Socket>();
  #onNoneLeft: () => void = () => {};

  make(): Socket {
    const socket = new Socket();
    this.#open.add(socket);
    socket.once("close", () => {
      this.#open.delete(socket);
      if (this.#open.size === 0) {
        this.#onNoneLeft();
      }
    });
    return socket;
  }

  /** Bytes are counted, and not the event `data` awaited: with TLS, pg reads from another socket, and this one emits nothing any more. */
  heard(): HeardBytes {
    return new Map([...this.#open].map((socket) => [socket, socket.bytesRead]));
  }

  closeSilent(since: HeardBytes): Promise<void> {
    return this.#close([...this.#open].filter((socket) => since.get(socket) === socket.bytesRead));
  }

  /** The pool hears of the error before the listener here does, and does not hand the connection out again. */
  async #close(sockets: readonly Socket[]): Promise<void> {
    await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once("close", resolve).destroy())));
  }

  /** Resolves when all are closed. Those that do not close within this time are destroyed. */
  async end(withinMs: number): Promise<void> {
    if (this.#open.size === 0) {
      return;
    }
    const closed = new Promise<void>((resolve) => {
      this.#onNoneLeft = resolve;
    });
    const timer = setTimeout(() => void this.#close([...this.#open]), withinMs);
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
