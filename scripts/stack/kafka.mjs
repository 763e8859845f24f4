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
import { kafkaJars } from "./versions.mjs";

/**
 * @typedef {object} BrokerOptions
 * @property {Record<string, string | number | boolean>} [config] broker settings over the defaults below
 * @property {Record<string, number>} [listeners] further listeners on 127.0.0.1, by name: their ports; `config` says how each is secured
 * @property {Record<string, number>} [advertised] ports that clients are told of instead, by listener: those of a proxy
 * @property {readonly string[]} [jvm]
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
  const { dir, cacheDir, config = {}, listeners = {}, advertised = {}, jvm = smallJvm, outlive = false, log, signal, onSpawn } = options;
  requireJava();
  const classPath = await kafkaClassPath({ ...(cacheDir && { cacheDir }), ...(log && { log }) });
  mkdirSync(dir, { recursive: true });
  const [port = 0, controllerPort = 0] = await freePorts(2);
  const properties = join(dir, "server.properties");
  writeFileSync(
    properties,
    toProperties({ ...brokerConfig(dir, { PLAINTEXT: port, ...listeners }, advertised, controllerPort), ...config }),
  );
  // In one argument: an id may begin with a dash, and be taken for an option.
  await runJava({ classPath, mainClass: "kafka.tools.StorageTool", args: ["format", `--cluster-id=${clusterId()}`, "-c", properties] });
  const start = () =>
    startJava({
      name: "kafka",
      dir,
      jvm: [...jvm, "-Dlog4j2.level=INFO", "-cp", classPath],
      run: ["kafka.Kafka", properties],
      outlive,
    });
  let running = start();
  const stop = () => stopKafka(running.record, dir);
  const serving = () =>
    untilServing(
      { what: `Kafka at 127.0.0.1:${port}`, running, check: () => answers(port), deadlineMs: 120_000, stop },
      { signal, onSpawn },
    );
  const crash = async () => {
    await stopProcess(running.record, { signal: "SIGKILL" });
  };
  const startAgain = () => {
    running = start();
    return serving();
  };
  await serving();
  return { brokers: `127.0.0.1:${port}`, port, classPath, record: running.record, stop, crash, startAgain };
}

/**
 * The class path with Kafka, its tools and Connect.
 * @param {{ cacheDir?: string, log?: import("./jars.mjs").Log }} [options]
 */
export async function kafkaClassPath(options) {
  return join(await ensureJars(kafkaJars, options), "*");
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

/** @param {import("./process.mjs").ProcessRecord} record @param {string} dir */
async function stopKafka(record, dir) {
  await stopProcess(record, { signal: "SIGKILL" }); // its data is deleted next: a controlled shutdown would save nothing
  for (const name of ["kafka-data", join("tmp", "kafka")]) {
    rmSync(join(dir, name), { recursive: true, force: true, maxRetries: 3 });
  }
}

/** @param {string} dir @param {Record<string, number>} listeners @param {Record<string, number>} advertised @param {number} controllerPort */
function brokerConfig(dir, listeners, advertised, controllerPort) {
  const addresses = Object.entries(listeners).map(([name, port]) => `${name}://127.0.0.1:${port}`);
  const reported = Object.entries({ ...listeners, ...advertised }).map(([name, port]) => `${name}://127.0.0.1:${port}`);
  return {
    "process.roles": "broker,controller",
    "node.id": 1,
    "controller.quorum.voters": `1@127.0.0.1:${controllerPort}`,
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

/** Whether the broker serves a request; the plain connection first, because a client that is refused waits longer and longer. @param {number} port */
async function answers(port) {
  await listens(port);
  const admin = new Kafka({ brokers: [`127.0.0.1:${port}`], logLevel: logLevel.NOTHING, retry: { retries: 0 } }).admin();
  try {
    await admin.connect();
    return (await admin.describeCluster()).brokers.length === 1;
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
