import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { startProcess } from "./process.mjs";
import { javaCommand } from "./requirements.mjs";
import { classPathOptions } from "./shared-classes.mjs";
import { StackError } from "./stack-error.mjs";

// Serial collector and first-tier compiler: a JVM that lives for a second must not spend it on warming up.
const shortLived = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Xmx256m"];

/**
 * Starts a Java service with its scratch files and its log inside `dir`.
 * @param {object} options
 * @param {string} options.name
 * @param {string} options.dir
 * @param {readonly string[]} options.jvm options of the JVM
 * @param {readonly string[]} options.run main class or -jar, and arguments
 * @param {boolean} options.outlive
 * @returns {import("./process.mjs").Running}
 */
export function startJava({ name, dir, jvm, run, outlive }) {
  const scratch = join(dir, "tmp", name);
  mkdirSync(scratch, { recursive: true });
  const marker = `-Dcdckit.stack=${dir}/${name}`;
  const options = [marker, `-Djava.io.tmpdir=${scratch}`, "-Djava.net.preferIPv4Stack=true", ...jvm];
  return startProcess({ name, command: javaCommand(), args: [...options, ...run], marker, log: join(dir, `${name}.log`), outlive });
}

/**
 * Runs a Java program to its end.
 * @param {object} options
 * @param {string} options.classPath
 * @param {string} options.mainClass
 * @param {readonly string[]} options.args
 * @param {string | Uint8Array} [options.input] what it reads from standard input
 * @param {readonly string[]} [options.jvm]
 * @param {number} [options.deadlineMs]
 * @returns {Promise<{ stdout: string, stderr: string }>}
 */
export function runJava({ classPath, mainClass, args, input = "", jvm = [], deadlineMs = 60_000 }) {
  const child = spawn(javaCommand(), [...shortLived, ...jvm, ...classPathOptions(classPath), mainClass, ...args], {
    stdio: ["pipe", "pipe", "pipe"],
    timeout: deadlineMs,
    killSignal: "SIGKILL",
  });
  /** @type {{ stdout: Buffer[], stderr: Buffer[] }} */
  const output = { stdout: [], stderr: [] };
  child.stdout.on("data", (chunk) => output.stdout.push(chunk));
  child.stderr.on("data", (chunk) => output.stderr.push(chunk));
  child.stdin.on("error", () => {}); // a program that ends before it has read everything says why in its own output
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      const stdout = Buffer.concat(output.stdout).toString();
      const stderr = Buffer.concat(output.stderr).toString();
      if (code === 0) resolve({ stdout, stderr });
      else
        reject(
          new StackError("process-died", `${mainClass} ended with ${signal ?? `exit code ${code}`}: ${stderr.trim() || stdout.trim()}`),
        );
    });
  });
}
