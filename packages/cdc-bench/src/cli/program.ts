import { Command, CommanderError } from "commander";
import { exitCodes, type ExitCode } from "../exit-codes.ts";
import { benchVersion } from "../report/environment.ts";
import type { Terminal } from "../terminal.ts";
import { addCodec } from "./codec.ts";
import { addDemo } from "./demo.ts";
import { addDoctor } from "./doctor.ts";
import { explainFailure } from "./failure.ts";
import { addHints } from "./hints.ts";
import { addInspect } from "./inspect.ts";
import { addOffsets } from "./offsets.ts";
import { addRedrive } from "./redrive.ts";
import { addRun } from "./run.ts";
import { addTypes } from "./types.ts";

/** Adds one command to the program; `settle` takes the exit code that the command ends with. */
export type AddCommand = (program: Command, terminal: Terminal, settle: (code: ExitCode) => void) => void;

const commands: readonly AddCommand[] = [addDemo, addRun, addInspect, addTypes, addHints, addDoctor, addRedrive, addOffsets, addCodec];

const exitCodeHelp = `
Results go to stdout, progress to stderr. MB is 10^6 bytes.
Exit codes: 0 ok, 1 unexpected, 2 usage, 3 connection, 4 too few messages, 5 decode errors (redrive: refused),
98 regression, 99 threshold missed, 130 interrupted.`;

/** Runs one command line and says how it ended. Never throws, never ends the process. */
export async function runProgram(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  let code: ExitCode = exitCodes.ok;
  const program = createProgram(terminal, (settled) => {
    code = settled;
  });
  try {
    await program.parseAsync(args.length === 0 ? ["--help"] : [...args], { from: "user" });
    return args.length === 0 ? exitCodes.usage : code;
  } catch (error) {
    if (error instanceof CommanderError) {
      // Commander has said on the right stream what it had to say.
      return error.exitCode === 0 && args.length > 0 ? exitCodes.ok : exitCodes.usage;
    }
    return explainFailure(error, terminal, args.includes("--debug"));
  }
}

function createProgram(terminal: Terminal, settle: (code: ExitCode) => void): Command {
  const program = new Command("cdc-bench")
    .version(benchVersion(), "-V, --version", "the version of cdc-bench")
    .description("Look into CDC topics and measure how fast they are consumed, by format.")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void terminal.stdout.write(text),
      writeErr: (text) => void terminal.stderr.write(text),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .showSuggestionAfterError()
    .addHelpText("after", exitCodeHelp);
  for (const add of commands) {
    add(program, terminal, settle);
  }
  // What a command inherits is copied when it is made, and these are made by functions of their own.
  for (const command of program.commands) {
    command.copyInheritedSettings(program).option("--debug", "stack traces of what goes wrong, on stderr");
  }
  return program;
}
