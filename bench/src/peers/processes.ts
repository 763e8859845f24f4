import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runProcess } from "../run-process.ts";
import type { PeerJob } from "./job.ts";

export interface ChildOptions {
  readonly signal: AbortSignal;
  readonly deadlineSeconds: number;
  /** A folder for a profile of the processor. */
  readonly profileDir: string | null;
  readonly onLine?: (line: string) => void;
}

/** Runs a job in a Node process of its own, and resolves with what it printed last. */
export async function runJob(job: PeerJob, { profileDir, ...options }: ChildOptions): Promise<unknown> {
  const child = fileURLToPath(new URL("../peers-child.js", import.meta.url));
  const profiled = profileDir === null ? [] : ["--cpu-prof", `--cpu-prof-dir=${join(profileDir, nameOf(job))}`];
  const { stdout } = await runProcess(process.execPath, [...profiled, child, JSON.stringify(job)], options);
  return JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "");
}

function nameOf(job: PeerJob): string {
  const side = "side" in job ? job.side : "";
  const topic = "topic" in job ? job.topic : "";
  return [job.job, side, topic]
    .join(" ")
    .trim()
    .replaceAll(/[^\w.-]+/g, "-");
}

/** Seconds of processor time of another process until now. Null where the system does not say it in /proc. */
export function processorSecondsOf(pid: number): number | null {
  try {
    const afterName = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    return (Number(afterName[11]) + Number(afterName[12])) / ticksPerSecond;
  } catch {
    return null;
  }
}

/** Of Linux, on every platform that Node runs on. */
const ticksPerSecond = 100;
