import { connect as connectPlain, isIP, type Socket } from "node:net";
import { checkServerIdentity, connect as connectTls, type ConnectionOptions } from "node:tls";
import type { ISocketFactory, KafkaConfig } from "kafkajs";
import { driverClosed, KafkaJsDriverError } from "./errors.ts";
import { hostNamed, withoutColons } from "./ipv6-names.ts";
import type { BrokerAddress, ConnectTo } from "./options.ts";
import { FrameReader } from "./wire/frame-reader.ts";
import type { KeptFetches } from "./wire/kept-fetches.ts";
import { WireTap } from "./wire/wire-tap.ts";

const keepAliveDelayMs = 60_000;

export interface SocketListener {
  /** A socket could not connect, or broke, and no working socket is left. */
  readonly failed: (error: Error) => void;
  /** A broker has answered on a socket for the first time. */
  readonly answered: () => void;
}

/**
 * Makes kafkajs' sockets and knows which are open, so that a stop can end them. kafkajs itself may wait for ever, and a member that is stopped
 * while it joins would go on to join.
 */
export class Sockets {
  /** The open sockets, each with its broker, as kafkajs knows it, and the time at which it was opened. */
  readonly #open = new Map<Socket, { readonly broker: string; readonly sinceMs: number; readonly tap: WireTap | null }>();
  /** The sockets on which a broker has answered. */
  readonly #useful = new Set<Socket>();
  readonly #listener: SocketListener | null;
  readonly #connectTo: ConnectTo | undefined;
  readonly #kept: KeptFetches | null;
  #isEnded = false;

  /** `kept`: takes the record batches out of the answers to Fetch requests. If it is null, kafkajs gets them. */
  constructor(listener: SocketListener | null = null, connectTo?: ConnectTo, kept: KeptFetches | null = null) {
    this.#listener = listener;
    this.#connectTo = connectTo;
    this.#kept = kept;
  }

  readonly factory: ISocketFactory = ({ host: name, port, ssl, onConnect }) => {
    const host = hostNamed(name);
    // kafkajs' types say that this is an object, but `ssl: true` is passed on as true.
    const tls = ssl as ConnectionOptions | boolean | undefined;
    const address = this.#connectTo?.({ host, port }) ?? { host, port };
    const tap = this.#kept === null ? null : new WireTap(`${name}:${port}`, this.#kept);
    const reader = tap ?? new FrameReader();
    const receiving = { onread: reader.onread }; // spread: Node's types for TLS lack it
    const socket = tls
      ? connectTls({ ...address, ...identityOf(host, address), ...(tls === true ? {} : tls), ...receiving }, onConnect)
      : connectPlain({ host: address.host, port: address.port, ...receiving }, onConnect);
    reader.attach(socket);
    withoutRepeats(socket);
    socket.setKeepAlive(true, keepAliveDelayMs);
    this.#open.set(socket, { broker: `${name}:${port}`, sinceMs: performance.now(), tap });
    if (this.#isEnded) {
      end(socket, closedError);
    }
    this.#listen(socket);
    socket.once("close", () => void this.#open.delete(socket));
    return socket;
  };

  /**
   * The brokers, as a function that kafkajs calls before each attempt to connect. After the sockets are ended, the list is empty: kafkajs does
   * not try again then. It would retry a refused connection for minutes, in nested loops.
   */
  brokersWhileOpen(brokers: KafkaConfig["brokers"]): () => Promise<string[]> {
    return async () => {
      const given: unknown = this.#isEnded ? [] : typeof brokers === "function" ? await brokers() : brokers;
      // What a function gives is checked by kafkajs.
      return Array.isArray(given)
        ? given.map((broker) => (typeof broker === "string" ? withoutColons(broker) : broker))
        : (given as string[]);
    };
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
    let failure: Error | null = null; // stays null if kafkajs itself ends the socket
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

  /** kafkajs fetches no more, and need not wait for the fetches under way. Only those are ended that are read from the wire. */
  endFetches(): void {
    for (const { tap } of this.#open.values()) {
      tap?.endFetches();
    }
  }

  /** Ends every socket, and every socket that is made after this. */
  destroy(): void {
    this.#isEnded = true;
    for (const socket of this.#open.keys()) {
      end(socket, closedError);
    }
  }

  /**
   * Ends the sockets to a broker (to all brokers, if it is null) that were open at that time, by `performance.now()`. Returns how many
   * there were. kafkajs connects again with its next request. By itself it keeps a connection on which an answer is overdue.
   */
  replace(openSinceMs: number, broker: string | null = null): number {
    const silent = [...this.#open].filter(([, open]) => open.sinceMs <= openSinceMs && (broker === null || open.broker === broker));
    for (const [socket] of silent) {
      end(socket, silentError);
    }
    return this.#isEnded ? 0 : silent.length;
  }
}

/** The name that the certificate must hold: the broker's own, also if the connection goes to another address. */
function identityOf(host: string, address: BrokerAddress): ConnectionOptions {
  return {
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(address.host === host ? {} : { checkServerIdentity: (_, certificate) => checkServerIdentity(host, certificate) }),
  };
}

/**
 * kafkajs lets go of a socket for each of those that wait for the end of its requests, all at once if a broker is killed, and of a broker's last
 * socket at each of its own restarts. If that socket is destroyed, Node waits with it until the socket connects, which never happens. Each time a
 * listener is added, and the eleventh causes a warning.
 */
function withoutRepeats(socket: Socket): void {
  const unref = socket.unref.bind(socket);
  socket.unref = () => (socket.destroyed ? socket : unref());
}

/** Ends a socket with an error, because kafkajs would otherwise wait for its answers for ever. If kafkajs has ended it itself, without one. */
function end(socket: Socket, errorOf: () => Error): void {
  socket.destroy(socket.writableEnded ? undefined : errorOf());
  // kafkajs also sends requests on a destroyed socket, and waits for their answers until they time out.
  socket.write = () => {
    setImmediate(() => socket.listenerCount("error") > 0 && socket.emit("error", errorOf()));
    return true;
  };
}

function closedError(): Error {
  return new Error(driverClosed);
}

function silentError(): Error {
  return unreachable("the connection did not answer in time, and is replaced");
}

function unreachable(what: string): Error {
  return new KafkaJsDriverError("brokers-unreachable", what);
}
