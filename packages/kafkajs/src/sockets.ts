import { connect as connectPlain, isIP, type Socket } from "node:net";
import { connect as connectTls, type ConnectionOptions } from "node:tls";
import type { ISocketFactory, KafkaConfig } from "kafkajs";
import { KafkaJsDriverError } from "./errors.ts";

const keepAliveDelayMs = 60_000;

export interface SocketListener {
  /** A socket could not be connected, or broke, and none is left that is of use. */
  readonly failed: (error: Error) => void;
  /** A broker has answered on a socket for the first time. */
  readonly answered: () => void;
}

/**
 * Makes kafkajs' sockets and knows which are open, so that a stop can end them: kafkajs itself may wait for ever, and a member that is
 * stopped while it joins goes on to join.
 */
export class Sockets {
  /** The open ones, each with its broker and since when it is. */
  readonly #open = new Map<Socket, { readonly broker: string; readonly sinceMs: number }>();
  /** Those on which a broker has answered. */
  readonly #useful = new Set<Socket>();
  readonly #listener: SocketListener | null;
  #isEnded = false;

  constructor(listener: SocketListener | null = null) {
    this.#listener = listener;
  }

  readonly factory: ISocketFactory = ({ host, port, ssl, onConnect }) => {
    // kafkajs declares an object here; `ssl: true` arrives as it was given.
    const tls = ssl as ConnectionOptions | boolean | undefined;
    const socket = tls
      ? connectTls({ host, port, ...(isIP(host) === 0 ? { servername: host } : {}), ...(tls === true ? {} : tls) }, onConnect)
      : connectPlain({ host, port }, onConnect);
    socket.setKeepAlive(true, keepAliveDelayMs);
    this.#open.set(socket, { broker: `${host}:${port}`, sinceMs: Date.now() });
    if (this.#isEnded) {
      end(socket, closedError);
    }
    this.#listen(socket);
    socket.once("close", () => {
      this.#open.delete(socket);
      endRepeats(socket);
    });
    return socket;
  };

  /**
   * The brokers as kafkajs asks for them before each new attempt, and none once the sockets are ended: an empty list is what it does not
   * try again after. A refused connection it would retry, in loops within loops, for minutes.
   */
  brokersWhileOpen(brokers: KafkaConfig["brokers"]): () => Promise<string[]> {
    return async () => (this.#isEnded ? [] : typeof brokers === "function" ? await brokers() : brokers);
  }

  #listen(socket: Socket): void {
    const listener = this.#listener;
    if (listener === null) {
      return;
    }
    socket.once("data", () => {
      this.#useful.add(socket);
      listener.answered();
    });
    let failure: Error | null = null; // of one that kafkajs ends, there is none
    socket.once("error", (error) => {
      failure = error;
    });
    socket.once("end", () => {
      failure ??= socket.writableEnded ? null : unreachable("the broker has closed the connection");
    });
    socket.once("close", () => {
      this.#useful.delete(socket);
      if (failure !== null && this.#useful.size === 0) {
        listener.failed(failure);
      }
    });
  }

  /** Ends every socket, and those that are still to come. */
  destroy(): void {
    this.#isEnded = true;
    for (const socket of this.#open.keys()) {
      end(socket, closedError);
    }
  }

  /**
   * Ends the sockets to a broker (to all, without one) that were open at that moment, milliseconds since the epoch, and gives how many there
   * were. kafkajs connects anew when it asks next. Of itself it keeps a connection on which an answer is overdue, and goes on asking there.
   */
  replace(openSinceMs: number, broker: string | null = null): number {
    const silent = [...this.#open].filter(([, open]) => open.sinceMs <= openSinceMs && (broker === null || open.broker === broker));
    for (const [socket] of silent) {
      end(socket, silentError);
    }
    return this.#isEnded ? 0 : silent.length;
  }
}

/**
 * kafkajs lets go of a broker's last socket again at each of its own restarts. Of one that is closed, Node puts that off until it connects,
 * which it never does: a listener more each time, and a warning at the eleventh.
 */
function endRepeats(socket: Socket): void {
  socket.unref = () => socket;
}

/** With an error, or kafkajs would wait for the answers on it for ever; without one where it has said good-bye itself. */
function end(socket: Socket, errorOf: () => Error): void {
  socket.destroy(socket.writableEnded ? undefined : errorOf());
  // It also asks on a socket that is destroyed, and waits for the answer until the request's time is up.
  socket.write = () => {
    setImmediate(() => socket.listenerCount("error") > 0 && socket.emit("error", errorOf()));
    return true;
  };
}

function closedError(): Error {
  return new Error("the driver was closed");
}

function silentError(): Error {
  return unreachable("the connection did not answer in time, and is replaced");
}

function unreachable(what: string): Error {
  return new KafkaJsDriverError("brokers-unreachable", what);
}
