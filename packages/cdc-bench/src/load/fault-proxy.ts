import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { performance } from "node:perf_hooks";
import type { ConnectTo } from "@cdckit/kafkajs";
import type { Fault } from "./fault.ts";
import { createLink, type Link } from "./fault-link.ts";

/**
 * A TCP proxy between clients and brokers. It rewrites nothing. Brokers advertise their own addresses, so clients ask `connectTo` for each
 * connection, and every one of them goes through here.
 */
export interface FaultProxy {
  readonly connectTo: ConnectTo;
  /** Times of faults count from now on. Faults without a time act from the opening on. */
  begin(): void;
  /** What passed so far, in each direction, and how many connections there were. */
  readonly passed: PassedBytes;
  close(): Promise<void>;
}

export interface PassedBytes {
  readonly connections: number;
  readonly toBrokersBytes: number;
  readonly fromBrokersBytes: number;
}

/** Listeners that wait for a broker that is not known yet: one is needed for each, and `connectTo` cannot wait. */
const spareListeners = 8;

/** Opens a proxy on loopback for any broker that clients ask for. */
export async function openFaultProxy(faults: readonly Fault[]): Promise<FaultProxy> {
  const proxy = new Proxy(faults);
  await proxy.addSpares(spareListeners);
  return proxy;
}

interface Listener {
  readonly server: Server;
  readonly port: number;
  /** Null while nobody has asked for a broker. */
  target: { readonly host: string; readonly port: number } | null;
}

class Proxy implements FaultProxy {
  readonly #faults: readonly Fault[];
  readonly #toBrokers: Link;
  readonly #fromBrokers: Link;
  readonly #byBroker = new Map<string, Listener>();
  readonly #spare: Listener[] = [];
  readonly #servers = new Set<Server>();
  readonly #sockets = new Set<Socket>();
  readonly #timers: NodeJS.Timeout[] = [];
  #beganAtMs: number | null = null;
  #connections = 0;
  #isClosed = false;

  constructor(faults: readonly Fault[]) {
    this.#faults = faults;
    const now = (): number => this.#nowMs();
    this.#toBrokers = createLink(faults, now);
    this.#fromBrokers = createLink(faults, now);
  }

  get passed(): PassedBytes {
    return {
      connections: this.#connections,
      toBrokersBytes: this.#toBrokers.passedBytes,
      fromBrokersBytes: this.#fromBrokers.passedBytes,
    };
  }

  readonly connectTo: ConnectTo = (broker) => {
    const name = `${broker.host}:${broker.port}`;
    let listener = this.#byBroker.get(name);
    if (listener === undefined) {
      listener = this.#spare.shift();
      if (listener === undefined) {
        throw new Error(`the proxy has no listener left for the broker ${name}`);
      }
      listener.target = broker;
      this.#byBroker.set(name, listener);
      // A cluster may have more brokers than there are spare listeners.
      void this.addSpares(1).catch(() => {});
    }
    return { host: "127.0.0.1", port: listener.port };
  };

  begin(): void {
    this.#beganAtMs = performance.now();
    for (const { kind, window } of this.#faults) {
      if (kind === "cut") {
        this.#timers.push(setTimeout(() => this.#cut(), window.fromMs));
      }
    }
    for (const link of [this.#toBrokers, this.#fromBrokers]) {
      link.began();
    }
  }

  async addSpares(count: number): Promise<void> {
    for (let i = 0; i < count && !this.#isClosed; i++) {
      const server = createServer({ allowHalfOpen: true }, (client) => this.#accept(client, listener));
      this.#servers.add(server);
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      const listener: Listener = { server, port: (server.address() as AddressInfo).port, target: null };
      this.#spare.push(listener);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timers.splice(0).forEach(clearTimeout);
    this.#toBrokers.close();
    this.#fromBrokers.close();
    const closed = [...this.#servers].map((server) => new Promise((resolve) => server.close(resolve)));
    for (const socket of this.#sockets) {
      socket.destroy();
    }
    await Promise.all(closed);
  }

  #nowMs(): number {
    return this.#beganAtMs === null ? -1 : performance.now() - this.#beganAtMs;
  }

  #accept(client: Socket, { target }: Listener): void {
    if (target === null || this.#isClosed || this.#isCut()) {
      client.on("error", ignore);
      client.resetAndDestroy();
      return;
    }
    this.#connections++;
    const broker = connect({ ...target, allowHalfOpen: true });
    for (const [socket, other] of [
      [client, broker],
      [broker, client],
    ] as const) {
      socket.setNoDelay(true);
      this.#sockets.add(socket);
      let isBroken = false;
      socket.on("error", () => {
        isBroken = true;
      });
      socket.once("close", () => {
        this.#sockets.delete(socket);
        if (isBroken) {
          other.resetAndDestroy();
        } else if (!socket.readableEnded) {
          other.destroy();
        }
      });
    }
    this.#toBrokers.carry(client, broker);
    this.#fromBrokers.carry(broker, client);
  }

  #isCut(): boolean {
    const nowMs = this.#nowMs();
    return this.#faults.some(({ kind, window }) => kind === "cut" && nowMs >= window.fromMs && nowMs < window.toMs);
  }

  #cut(): void {
    for (const socket of this.#sockets) {
      socket.resetAndDestroy();
    }
  }
}

function ignore(): void {}
