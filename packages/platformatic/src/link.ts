import type { Socket } from "node:net";
import { PlatformaticDriverError } from "./errors.ts";
import { codesOf, responseOf, type ClientConnection, type ClientConnectionOptions, type PlatformaticModule } from "./low-level-client.ts";

/** Where a broker is reached. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/**
 * One connection to one broker, opened with the first request. When a request was not answered, the connection is ended, and the next request
 * opens another one: version 1 of the client reads nothing more after an answer that comes too late.
 */
export class Link {
  readonly #module: Pick<PlatformaticModule, "Connection">;
  readonly #options: ClientConnectionOptions;
  readonly #clientId: string;
  readonly #address: Address;
  #connection: ClientConnection | undefined;
  #opened: Promise<ClientConnection> | undefined;
  #isClosed = false;

  constructor(module: Pick<PlatformaticModule, "Connection">, clientId: string, options: ClientConnectionOptions, address: Address) {
    this.#module = module;
    this.#clientId = clientId;
    this.#options = options;
    this.#address = address;
  }

  async send<T>(request: (connection: ClientConnection) => Promise<T>): Promise<T> {
    const opened = this.#open();
    try {
      return await request(await opened);
    } catch (error) {
      const isAnswered = codesOf(error).length > 0 || responseOf(error) !== undefined;
      if (!isAnswered && this.#opened === opened) {
        this.drop();
      }
      throw error;
    }
  }

  /** Ends the connection. What waits for an answer fails. */
  drop(): void {
    const connection = this.#connection;
    this.#connection = undefined;
    this.#opened = undefined;
    void connection?.close().catch(() => {}); // ends its timers
    connection?.socket?.destroy(); // a close waits until all that was written has left
  }

  close(): void {
    this.#isClosed = true;
    this.drop();
  }

  #open(): Promise<ClientConnection> {
    if (this.#isClosed) {
      return Promise.reject(new PlatformaticDriverError("client-crashed", "the session is closed"));
    }
    this.#opened ??= this.#connect();
    return this.#opened;
  }

  async #connect(): Promise<ClientConnection> {
    const connection = new this.#module.Connection(this.#clientId, this.#options);
    this.#connection = connection;
    connection.on("error", () => {}); // whoever waits for an answer learns of it; without a listener, the process would end
    connection.on("close", () => {
      if (this.#connection === connection) {
        this.drop();
      }
    });
    const { host, port } = this.#address;
    await connection.connect(host, port);
    if (connection.socket !== undefined) {
      guardListeners(connection.socket);
    }
    return connection;
  }
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
