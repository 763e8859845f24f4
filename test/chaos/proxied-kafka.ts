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
  /** A folder that goes with it. */
  readonly dir: string;
  stop(): Promise<void>;
}

export async function startProxiedKafka(): Promise<ProxiedKafka> {
  const dir = mkdtempSync(join(tmpdir(), "cdckit-chaos-"));
  const [innerPort = 0, proxyPort = 0] = await freePorts(2);
  const kafka = await startKafka({
    dir,
    listeners: { PROXIED: innerPort },
    advertised: { PROXIED: proxyPort },
    config: { "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,PROXIED:PLAINTEXT,CONTROLLER:PLAINTEXT" },
  });
  const proxy = await TcpProxy.listen(proxyPort, innerPort);
  const stop = async (): Promise<void> => {
    await proxy.close();
    await kafka.stop();
    rmSync(dir, { recursive: true, force: true });
  };
  return { kafka, proxy, dir, stop };
}
