import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished, vi } from "vitest";

/** A line that a service wrote on stdout. */
export type Said = Readonly<Record<string, unknown>> & { readonly what: string };

export interface RunningService {
  readonly said: readonly Said[];
  /** What it wrote on stderr. */
  readonly complaints: () => string;
  /** The first line that fits, when it has come. */
  hears(fits: (said: Said) => boolean): Promise<Said>;
  signal(signal: NodeJS.Signals): void;
  /** The exit code; null if a signal ended it. */
  readonly ended: Promise<number | null>;
}

/** Starts a compiled service as a process of its own, and ends it with the test. */
export function runService(name: string, env: Readonly<Record<string, string>>): RunningService {
  const child = spawn(process.execPath, [join(import.meta.dirname, "dist", `${name}.js`)], {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const said: Said[] = [];
  let complaints = "";
  createInterface({ input: child.stdout }).on("line", (line) => said.push(JSON.parse(line) as Said));
  child.stderr.on("data", (chunk: Buffer) => {
    complaints += chunk.toString();
  });
  return {
    said,
    complaints: () => complaints,
    hears: (fits) =>
      vi.waitFor(
        () => {
          const found = said.find(fits);
          if (found === undefined) {
            throw new Error(`${name} has said ${JSON.stringify(said.slice(-5))} and complained: ${complaints.slice(-2_000)}`);
          }
          return found;
        },
        { timeout: 90_000, interval: 50 },
      ),
    signal: (signal) => void child.kill(signal),
    ended: new Promise((resolve) => child.once("close", resolve)),
  };
}
