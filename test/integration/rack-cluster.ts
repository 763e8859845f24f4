import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Kafka, logLevel } from "kafkajs";
import { runJava, startJava } from "../../scripts/stack/java.mjs";
import { classPathOptions } from "../../scripts/stack/shared-classes.mjs";
import { kafkaClassPath, smallJvm, toProperties } from "../../scripts/stack/kafka.mjs";
import { freePorts } from "../../scripts/stack/ports.mjs";
import { type ProcessRecord, stopProcess } from "../../scripts/stack/process.mjs";
import { waitUntil } from "../../scripts/stack/wait.mjs";

/** A broker in a rack of its own. */
export interface RackBroker {
  readonly id: number;
  readonly port: number;
  readonly rack: string;
}

/** Two brokers in two racks, which name to a reader the replica in its own rack. */
export interface RackCluster {
  readonly brokers: readonly string[];
  /** The brokers' addresses for clients that reach them through proxies; none if there are no proxies. */
  readonly proxied: readonly string[];
  /** It is the controller, too. */
  readonly first: RackBroker;
  readonly second: RackBroker;
  /** Ends the second broker as a power failure does; its data stays. */
  crashSecond(): Promise<void>;
  /** Resolves when the first broker knows that the second one is gone: until then, it names it to clients. */
  untilAlone(): Promise<void>;
  /** Starts it again, and resolves when the first one knows it. */
  startSecond(): Promise<void>;
  /** The file in which the second broker keeps the first records of a topic's partition 0. */
  segmentOfSecond(topic: string): string;
  stop(): Promise<void>;
}

/** A listener of a broker that clients reach by another port. */
interface ProxiedListener {
  readonly port: number;
  readonly advertised: number;
}

/**
 * Starts Kafka as two nodes. The topics of offsets and of transactions have a replica on each. `proxy`: makes a proxy before a port of each broker, and
 * gives the port at which clients find it.
 */
export async function startRackCluster(proxy?: (port: number) => Promise<number>): Promise<RackCluster> {
  const dir = mkdtempSync(join(tmpdir(), "cdckit-racks-"));
  const classPath = await kafkaClassPath();
  const [controller = 0, ...ports] = await freePorts(3);
  const proxied =
    proxy === undefined ? [] : await Promise.all((await freePorts(2)).map(async (port) => ({ port, advertised: await proxy(port) })));
  const clusterId = Buffer.from(randomUUID().replaceAll("-", ""), "hex").toString("base64url");
  const running = new Map<number, ProcessRecord>();
  const brokerOf = (id: number): RackBroker => ({ id, port: ports[id - 1] ?? 0, rack: `rack-${id}` });
  const [first, second] = [brokerOf(1), brokerOf(2)];

  const start = ({ id }: RackBroker): void => {
    const own = join(dir, `node-${id}`);
    const run = ["kafka.Kafka", join(own, "server.properties")];
    const jvm = [...smallJvm, ...classPathOptions(classPath)];
    running.set(id, startJava({ name: `kafka-${id}`, dir: own, jvm, run, outlive: false }).record);
  };
  const prepare = async (broker: RackBroker): Promise<void> => {
    const own = join(dir, `node-${broker.id}`);
    mkdirSync(own, { recursive: true });
    const properties = join(own, "server.properties");
    writeFileSync(properties, toProperties(settingsOf(broker, own, controller, proxied[broker.id - 1])));
    // In one argument: an id may begin with a dash, and be taken for an option.
    await runJava({ classPath, mainClass: "kafka.tools.StorageTool", args: ["format", `--cluster-id=${clusterId}`, "-c", properties] });
    start(broker);
  };
  const untilKnown = (): Promise<unknown> =>
    waitUntil({ what: "two brokers that know each other", deadlineMs: 110_000, check: async () => (await brokersAt(first.port)) === 2 });
  const stop = async (): Promise<void> => {
    await Promise.all([...running.values()].map((record) => stopProcess(record, { signal: "SIGKILL" })));
    rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
  };

  try {
    await Promise.all([first, second].map(prepare));
    await untilKnown();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    brokers: [first, second].map(({ port }) => `127.0.0.1:${port}`),
    proxied: proxied.map(({ advertised }) => `127.0.0.1:${advertised}`),
    first,
    second,
    crashSecond: async () => {
      const record = running.get(second.id);
      if (record !== undefined) {
        await stopProcess(record, { signal: "SIGKILL" });
      }
    },
    untilAlone: async () => {
      await waitUntil({
        what: "one broker that knows no other",
        deadlineMs: 110_000,
        check: async () => (await brokersAt(first.port)) === 1,
      });
    },
    startSecond: async () => {
      start(second);
      await untilKnown();
    },
    segmentOfSecond: (topic) => join(dataOf(join(dir, `node-${second.id}`)), `${topic}-0`, `${"0".repeat(20)}.log`),
    stop,
  };
}

function settingsOf(
  { id, port, rack }: RackBroker,
  dir: string,
  controller: number,
  proxied: ProxiedListener | undefined,
): Record<string, string | number | boolean> {
  const isController = id === 1;
  const own = `PLAINTEXT://127.0.0.1:${port}`;
  const listener = proxied === undefined ? own : `${own},CLIENT://127.0.0.1:${proxied.port}`;
  return {
    "process.roles": isController ? "broker,controller" : "broker",
    "node.id": id,
    "controller.quorum.voters": `1@127.0.0.1:${controller}`,
    "controller.listener.names": "CONTROLLER",
    listeners: isController ? `${listener},CONTROLLER://127.0.0.1:${controller}` : listener,
    "advertised.listeners": proxied === undefined ? own : `${own},CLIENT://127.0.0.1:${proxied.advertised}`,
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,CLIENT:PLAINTEXT",
    "log.dirs": dataOf(dir),
    "broker.rack": rack,
    "replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector",
    "auto.create.topics.enable": false,
    "offsets.topic.replication.factor": 2,
    "offsets.topic.num.partitions": 4,
    "transaction.state.log.replication.factor": 2,
    "transaction.state.log.min.isr": 1,
    "transaction.state.log.num.partitions": 4,
    "group.initial.rebalance.delay.ms": 0,
  };
}

function dataOf(ownDir: string): string {
  return join(ownDir, "kafka-data");
}

/** How many brokers this one knows; 0 if it does not answer. */
async function brokersAt(port: number): Promise<number> {
  const admin = new Kafka({ brokers: [`127.0.0.1:${port}`], logLevel: logLevel.NOTHING, retry: { retries: 0 } }).admin();
  try {
    await admin.connect();
    return (await admin.describeCluster()).brokers.length;
  } catch {
    return 0;
  } finally {
    await admin.disconnect();
  }
}
