import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ensureJars } from "./jars.mjs";
import { smallJvm } from "./kafka.mjs";
import { startJava } from "./java.mjs";
import { freePorts } from "./ports.mjs";
import { stopProcess } from "./process.mjs";
import { untilServing } from "./service.mjs";
import { registryJars, versions } from "./versions.mjs";

/**
 * @typedef {object} RunningRegistry
 * @property {string} url of the Confluent-compatible API, for consumers
 * @property {string} converterUrl of the API that the 2.6 converters talk to
 * @property {import("./process.mjs").ProcessRecord} record
 * @property {() => Promise<void>} stop
 */

/**
 * Starts Apicurio Registry in memory on 127.0.0.1.
 * @param {import("./service.mjs").ServiceOptions} options
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
  const stop = async () => {
    await stopProcess(running.record, { signal: "SIGKILL" }); // it keeps everything in memory
  };
  const origin = `http://127.0.0.1:${port}`;
  const check = async () => (await fetch(`${origin}/apis/ccompat/v7/subjects`)).ok;
  await untilServing({ what: `Apicurio Registry at ${origin}`, running, check, deadlineMs: 120_000, stop }, { signal, onSpawn });
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
