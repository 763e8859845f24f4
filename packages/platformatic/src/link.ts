import type { Socket } from "node:net";
import { credentialDeadlineMs, type HostAndPort } from "@cdckit/driver";
import { PlatformaticDriverError } from "./errors.ts";
import {
  type ClientConnection,
  type ClientConnectionOptions,
  type ClientLogin,
  codes,
  codesOf,
  isAnswer,
  type PlatformaticModule,
} from "./low-level-client.ts";

export interface LinkParts {
  readonly module: Pick<PlatformaticModule, "Connection">;
  readonly clientId: string;
  /** `connectTimeout` is without the time that functions for credentials take. */
  readonly options: ClientConnectionOptions;
  readonly address: HostAndPort;
  /** A connection was ended. The next one may reach another broker at this address, or the same one in another version. */
  readonly ended: () => void;
}

/** A connection, perhaps one that is still being made. */
interface Opened {
  readonly connection: ClientConnection;
  readonly connected: Promise<void>;
  /** How many requests wait for it, or for an answer on it. */
  waiting: number;
}

/** No login runs out as early as this. */
const shortestLoginMs = 100;

/**
 * One connection to one broker, opened with the first request. When a request was not answered, the connection is ended, and the next request
 * opens another one: version 1 of the client reads nothing more after an answer that comes too late.
 *
 * A login lasts for as long as the broker says (`connections.max.reauth.ms`). The client would log in again on the same connection, and send other
 * requests between those of the login, which brokers refuse. So the next request opens another connection before that, and the old one is ended
 * after its last answer. For a login of more than 31 days the client's timer overflows and fires at once, which changes nothing: such a connection
 * is used for as long as the broker keeps it.
 */
export class Link {
  readonly #parts: LinkParts;
  /** All that are not ended. */
  readonly #open = new Set<Opened>();
  /** The one on which the next request is sent. */
  #current: Opened | undefined;
  #isClosed = false;

  constructor(parts: LinkParts) {
    this.#parts = parts;
  }

  /** Whether it has a connection, perhaps one that is still being made. */
  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  async send<T>(request: (connection: ClientConnection) => Promise<T>): Promise<T> {
    if (this.#isClosed) {
      throw new PlatformaticDriverError("client-crashed", "the session is closed");
    }
    this.#current ??= this.#connect();
    const opened = this.#current;
    opened.waiting++;
    try {
      await opened.connected;
      return await request(opened.connection);
    } catch (error) {
      const isLoggedOut = codesOf(error).includes(codes.illegalSaslState);
      if (isLoggedOut || !isAnswer(error)) {
        this.#end(opened);
      }
      throw isLoggedOut ? loggedOut(error) : error;
    } finally {
      opened.waiting--;
      this.#endIfUnused(opened);
    }
  }

  /** Ends the connection. What waits for an answer fails. */
  drop(): void {
    this.#open.forEach((opened) => this.#end(opened));
  }

  close(): void {
    this.#isClosed = true;
    this.drop();
  }

  #connect(): Opened {
    const { module, clientId, options, address } = this.#parts;
    const connectTimeout = options.connectTimeout + askedForMs(options.sasl); // the client counts a login as a part of connecting
    const connection = new module.Connection(clientId, { ...options, connectTimeout });
    connection.on("error", () => {}); // whoever waits for an answer learns of it; without a listener, the process would end
    connection.on("close", () => this.#end(opened));
    let connectedMs = Infinity;
    connection.reauthenticate = () => {
      if (performance.now() - connectedMs >= shortestLoginMs) {
        this.#retire(opened);
      }
    };
    const connected = connection.connect(address.host, address.port).then(() => {
      connectedMs = performance.now();
    });
    const opened = { connection, connected, waiting: 0 };
    this.#open.add(opened);
    const { socket } = connection;
    socket?.setTimeout(options.connectTimeout); // until it is connected: a broker that is away is noticed as early as without a function
    // The client listens for data from this event on, and logs in with it: a login is guarded, too.
    socket?.once(options.tls === undefined ? "connect" : "secureConnect", () => guardListeners(socket));
    return opened;
  }

  /** Nothing more is sent on it. */
  #retire(opened: Opened): void {
    this.#current = this.#current === opened ? undefined : this.#current;
    this.#endIfUnused(opened);
  }

  #endIfUnused(opened: Opened): void {
    if (opened !== this.#current && opened.waiting === 0) {
      this.#end(opened);
    }
  }

  #end(opened: Opened): void {
    this.#current = this.#current === opened ? undefined : this.#current;
    if (this.#open.delete(opened)) {
      void opened.connection.close().catch(() => {}); // ends its timers
      opened.connection.socket?.destroy(); // a close waits until all that was written has left
      this.#parts.ended();
    }
  }
}

/** How long the functions for the credentials of a login may take. The client asks one after the other. */
function askedForMs({ username, password, token }: Partial<ClientLogin> = {}): number {
  return [username, password, token].filter((credential) => typeof credential === "function").length * credentialDeadlineMs;
}

/** The client throws out of its listener at a frame that is too short, which would end the process. What cannot be read ends the connection. */
function guardListeners(socket: Socket): void {
  for (const listener of socket.listeners("data") as ((chunk: Buffer) => void)[]) {
    socket.off("data", listener);
    socket.on("data", (chunk: Buffer) => {
      try {
        listener.call(socket, chunk);
      } catch (cause) {
        socket.destroy(
          new PlatformaticDriverError("protocol-mismatch", "expected a response to a request, found bytes that cannot be read as one", {
            cause,
          }),
        );
      }
    });
  }
}

/** No answer to the request: the next connection logs in. */
function loggedOut(cause: unknown): PlatformaticDriverError {
  return new PlatformaticDriverError("brokers-unreachable", "the broker took the connection for one that is not logged in", { cause });
}
