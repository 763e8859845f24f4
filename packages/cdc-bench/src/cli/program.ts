import { Command, CommanderError, Option } from "commander";
import { exitCodes, type ExitCode } from "../exit-codes.ts";
import { createLogger, type LogLevel, logLevels } from "../log/logger.ts";
import { benchVersion } from "../report/environment.ts";
import { columnsOf } from "../report/text-width.ts";
import type { Terminal } from "../terminal.ts";
import { type CommandEntry, commands } from "./commands.ts";

const exitCodeHelp = `
Results go to stdout, progress to stderr. MB is 10^6 bytes.
Exit codes: 0 ok, 1 unexpected, 2 usage, 3 connection, 4 too few messages,
5 decode errors (redrive: refused), 98 regression, 99 threshold missed,
130 interrupted.`;

/** Runs one command line and says how it ended. Never throws, never ends the process. */
export async function runProgram(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  let code: ExitCode = exitCodes.ok;
  try {
    const program = await createProgram(args, terminal, (settled) => {
      code = settled;
    });
    await program.parseAsync(args.length === 0 ? ["--help"] : [...args], { from: "user" });
    return args.length === 0 ? exitCodes.usage : code;
  } catch (error) {
    if (error instanceof CommanderError) {
      // Commander has said on the right stream what it had to say.
      return error.exitCode === 0 && args.length > 0 ? exitCodes.ok : exitCodes.usage;
    }
    terminal.live?.clear();
    if (terminal.interrupt.aborted && error === terminal.interrupt.reason) {
      terminal.stderr.write("interrupted.\n");
      return exitCodes.interrupted;
    }
    const { explainFailure } = await import("./failure.ts");
    return explainFailure(error, terminal, args.includes("--debug"));
  }
}

async function createProgram(args: readonly string[], world: Terminal, settle: (code: ExitCode) => void): Promise<Command> {
  let logLevel: LogLevel = "warn";
  const terminal: Terminal = { ...world, logger: createLogger(world, () => logLevel) };
  const program = new Command("cdc-bench")
    .version(benchVersion(), "-V, --version", "the version of cdc-bench")
    .description("Look into CDC topics and measure how fast they are consumed, by format.")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void terminal.stdout.write(text),
      writeErr: (text) => void terminal.stderr.write(text),
      getOutHasColors: () => false,
      getOutHelpWidth: () => columnsOf({}, terminal.screen ?? { columns: undefined }),
      getErrHasColors: () => false,
    })
    .showSuggestionAfterError()
    .addHelpText("after", exitCodeHelp);
  // Loading what a command does takes a moment, in which its user shall see that it has begun.
  program.hook("preAction", (_program, command) => {
    terminal.live?.draw([`cdc-bench ${command.name()}: starting`]);
    ({ logLevel } = command.opts<{ readonly logLevel: LogLevel }>());
    terminal.logger?.info({ command: command.name(), version: benchVersion(), node: process.version }, "the command begins");
  });
  program.hook("postAction", () => terminal.live?.clear());
  const wanted = wantedCommand(args);
  for (const entry of commands) {
    if (entry === wanted || (wanted?.looksAtOthers === true && !isHelp(args))) {
      const add = await entry.load();
      add(program, terminal, settle);
    } else {
      // Its name and its line in the list of commands are all that this command line needs.
      program.command(entry.name);
    }
  }
  for (const command of program.commands) {
    const entry = commands.find(({ name }) => name === command.name());
    // What a command inherits is copied when it is made, and these are made by functions of their own.
    command
      .copyInheritedSettings(program)
      .addOption(new Option("--log-level <level>", "what is logged to stderr, at least").choices([...logLevels]).default(logLevel))
      .description(entry?.description ?? "")
      .option("--debug", "stack traces of what goes wrong, on stderr");
  }
  return program;
}

/** Help is asked of one command, and shows that one alone. */
function isHelp(args: readonly string[]): boolean {
  return args.some((arg) => arg === "--help" || arg === "-h" || arg === "help");
}

/** The command that the arguments name: the first of them, or the second one behind `help`. */
function wantedCommand(args: readonly string[]): CommandEntry | undefined {
  const operands = args.filter((arg) => !arg.startsWith("-"));
  const name = operands[0] === "help" ? operands[1] : operands[0];
  return commands.find((entry) => entry.name === name);
}
