import { spawn } from "node:child_process";

export interface Ended {
  readonly stdout: string;
  readonly stderr: string;
  /** From its start to its end. */
  readonly seconds: number;
}

export interface ProcessOptions {
  readonly signal: AbortSignal;
  /** It is killed after that. */
  readonly deadlineSeconds: number;
  readonly env?: NodeJS.ProcessEnv;
  /** Called with each line of standard output. */
  readonly onLine?: (line: string) => void;
}

/** Runs a program to its end. Rejects if it fails, hangs, or the signal is aborted: it is then killed. */
export function runProcess(command: string, args: readonly string[], options: ProcessOptions): Promise<Ended> {
  const { signal, deadlineSeconds, env = process.env, onLine } = options;
  signal.throwIfAborted();
  const startedAt = performance.now();
  const child = spawn(command, args, { env, stdio: ["ignore", "pipe", "pipe"], timeout: deadlineSeconds * 1_000, killSignal: "SIGKILL" });
  const abort = (): void => void child.kill("SIGKILL");
  signal.addEventListener("abort", abort, { once: true });
  let [stdout, stderr, reported] = ["", "", 0];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    for (let end = stdout.indexOf("\n", reported); end >= 0; end = stdout.indexOf("\n", reported)) {
      onLine?.(stdout.slice(reported, end));
      reported = end + 1;
    }
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.once("error", (error) => reject(new Error(`${command} cannot be started: ${error.message}`)));
    child.once("close", (code, killedBy) => {
      signal.removeEventListener("abort", abort);
      const seconds = (performance.now() - startedAt) / 1_000;
      if (code === 0) {
        resolve({ stdout, stderr, seconds });
      } else if (killedBy === "SIGKILL") {
        reject(signal.aborted ? signal.reason : new Error(`it did not end within ${deadlineSeconds} s and was killed`));
      } else {
        reject(new Error(causeIn(stderr) || `it ended with ${killedBy ?? `code ${code}`}`));
      }
    });
  });
}

/** The line that names the error, of what a process has printed. */
function causeIn(stderr: string): string {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "");
  return (lines.find((line) => /(Error|Exception|FATAL ERROR)\b.*: /.test(line)) ?? lines.at(-1) ?? "").trim().slice(0, 300);
}
