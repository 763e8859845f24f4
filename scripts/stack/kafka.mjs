import { randomUUID } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { Kafka, logLevel } from "kafkajs";
import { ensureJars } from "./jars.mjs";
import { runJava, startJava } from "./java.mjs";
import { freePorts } from "./ports.mjs";
import { stopProcess } from "./process.mjs";
import { requireJava } from "./requirements.mjs";
import { untilServing } from "./service.mjs";
import { classPathOptions, keepClasses } from "./shared-classes.mjs";
import { kafkaJars } from "./versions.mjs";
import { waitUntil } from "./wait.mjs";

/**
 * @typedef {object} BrokerOptions
 * @property {Record<string, string | number | boolean>} [config] broker settings over the defaults below
 * @property {Record<string, number>} [listeners] further listeners on 127.0.0.1, by name: their ports; `config` says how each is secured
 * @property {Record<string, number | string>} [advertised] what clients are told of instead, by listener: the port of a proxy, or a whole address
 * @property {readonly string[]} [jvm]
 * @property {import("./versions.mjs").JarSet} [jars] another release than the stack's
 */

/** @typedef {import("./service.mjs").ServiceOptions & BrokerOptions} KafkaOptions */

/**
 * @typedef {object} RunningKafka
 * @property {string} brokers
 * @property {number} port
 * @property {string} classPath for the command-line tools of the same release
 * @property {import("./process.mjs").ProcessRecord} record
 * @property {() => Promise<void>} stop ends the broker and deletes its data; the log stays
 * @property {() => Promise<void>} crash ends the broker as a power failure does; its data stays
 * @property {() => Promise<void>} startAgain after a crash, with the same data on the same ports
 */

/** Options of the JVM for a broker that lives as long as a test run. */
export const smallJvm = Object.freeze(["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]);

/**
 * Starts Kafka as one KRaft node on 127.0.0.1, on ports that are free, and returns when it answers.
 * @param {KafkaOptions} options
 * @returns {Promise<RunningKafka>}
 */
export async function startKafka(options) {
  const { dir, cacheDir, jars, listeners = {}, advertised = {}, config = {}, log } = options;
  requireJava();
  const classPath = await kafkaClassPath({ ...(cacheDir && { cacheDir }), ...(jars && { jars }), ...(log && { log }) });
  const [port = 0, controllerPort = 0] = await freePorts(2);
  const settings = { ...brokerConfig(dir, { id: 1, port, controllerPort, voters: [controllerPort] }, listeners, advertised), ...config };
  const node = await prepareNode({ ...options, name: "kafka", id: 1, port, classPath, settings, cluster: clusterId() });
  await node.start();
  const { record, stop, crash, start } = node;
  return { brokers: `127.0.0.1:${port}`, port, classPath, record: record(), stop, crash, startAgain: start };
}

/**
 * @typedef {object} RunningCluster
 * @property {string} brokers every node's address, with commas between
 * @property {string} classPath
 * @property {readonly ClusterNode[]} nodes
 * @property {() => Promise<void>} stop ends all nodes and deletes their data; the logs stay
 */

/**
 * @typedef {object} ClusterNode
 * @property {number} id
 * @property {number} port
 * @property {() => Promise<void>} crash ends the node as a power failure does; its data stays
 * @property {() => Promise<void>} startAgain after a crash, with the same data on the same ports
 */

/** What is kept by three nodes and written by two at least: one of them may be gone. */
const replicated = Object.freeze({
  "default.replication.factor": 3,
  "min.insync.replicas": 2,
  "offsets.topic.replication.factor": 3,
  "transaction.state.log.replication.factor": 3,
  "transaction.state.log.min.isr": 2,
  "share.coordinator.state.topic.replication.factor": 3,
  "share.coordinator.state.topic.min.isr": 2,
});

/**
 * Starts Kafka as three nodes, each of them a broker and a controller, and returns when each knows the others. A topic for which nothing else is
 * said has three replicas, of which two must have a record before it counts as written.
 * @param {Omit<KafkaOptions, "listeners" | "advertised"> & { racks?: readonly string[] }} options with `racks`, each node's rack, and fetches may
 *   be served by the replica of the client's rack
 * @returns {Promise<RunningCluster>}
 */
export async function startCluster(options) {
  const { dir, cacheDir, jars, racks, config = {}, log } = options;
  requireJava();
  const classPath = await kafkaClassPath({ ...(cacheDir && { cacheDir }), ...(jars && { jars }), ...(log && { log }) });
  const ids = [1, 2, 3];
  const ports = await freePorts(2 * ids.length);
  const voters = ports.slice(ids.length);
  const cluster = clusterId();
  const nodes = await Promise.all(
    ids.map((id, i) => {
      const port = ports[i] ?? 0;
      const own = join(dir, `node-${id}`);
      const settings = {
        ...brokerConfig(own, { id, port, controllerPort: voters[i] ?? 0, voters }),
        ...replicated,
        ...rackConfig(racks?.[i]),
        ...config,
      };
      return prepareNode({ ...options, dir: own, name: `kafka-${id}`, id, port, classPath, settings, cluster });
    }),
  );
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.stop()));
  };
  try {
    await Promise.all(nodes.map((node) => node.start()));
    await waitUntil({
      what: "a cluster whose nodes know each other",
      check: async () => (await Promise.all(nodes.map(({ port }) => nodesKnownAt(port)))).every(({ length }) => length === nodes.length),
      deadlineMs: 120_000,
      signal: options.signal,
    });
  } catch (error) {
    await stop();
    throw error;
  }
  const brokers = nodes.map(({ port }) => `127.0.0.1:${port}`).join(",");
  return { brokers, classPath, nodes: nodes.map(({ id, port, crash, start }) => ({ id, port, crash, startAgain: start })), stop };
}

/** @param {string | undefined} rack @returns {Record<string, string>} */
function rackConfig(rack) {
  return rack === undefined
    ? {}
    : { "broker.rack": rack, "replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector" };
}

/**
 * Writes a node's settings and formats its log.
 * @param {KafkaOptions & { name: string, id: number, port: number, classPath: string, settings: ReturnType<typeof brokerConfig>, cluster: string }} options
 */
async function prepareNode({ dir, name, id, port, classPath, settings, cluster, jvm = smallJvm, outlive = false, signal, onSpawn }) {
  mkdirSync(dir, { recursive: true });
  const properties = join(dir, "server.properties");
  writeFileSync(properties, toProperties(settings));
  // In one argument: an id may begin with a dash, and be taken for an option.
  await runJava({ classPath, mainClass: "kafka.tools.StorageTool", args: ["format", `--cluster-id=${cluster}`, "-c", properties] });
  /** @type {import("./process.mjs").Running | undefined} */
  let running;
  const record = () => running?.record ?? { pid: -1, marker: "", log: "" };
  const stop = () => stopKafka(record(), dir, name);
  const start = () => {
    running = startJava({
      name,
      dir,
      jvm: [...jvm, "-Dlog4j2.level=INFO", ...classPathOptions(classPath)],
      run: ["kafka.Kafka", properties],
      outlive,
    });
    const check = async () => (await nodesKnownAt(port)).includes(id);
    return untilServing({ what: `Kafka at 127.0.0.1:${port}`, running, check, deadlineMs: 120_000, stop }, { signal, onSpawn });
  };
  const crash = async () => {
    await stopProcess(record(), { signal: "SIGKILL" });
  };
  return { id, port, record, start, stop, crash };
}

/**
 * The class path with Kafka, its tools and Connect; of the older release, with Kafka and its tools.
 * @param {{ cacheDir?: string, jars?: import("./versions.mjs").JarSet, log?: import("./jars.mjs").Log }} [options]
 */
export async function kafkaClassPath({ jars = kafkaJars, ...options } = {}) {
  const classPath = join(await ensureJars(jars, options), "*");
  await keepClasses(classPath, (run) => runBroker(classPath, run), options.log ?? (() => {}));
  return classPath;
}

/**
 * Starts a broker, and ends it as soon as it serves.
 * @param {string} classPath
 * @param {{ dir: string, jvm: readonly string[] }} options
 */
async function runBroker(classPath, { dir, jvm }) {
  const [port = 0, controllerPort = 0] = await freePorts(2);
  const settings = brokerConfig(dir, { id: 1, port, controllerPort, voters: [controllerPort] });
  const options = { dir, jvm: [...smallJvm, ...jvm], name: "kafka", id: 1, port, classPath, settings, cluster: clusterId() };
  const node = await prepareNode(options);
  await node.start();
  await stopProcess(node.record(), { graceMs: 60_000 });
}

/**
 * Runs one of Kafka's own tools, for example `org.apache.kafka.tools.ConsumerPerformance`.
 * @param {{ classPath: string }} kafka
 * @param {string} mainClass
 * @param {readonly string[]} args
 * @param {{ input?: string | Uint8Array, deadlineMs?: number }} [options]
 */
export function runKafkaTool(kafka, mainClass, args, options = {}) {
  return runJava({ classPath: kafka.classPath, mainClass, args, ...options });
}

/**
 * Writes lines to a topic with Kafka's own producer, so that batches are compressed by the Java libraries and not by ours.
 * @param {{ classPath: string, brokers: string }} kafka
 * @param {{ topic: string, lines: readonly string[], compression?: "none" | "gzip" | "snappy" | "lz4" | "zstd", separator?: string, properties?: Record<string, string> }} options
 *   with a separator, what is before it in a line is the key
 */
export async function produceLines(kafka, { topic, lines, compression = "none", separator, properties = {} }) {
  const keyed = separator === undefined ? [] : ["--reader-property", "parse.key=true", "--reader-property", `key.separator=${separator}`];
  const extra = Object.entries(properties).flatMap(([name, value]) => ["--command-property", `${name}=${value}`]);
  const args = ["--bootstrap-server", kafka.brokers, "--topic", topic, "--compression-codec", compression, ...keyed, ...extra];
  await runKafkaTool(kafka, "org.apache.kafka.tools.ConsoleProducer", args, { input: lines.map((line) => `${line}\n`).join("") });
}

/** @param {import("./process.mjs").ProcessRecord} record @param {string} dir @param {string} name */
async function stopKafka(record, dir, name) {
  await stopProcess(record, { signal: "SIGKILL" }); // its data is deleted next: a controlled shutdown would save nothing
  for (const folder of ["kafka-data", join("tmp", name)]) {
    rmSync(join(dir, folder), { recursive: true, force: true, maxRetries: 3 });
  }
}

/**
 * @param {string} dir
 * @param {{ id: number, port: number, controllerPort: number, voters: readonly number[] }} node with the controllers' ports in the order of ids
 * @param {Record<string, number>} [listeners]
 * @param {Record<string, number | string>} [advertised]
 * @returns {Record<string, string | number | boolean>}
 */
function brokerConfig(dir, { id, port, controllerPort, voters }, listeners = {}, advertised = {}) {
  const own = { PLAINTEXT: port, ...listeners };
  const addresses = Object.entries(own).map(([name, at]) => `${name}://127.0.0.1:${at}`);
  const reported = Object.entries({ ...own, ...advertised }).map(
    ([name, at]) => `${name}://${typeof at === "string" ? at : `127.0.0.1:${at}`}`,
  );
  return {
    "process.roles": "broker,controller",
    "node.id": id,
    "controller.quorum.voters": voters.map((at, i) => `${i + 1}@127.0.0.1:${at}`).join(","),
    "controller.listener.names": "CONTROLLER",
    listeners: [...addresses, `CONTROLLER://127.0.0.1:${controllerPort}`].join(","),
    "advertised.listeners": reported.join(","),
    "log.dirs": join(dir, "kafka-data"),
    "auto.create.topics.enable": false, // a missing topic is an answer that must be seen
    "offsets.topic.replication.factor": 1,
    "offsets.topic.num.partitions": 4,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
    "transaction.state.log.num.partitions": 4,
    "share.coordinator.state.topic.replication.factor": 1,
    "share.coordinator.state.topic.min.isr": 1,
    "group.initial.rebalance.delay.ms": 0, // a group of one need not wait for others
    "group.min.session.timeout.ms": 1_000, // a dead member is noticed within a test's patience
    // The same for groups of the protocol of KIP-848, whose members cannot choose.
    "group.consumer.min.session.timeout.ms": 1_000,
    "group.consumer.session.timeout.ms": 6_000,
    "group.consumer.min.heartbeat.interval.ms": 100,
    "group.consumer.heartbeat.interval.ms": 200,
    "log.retention.hours": -1, // recorded timestamps may be years old
  };
}

/** @param {Record<string, string | number | boolean>} entries */
export function toProperties(entries) {
  return Object.entries(entries)
    .map(([key, value]) => `${key}=${value}\n`)
    .join("");
}

/** A random id in the form that Kafka wants: 16 bytes in URL-safe base64. */
function clusterId() {
  return Buffer.from(randomUUID().replaceAll("-", ""), "hex").toString("base64url");
}

/** Whether a broker answers at an address of this machine, and knows itself. @param {string} address */
export async function knowsBroker(address) {
  return (await nodesKnownAt(Number(address.slice(address.lastIndexOf(":") + 1)))).length > 0;
}

/** The ids of the brokers that this one knows; the plain connection first, because a client that is refused waits longer and longer. @param {number} port */
async function nodesKnownAt(port) {
  await listens(port);
  const admin = new Kafka({ brokers: [`127.0.0.1:${port}`], logLevel: logLevel.NOTHING, retry: { retries: 0 } }).admin();
  try {
    await admin.connect();
    return (await admin.describeCluster()).brokers.map(({ nodeId }) => nodeId);
  } finally {
    await admin.disconnect();
  }
}

/** @param {number} port @returns {Promise<void>} */
function listens(port) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("error", reject).once("connect", () => {
      socket.destroy();
      resolve();
    });
  });
}
