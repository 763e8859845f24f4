import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ensureJars } from "./jars.mjs";
import { startJava } from "./java.mjs";
import { kafkaClassPath, smallJvm, toProperties } from "./kafka.mjs";
import { freePorts } from "./ports.mjs";
import { logTail, stopProcess } from "./process.mjs";
import { debeziumJars } from "./versions.mjs";
import { waitUntil } from "./wait.mjs";

/**
 * @typedef {object} RunningConnect
 * @property {string} url of the REST API, through which connectors are deployed
 * @property {import("./process.mjs").ProcessRecord} record
 * @property {() => Promise<void>} stop
 */

/**
 * Starts Kafka Connect, standalone, with Debezium and the Avro converter, and without any connector yet.
 * @param {object} options
 * @param {string} options.dir
 * @param {string} options.brokers
 * @param {string} [options.cacheDir]
 * @param {readonly string[]} [options.jvm]
 * @param {boolean} [options.outlive]
 * @param {import("./jars.mjs").Log} [options.log]
 * @param {AbortSignal | undefined} [options.signal]
 * @param {(record: import("./process.mjs").ProcessRecord) => void} [options.onSpawn]
 * @returns {Promise<RunningConnect>}
 */
export async function startConnect({ dir, brokers, cacheDir, jvm = smallJvm, outlive = false, log, signal, onSpawn }) {
  const download = { ...(cacheDir && { cacheDir }), ...(log && { log }) };
  const classPath = await kafkaClassPath(download);
  const plugins = pluginFolder(dir, await ensureJars(debeziumJars, download));
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const properties = join(dir, "connect.properties");
  rmSync(offsetFile(dir), { force: true }); // an earlier database's positions would make Debezium refuse this one
  writeFileSync(properties, toProperties(workerConfig(dir, brokers, url, plugins)));
  const running = startJava({
    name: "connect",
    dir,
    jvm: [...jvm, "-Dlog4j2.level=INFO", "-cp", classPath],
    run: ["org.apache.kafka.connect.cli.ConnectStandalone", properties],
    outlive,
  });
  onSpawn?.(running.record);
  const stop = async () => {
    await stopProcess(running.record, { signal: "SIGKILL" }); // what it would save is deleted with the stack
  };
  try {
    await waitUntil({
      what: `Kafka Connect at ${url}`,
      check: async () => (await fetch(`${url}/connectors`)).ok,
      deadlineMs: 180_000,
      giveUp: running.assertAlive,
      hint: () => logTail(running.record.log),
      signal,
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, record: running.record, stop };
}

/** @param {string} dir */
function offsetFile(dir) {
  return join(dir, "connect-offsets");
}

/** @param {string} dir @param {string} jars @returns {string} a folder whose one subfolder is one plugin, as Connect wants it */
function pluginFolder(dir, jars) {
  const plugins = join(dir, "plugins");
  mkdirSync(plugins, { recursive: true });
  if (!existsSync(join(plugins, "debezium"))) symlinkSync(jars, join(plugins, "debezium"));
  return plugins;
}

/** @param {string} dir @param {string} brokers @param {string} url @param {string} plugins */
function workerConfig(dir, brokers, url, plugins) {
  return {
    "bootstrap.servers": brokers,
    listeners: url,
    "plugin.path": plugins,
    "plugin.discovery": "only_scan", // the Avro converter does not announce itself
    "offset.storage.file.filename": offsetFile(dir),
    "offset.flush.interval.ms": 5_000,
    // Connectors bring their own; the worker does not start without.
    "key.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
  };
}
