import { BenchError } from "../bench-error.ts";
import type { ExitCode } from "../exit-codes.ts";
import { printable, printableLines } from "../report/text-width.ts";
import type { Terminal } from "../terminal.ts";

/** Says on stderr, in a sentence, why a command failed, and gives the exit code for it. A stack trace is shown only on request. */
export async function explainFailure(error: unknown, terminal: Terminal, isDebug: boolean): Promise<ExitCode> {
  const { sentence, code } = await verdictOf(error);
  // A sentence may name a topic, a table or a member, whose names are anybody's.
  terminal.stderr.write(`cdc-bench: ${printable(sentence)}\n`);
  if (isDebug && error instanceof Error) {
    terminal.stderr.write(`${printableLines(error.stack ?? error.message)}\n`);
    for (let cause = error.cause; cause instanceof Error; cause = cause.cause) {
      terminal.stderr.write(`caused by ${printableLines(cause.stack ?? cause.message)}\n`);
    }
  }
  return code;
}

/** What is said of an error, and what the process ends with. */
export interface FailureVerdict {
  readonly sentence: string;
  readonly code: ExitCode;
}

async function verdictOf(error: unknown): Promise<FailureVerdict> {
  if (error instanceof BenchError) {
    return { sentence: error.detail, code: error.exitCode };
  }
  // Telling the errors of the other packages apart loads those packages, which a wrong flag need not wait for.
  const { verdictOfPackages } = await import("./package-failure.ts");
  return verdictOfPackages(error);
}
