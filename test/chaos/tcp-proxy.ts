import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** Stands between clients and a broker, or another server, and does to their bytes what a bad network does. */
export class TcpProxy {
  readonly #server: Server;
  readonly #targetPort: number;
  readonly #speaksKafka: boolean;
  readonly #sockets = new Set<Socket>();
  #state: "open" | "cut" | "black-hole" = "open";
  #swallowsFetches = false;
  /** The request whose answer is to be lost, and who waits for it. */
  #loses: { readonly apiKey: number; readonly lost: () => void } | null = null;
  readonly #swallowed = new Set<Socket>();
  /** Swallowed for good. */
  readonly #dead = new Set<Socket>();

  private constructor(server: Server, targetPort: number, speaksKafka: boolean) {
    this.#server = server;
    this.#targetPort = targetPort;
    this.#speaksKafka = speaksKafka;
    server.on("connection", (socket) => this.#accept(socket));
  }

  static async listen(
    port: number,
    targetPort: number,
    { speaksKafka = true }: { readonly speaksKafka?: boolean } = {},
  ): Promise<TcpProxy> {
    const server = createServer();
    const proxy = new TcpProxy(server, targetPort, speaksKafka);
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, "127.0.0.1", resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port; // it listens
  }

  /** Connections break, and new ones are refused. */
  cut(): void {
    this.#state = "cut";
    for (const socket of this.#sockets) {
      socket.destroy();
    }
  }

  /** Connections stay, and nothing passes. */
  swallow(): void {
    this.#state = "black-hole";
    for (const socket of this.#sockets) {
      socket.pause();
    }
  }

  /** What lies on the connections that there are is swallowed; new ones work. */
  swallowOld(): void {
    for (const socket of this.#sockets) {
      this.#swallowed.add(socket);
      socket.pause();
    }
  }

  /** The same for ever: what lies on them stays swallowed after {@link heal} too. */
  swallowOldForEver(): void {
    for (const socket of this.#sockets) {
      this.#dead.add(socket);
      this.#swallowed.add(socket);
      socket.pause();
    }
  }

  /** Fetches get no answer; heartbeats, metadata and commits do. */
  swallowFetches(): void {
    this.#swallowsFetches = true;
  }

  /** The next request of this kind passes, and nothing that the broker says after it on that connection. Resolves when it has passed. */
  loseNextAnswer(apiKey: number): Promise<void> {
    return new Promise((resolve) => {
      this.#loses = { apiKey, lost: resolve };
    });
  }

  heal(): void {
    this.#state = "open";
    this.#swallowsFetches = false;
    this.#loses = null;
    this.#swallowed.clear();
    for (const socket of this.#sockets) {
      if (this.#dead.has(socket)) {
        this.#swallowed.add(socket);
      } else {
        socket.resume();
      }
    }
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #accept(client: Socket): void {
    if (this.#state === "cut") {
      client.destroy();
      return;
    }
    const broker = connect(this.#targetPort, "127.0.0.1");
    const requests = new Requests();
    const passes = (apiKey: number): boolean => {
      if (this.#loses?.apiKey === apiKey) {
        this.#loses.lost();
        this.#loses = null;
        this.#dead.add(broker);
        this.#swallowed.add(broker);
        broker.pause();
      }
      return !this.#swallowsFetches || apiKey !== fetchKey;
    };
    this.#join(client, broker, (bytes) => (this.#speaksKafka ? requests.passing(bytes, passes) : bytes));
    this.#join(broker, client, (bytes) => bytes);
    if (this.#state === "black-hole") {
      client.pause();
      broker.pause();
    }
  }

  #join(from: Socket, to: Socket, passed: (bytes: Buffer) => Buffer): void {
    this.#sockets.add(from);
    from.on("data", (bytes) => {
      if (!to.write(passed(bytes))) {
        from.pause();
        to.once("drain", () => this.#state !== "black-hole" && !this.#swallowed.has(from) && from.resume());
      }
    });
    from.on("error", () => {}); // the close that follows ends the other side too
    from.once("close", () => {
      this.#sockets.delete(from);
      this.#swallowed.delete(from);
      this.#dead.delete(from);
      to.destroy();
    });
  }
}

const fetchKey = 1;

/** Requests of Kafka's protocol as they come in: `length: int32 | api key: int16 | ...`. */
class Requests {
  #rest: Buffer = Buffer.alloc(0);

  /** The whole requests that have come, without those that are to be swallowed. */
  passing(bytes: Buffer, passes: (apiKey: number) => boolean): Buffer {
    const passed: Buffer[] = [];
    let rest = Buffer.concat([this.#rest, bytes]);
    while (rest.length >= 6 && rest.length >= 4 + rest.readInt32BE(0)) {
      const request = rest.subarray(0, 4 + rest.readInt32BE(0));
      rest = rest.subarray(request.length);
      if (passes(request.readInt16BE(4))) {
        passed.push(request);
      }
    }
    this.#rest = rest;
    return Buffer.concat(passed);
  }
}
