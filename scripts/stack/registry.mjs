import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ensureJars } from "./jars.mjs";
import { smallJvm } from "./kafka.mjs";
import { startJava } from "./java.mjs";
import { freePorts } from "./ports.mjs";
import { logTail, stopProcess } from "./process.mjs";
import { registryJars, versions } from "./versions.mjs";
import { waitUntil } from "./wait.mjs";

/**
 * @typedef {object} RunningRegistry
 * @property {string} url of the Confluent-compatible API, for consumers
 * @property {string} converterUrl of the API that the 2.6 converters talk to
 * @property {import("./process.mjs").ProcessRecord} record
 * @property {() => Promise<void>} stop
 */

/**
 * Starts Apicurio Registry in memory on 127.0.0.1.
 * @param {object} options
 * @param {string} options.dir
 * @param {string} [options.cacheDir]
 * @param {boolean} [options.outlive]
 * @param {import("./jars.mjs").Log} [options.log]
 * @param {AbortSignal | undefined} [options.signal]
 * @param {(record: import("./process.mjs").ProcessRecord) => void} [options.onSpawn]
 * @returns {Promise<RunningRegistry>}
 */
export async function startRegistry({ dir, cacheDir, outlive = false, log, signal, onSpawn }) {
  const home = await registryHome({ ...(cacheDir && { cacheDir }), ...(log && { log }) });
  mkdirSync(dir, { recursive: true });
  const [port = 0] = await freePorts(1);
  const settings = { "quarkus.http.host": "127.0.0.1", "quarkus.http.port": port, "apicurio.storage.kind": "sql" };
  const running = startJava({
    name: "registry",
    dir,
    jvm: [...smallJvm, ...Object.entries(settings).map(([name, value]) => `-D${name}=${value}`)],
    run: ["-jar", join(home, `apicurio-registry-app-${versions.apicurio}-runner.jar`)],
    outlive,
  });
  onSpawn?.(running.record);
  const stop = async () => {
    await stopProcess(running.record, { signal: "SIGKILL" }); // it keeps everything in memory
  };
  const origin = `http://127.0.0.1:${port}`;
  try {
    await waitUntil({
      what: `Apicurio Registry at ${origin}`,
      check: async () => (await fetch(`${origin}/apis/ccompat/v7/subjects`)).ok,
      deadlineMs: 120_000,
      giveUp: running.assertAlive,
      hint: () => logTail(running.record.log),
      signal,
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `${origin}/apis/ccompat/v7`, converterUrl: `${origin}/apis/registry/v2`, record: running.record, stop };
}

/** The unpacked distribution, beside the archive that was checked. @param {{ cacheDir?: string, log?: import("./jars.mjs").Log }} options */
async function registryHome(options) {
  const archives = await ensureJars(registryJars, options);
  const home = `${archives}-unpacked`;
  if (!existsSync(home)) {
    const fresh = `${home}.${process.pid}`;
    mkdirSync(fresh, { recursive: true });
    execFileSync("tar", ["-xzf", join(archives, `apicurio-registry-app-${versions.apicurio}-all.tar.gz`), "-C", fresh]);
    if (existsSync(home)) rmSync(fresh, { recursive: true });
    else renameSync(fresh, home);
  }
  return home;
}
