import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ensureJars } from "./jars.mjs";
import { startJava } from "./java.mjs";
import { kafkaClassPath, smallJvm, toProperties } from "./kafka.mjs";
import { freePorts } from "./ports.mjs";
import { stopProcess } from "./process.mjs";
import { untilServing } from "./service.mjs";
import { classPathOptions } from "./shared-classes.mjs";
import { debeziumJars } from "./versions.mjs";

/**
 * @typedef {object} RunningConnect
 * @property {string} url of the REST API, through which connectors are deployed
 * @property {import("./process.mjs").ProcessRecord} record
 * @property {() => Promise<void>} stop
 */

/**
 * Starts Kafka Connect, standalone, with Debezium and the Avro converter, and without any connector yet.
 * @param {import("./service.mjs").ServiceOptions & { brokers: string, jvm?: readonly string[], plugins?: readonly import("./versions.mjs").JarSet[] }} options
 *   `plugins` are connectors over the one for PostgreSQL
 * @returns {Promise<RunningConnect>}
 */
export async function startConnect({ dir, brokers, cacheDir, jvm = smallJvm, plugins = [], outlive = false, log, signal, onSpawn }) {
  const download = { ...(cacheDir && { cacheDir }), ...(log && { log }) };
  const classPath = await kafkaClassPath(download);
  const folder = join(dir, "plugins");
  for (const set of [debeziumJars, ...plugins]) {
    addPlugin(folder, set.name, await ensureJars(set, download));
  }
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const properties = join(dir, "connect.properties");
  rmSync(offsetFile(dir), { force: true }); // an earlier database's positions would make Debezium refuse this one
  writeFileSync(properties, toProperties(workerConfig(dir, brokers, url, folder)));
  const running = startJava({
    name: "connect",
    dir,
    jvm: [...jvm, "-Dlog4j2.level=INFO", ...classPathOptions(classPath)],
    run: ["org.apache.kafka.connect.cli.ConnectStandalone", properties],
    outlive,
  });
  const stop = async () => {
    await stopProcess(running.record, { signal: "SIGKILL" }); // what it would save is deleted with the stack
  };
  const check = async () => (await fetch(`${url}/connectors`)).ok;
  await untilServing({ what: `Kafka Connect at ${url}`, running, check, deadlineMs: 180_000, stop }, { signal, onSpawn });
  return { url, record: running.record, stop };
}

/** @param {string} dir */
function offsetFile(dir) {
  return join(dir, "connect-offsets");
}

/** Connect wants a folder whose subfolders are one plugin each. @param {string} folder @param {string} name @param {string} jars */
function addPlugin(folder, name, jars) {
  mkdirSync(folder, { recursive: true });
  if (!existsSync(join(folder, name))) symlinkSync(jars, join(folder, name));
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
