import { connect as connectPlain, isIP, type Socket } from "node:net";
import { connect as connectTls, type ConnectionOptions } from "node:tls";
import type { ISocketFactory } from "kafkajs";

const keepAliveDelayMs = 60_000;

/** Makes kafkajs' sockets and knows which are open, so that a stop can end them at its deadline: kafkajs itself may wait for ever. */
export class Sockets {
  readonly #open = new Set<Socket>();
  #isEnded = false;

  readonly factory: ISocketFactory = ({ host, port, ssl, onConnect }) => {
    // kafkajs declares an object here; `ssl: true` arrives as it was given.
    const tls = ssl as ConnectionOptions | boolean | undefined;
    const socket = tls
      ? connectTls({ host, port, ...(isIP(host) === 0 ? { servername: host } : {}), ...(tls === true ? {} : tls) }, onConnect)
      : connectPlain({ host, port }, onConnect);
    socket.setKeepAlive(true, keepAliveDelayMs);
    this.#open.add(socket);
    if (this.#isEnded) {
      // kafkajs retries on its own; from here on it finds nobody.
      socket.destroy(new Error("the driver was closed"));
    }
    socket.once("close", () => this.#open.delete(socket));
    return socket;
  };

  /** Ends every socket, and those that are still to come. */
  destroy(): void {
    this.#isEnded = true;
    for (const socket of this.#open) {
      socket.destroy();
    }
  }
}
