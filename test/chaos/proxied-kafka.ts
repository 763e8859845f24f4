import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningKafka, startKafka } from "../../scripts/stack/kafka.mjs";
import { freePorts } from "../../scripts/stack/ports.mjs";
import { TcpProxy } from "./tcp-proxy.ts";

/** A broker of one's own: clients that are told of the proxy stay behind it, also when they ask where the partitions are. */
export interface ProxiedKafka {
  /** Its own listener is past the proxy. */
  readonly kafka: RunningKafka;
  readonly proxy: TcpProxy;
  /** The same, and further ones: each is a way of its own to the broker, which can be cut by itself. */
  readonly proxies: readonly TcpProxy[];
  /** A folder that goes with it. */
  readonly dir: string;
  stop(): Promise<void>;
}

export async function startProxiedKafka(count: number = 1): Promise<ProxiedKafka> {
  const dir = mkdtempSync(join(tmpdir(), "cdckit-chaos-"));
  const ports = await freePorts(2 * count);
  const listeners = Array.from({ length: count }, (_, i) => ({
    name: `PROXIED${i}`,
    inner: ports[2 * i] ?? 0,
    outer: ports[2 * i + 1] ?? 0,
  }));
  const kafka = await startKafka({
    dir,
    listeners: Object.fromEntries(listeners.map(({ name, inner }) => [name, inner])),
    advertised: Object.fromEntries(listeners.map(({ name, outer }) => [name, outer])),
    config: {
      "listener.security.protocol.map": ["PLAINTEXT", ...listeners.map(({ name }) => name), "CONTROLLER"]
        .map((name) => `${name}:PLAINTEXT`)
        .join(),
    },
  });
  const proxies = await Promise.all(listeners.map(({ outer, inner }) => TcpProxy.listen(outer, inner)));
  const stop = async (): Promise<void> => {
    await Promise.all(proxies.map((proxy) => proxy.close()));
    await kafka.stop();
    rmSync(dir, { recursive: true, force: true });
  };
  return { kafka, proxy: proxies[0] as TcpProxy, proxies, dir, stop }; // the count is one or more
}
