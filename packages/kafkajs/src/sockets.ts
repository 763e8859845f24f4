import { connect as connectPlain, isIP, type Socket } from "node:net";
import { connect as connectTls, type ConnectionOptions } from "node:tls";
import type { ISocketFactory, KafkaConfig } from "kafkajs";

const keepAliveDelayMs = 60_000;

/**
 * Makes kafkajs' sockets and knows which are open, so that a stop can end them: kafkajs itself may wait for ever, and a member that is
 * stopped while it joins goes on to join.
 */
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
      end(socket);
    }
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

  /** Ends every socket, and those that are still to come. */
  destroy(): void {
    this.#isEnded = true;
    for (const socket of this.#open) {
      end(socket);
    }
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
function end(socket: Socket): void {
  socket.destroy(socket.writableEnded ? undefined : closedError());
  // It also asks on a socket that is destroyed, and waits for the answer until the request's time is up.
  socket.write = () => {
    setImmediate(() => socket.listenerCount("error") > 0 && socket.emit("error", closedError()));
    return true;
  };
}

function closedError(): Error {
  return new Error("the driver was closed");
}
