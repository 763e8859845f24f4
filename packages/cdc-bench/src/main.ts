import type { Readable, Writable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { BenchError } from "./bench-error.ts";
import { abortAtCtrlC } from "./cli/ctrl-c.ts";
import { explainFailure } from "./cli/failure.ts";
import { runProgram } from "./cli/program.ts";
import { exitCodes, type ExitCode } from "./exit-codes.ts";
import { controlFdVariable } from "./observe/control-pipe.ts";
import { letBeFollowed } from "./observe/followed-process.ts";
import { createLiveScreen } from "./observe/live-screen.ts";
import { observeFdVariable } from "./observe/observation-pipe.ts";
import { hideNegativeTimeouts } from "./negative-timeouts.ts";
import { readerLeft, type Terminal } from "./terminal.ts";

/** How long what a command left open may keep the process, once its results are written. */
const lingerMs = 2_000;

/** The command line of this process: reads argv, listens to Ctrl-C, sets the exit code. */
export async function runProcess(): Promise<void> {
  hideNegativeTimeouts();
  const args = process.argv.slice(2);
  const liveLine = process.stderr.isTTY === true && process.env["TERM"] !== "dumb" && process.env["CI"] === undefined;
  const live = liveLine ? createLiveScreen(process.stderr) : undefined;
  if (live !== undefined) {
    // However the process ends, what is redrawn does not stay.
    process.on("exit", () => live.clear());
  }
  const env = takeEnvironment();
  const interrupt = new AbortController();
  abortAtCtrlC(interrupt, { nowMs: () => performance.now(), exit: () => process.exit(exitCodes.interrupted) });
  const results = abortWhenNothingArrives(process.stdout, interrupt);
  // What is said to nobody, or to a disk without room, changes nothing: a command still measures, and removes what it made.
  process.stderr.on("error", () => {});
  // Not a second Ctrl-C: what is there is still written.
  const followed = letBeFollowed(env, () => interrupt.abort());
  const terminal: Terminal = {
    stdout: process.stdout,
    stderr: live?.stream ?? process.stderr,
    liveLine,
    ...(live && { live }),
    ...(process.stdout.isTTY === true && { screen: { columns: process.stdout.columns } }),
    env,
    interrupt: interrupt.signal,
  };
  // An exception outside of any command (in a timer, in a socket's listener) is reported like the others.
  const explain = (error: unknown): Promise<ExitCode> => explainFailure(error, terminal, args.includes("--debug"));
  process.on("uncaughtException", (error) => void explain(error).then((code) => process.exit(code)));
  const ended = await runProgram(args, terminal);
  await setImmediate(); // a stream says in the next turn that its last write has failed
  const code = results.failure === null ? ended : await explain(results.failure);
  // `cdc-bench inspect | head` is not an error.
  process.exitCode = code === exitCodes.interrupted && interrupt.signal.reason === readerLeft ? exitCodes.ok : code;
  await followed.finish();
  (process.stdin as Readable).destroy();
  // Behind the results, however slowly they are read.
  process.stdout.write("", () => setTimeout(() => process.exit(), lingerMs).unref());
}

/** Our environment. Its pipes are ours: a process that a command starts would write into whatever it has under those numbers. */
function takeEnvironment(): Terminal["env"] {
  const env = { ...process.env };
  delete process.env[observeFdVariable];
  delete process.env[controlFdVariable];
  return env;
}

/**
 * Nobody gets the results, because their reader has left or their disk has no room: the command ends early, as at Ctrl-C, and removes what it made.
 * `failure`: what to say of it. That a reader has left is nothing to say.
 */
function abortWhenNothingArrives(stdout: Writable, controller: AbortController): { readonly failure: BenchError | null } {
  const seen: { failure: BenchError | null } = { failure: null };
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE" && controller.signal.reason !== readerLeft) {
      const why = error.code ?? error.message;
      seen.failure = new BenchError("usage", `cannot write the results to stdout (${why}): send them to a place that has room.`, {
        cause: error,
      });
    }
    controller.abort(readerLeft);
  });
  return seen;
}
