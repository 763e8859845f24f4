import { spawn, spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { StackError } from "./stack-error.mjs";

/**
 * A process of the stack as state.json keeps it. The marker is a text that occurs in its command line and in no other: process ids are
 * reused, and an old state file must never stop somebody else's process.
 * `again` is the command line that it was started with, for a service that is started again.
 * @typedef {{ readonly pid: number, readonly marker: string, readonly log: string, readonly again?: CommandLine }} ProcessRecord
 */

/**
 * @typedef {{ readonly command: string, readonly args: readonly string[] }} CommandLine
 */

/**
 * @typedef {object} Running
 * @property {ProcessRecord} record
 * @property {() => void} assertAlive throws with the end of its log once it has died
 */

/**
 * Starts a process that writes into a log file.
 * @param {object} options
 * @param {string} options.name
 * @param {string} options.command
 * @param {readonly string[]} options.args
 * @param {string} options.marker
 * @param {string} options.log
 * @param {boolean} options.outlive whether it goes on after this process has ended; if not, it ends with it, however that ends
 * @param {{ uid: number, gid: number } | undefined} [options.user]
 * @param {NodeJS.ProcessEnv} [options.env]
 * @returns {Running}
 */
export function startProcess({ name, command, args, marker, log, outlive, user, env = process.env }) {
  const fd = openSync(log, "a");
  const child = outlive
    ? spawn(command, args, { detached: true, stdio: ["ignore", fd, fd], env, ...user })
    : spawn("/bin/sh", ["-c", leash, "sh", command, ...args], { stdio: ["pipe", fd, fd], env, ...user });
  closeSync(fd);
  let ended = "";
  child.once("error", (error) => (ended = error.message));
  child.once("exit", (code, signal) => (ended = signal === null ? `exit code ${code}` : `signal ${signal}`));
  unref(child);
  return {
    record: { pid: child.pid ?? -1, marker, log, again: { command, args } },
    assertAlive() {
      if (ended !== "") throw new StackError("process-died", `${name} ended while starting (${ended})${logTail(log)}`);
    },
  };
}

// The shell becomes the process; a second one waits for the end of standard input, which is a pipe that this process holds, and then ends it.
const leash = 'exec 3<&0; me=$$; (cat <&3 >/dev/null 2>&1; kill -9 $me 2>/dev/null) & exec "$@" 3<&- </dev/null';

/** Lets this process end although the child runs on. @param {import("node:child_process").ChildProcess} child */
function unref(child) {
  child.unref();
  if (child.stdin !== null && "unref" in child.stdin && typeof child.stdin.unref === "function") {
    child.stdin.unref();
  }
}

/** Whether the recorded process runs and is the one that was recorded. @param {ProcessRecord} record */
export function isRunning({ pid, marker }) {
  return pid > 0 && commandLineOf(pid).includes(marker);
}

/** Empty for a process that has ended. Small images have no `ps`, and macOS has no /proc. @param {number} pid */
function commandLineOf(pid) {
  if (existsSync("/proc/self/cmdline")) {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
    } catch {
      return ""; // no such process
    }
  }
  const { stdout } = spawnSync("ps", ["-ww", "-o", "stat=,args=", "-p", String(pid)], { encoding: "utf8" });
  return stdout.trimStart().startsWith("Z") ? "" : stdout;
}

/**
 * Stops the recorded process and nothing else: asks with a signal, and kills it after the grace.
 * @param {ProcessRecord} record
 * @param {{ signal?: NodeJS.Signals, graceMs?: number }} [options]
 * @returns {Promise<boolean>} whether there was anything to stop
 */
export async function stopProcess(record, { signal = "SIGTERM", graceMs = 15_000 } = {}) {
  if (!isRunning(record)) return false;
  send(record.pid, signal);
  const until = Date.now() + graceMs;
  while (isRunning(record)) {
    if (Date.now() > until) send(record.pid, "SIGKILL");
    await delay(100);
  }
  return true;
}

/** @param {number} pid @param {NodeJS.Signals} signal */
function send(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended between the look and the signal, which is what was wanted.
  }
}

/** The end of a log as part of an error message. @param {string} log @param {number} [lines] */
export function logTail(log, lines = 15) {
  if (!existsSync(log)) return "";
  const tail = readFileSync(log, "utf8").trimEnd().split("\n").slice(-lines);
  return `. The end of ${log}:\n${tail.map((line) => `    ${line}`).join("\n")}`;
}
