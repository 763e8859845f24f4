import type { Readable, Writable } from "node:stream";
import { explainFailure } from "./cli/failure.ts";
import { runProgram } from "./cli/program.ts";
import { exitCodes } from "./exit-codes.ts";
import { hideNegativeTimeouts } from "./negative-timeouts.ts";
import type { Terminal } from "./terminal.ts";

/** How long what a command left open may keep the process, once its results are written. */
const lingerMs = 2_000;

/** The command line of this process: reads argv, listens to Ctrl-C, sets the exit code. */
export async function runProcess(): Promise<void> {
  endQuietlyWhenReaderLeaves(process.stdout);
  hideNegativeTimeouts();
  const args = process.argv.slice(2);
  const terminal: Terminal = {
    stdout: process.stdout,
    stderr: process.stderr,
    liveLine: process.stderr.isTTY === true && process.env["TERM"] !== "dumb" && process.env["CI"] === undefined,
    ...(process.stdout.isTTY === true && { screen: { columns: process.stdout.columns } }),
    env: process.env,
    interrupt: interruptSignal(),
  };
  // An exception outside of any command (in a timer, in a socket's listener) is reported like the others.
  process.on("uncaughtException", (error) => process.exit(explainFailure(error, terminal, args.includes("--debug"))));
  process.exitCode = await runProgram(args, terminal);
  (process.stdin as Readable).destroy();
  // Behind the results, however slowly they are read.
  process.stdout.write("", () => setTimeout(() => process.exit(), lingerMs).unref());
}

/** Aborted by the first Ctrl-C, so that a command can print what it has; the second one ends the process at once. */
function interruptSignal(): AbortSignal {
  const controller = new AbortController();
  const interrupt = (): void => {
    if (controller.signal.aborted) {
      process.exit(exitCodes.interrupted);
    }
    controller.abort();
  };
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", interrupt);
  return controller.signal;
}

/** `cdc-bench inspect | head` is not an error. */
function endQuietlyWhenReaderLeaves(stdout: Writable): void {
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") {
      throw error;
    }
    process.exit(exitCodes.ok);
  });
}
