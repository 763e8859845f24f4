import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { controlFdVariable, type ControlMessage } from "../observe/control-pipe.ts";
import { observeFdVariable, type PipeMessage } from "../observe/observation-pipe.ts";
import { exitCodes } from "../exit-codes.ts";
import { packageRoot } from "../package-root.ts";
import type { Terminal } from "../terminal.ts";
import { createLineReader, type ReadLine } from "./line-reader.ts";

/** The program that we are: what the command line runs is what the page runs. */
const program = fileURLToPath(new URL("bin/cdc-bench.js", packageRoot));

const maxStderrLength = 16_384;
/** A flame graph is one line. */
const maxPipeLineLength = 32 * 1024 * 1024;
/** How long a command may take to write what it has after it was interrupted. */
const stopDeadlineMs = 20_000;

/** How a command ended. */
export interface ChildEnd {
  readonly code: number;
  /** The last of what it said on stderr. */
  readonly stderr: string;
}

/** A command that runs in a process of its own: the page does not disturb what it measures, and its crash is its own. */
export interface BenchChild {
  readonly ended: Promise<ChildEnd>;
  /** Ctrl-C: the command writes what it has. If it does not end after that, it is killed. */
  interrupt(): void;
  control(message: ControlMessage): void;
}

export interface BenchChildOptions {
  readonly args: readonly string[];
  readonly env: Terminal["env"];
  /** A line of what it says of itself (NDJSON). */
  readonly onMessage: (line: string) => void;
  /** A line of stdout, if somebody wants them, and how long it may be. */
  readonly stdout?: { readonly maxLineLength: number; readonly onLine: (line: ReadLine) => void };
}

/** What a line of {@link BenchChildOptions.onMessage} says; null if it says nothing. */
export function messageIn(line: string): PipeMessage | null {
  try {
    return JSON.parse(line) as PipeMessage | null;
  } catch {
    return null;
  }
}

export function startBenchChild({ args, env, onMessage, stdout }: BenchChildOptions): BenchChild {
  const child = spawn(process.execPath, [program, ...args], {
    stdio: ["ignore", stdout === undefined ? "ignore" : "pipe", "pipe", "pipe", "pipe"],
    env: { ...env, [observeFdVariable]: "3", [controlFdVariable]: "4", NO_COLOR: "1", FORCE_COLOR: undefined, COLUMNS: undefined },
    // A process group of its own: Ctrl-C in our terminal would reach it a second time, and the second one ends a command without its result.
    detached: process.platform !== "win32",
  });
  const control = child.stdio[4] as Writable;
  control.on("error", () => {}); // it has ended, which `ended` says
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(-maxStderrLength);
  });
  const readMessages = createLineReader(maxPipeLineLength, (line) => line.isCut || onMessage(line.text));
  child.stdio[3]?.on("data", readMessages).on("error", () => {});
  if (stdout !== undefined) {
    child.stdout?.on("data", createLineReader(stdout.maxLineLength, stdout.onLine));
  }
  return {
    ended: endOf(child, () => stderr),
    interrupt: () => interrupt(child),
    control: (message) => {
      control.write(`${JSON.stringify(message)}\n`);
    },
  };
}

async function endOf(child: ChildProcess, stderr: () => string): Promise<ChildEnd> {
  try {
    const [code] = (await once(child, "close")) as [number | null];
    return { code: code ?? exitCodes.unexpected, stderr: stderr() };
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? "unknown reason";
    return { code: exitCodes.unexpected, stderr: `cdc-bench: cannot start a process (${reason}).\n` };
  }
}

function interrupt(child: ChildProcess): void {
  if (child.exitCode !== null || child.signalCode !== null) {
    return;
  }
  child.kill("SIGINT");
  const kill = setTimeout(() => child.kill("SIGKILL"), stopDeadlineMs);
  kill.unref();
  child.once("exit", () => clearTimeout(kill));
}
