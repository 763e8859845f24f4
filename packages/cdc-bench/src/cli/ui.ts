import { type Command, InvalidArgumentError, Option } from "commander";
import type { ExitCode } from "../exit-codes.ts";
import type { Terminal } from "../terminal.ts";
import { parseCount } from "./option-values.ts";

export interface UiFlags {
  readonly port: number;
  readonly open?: boolean;
  readonly dir?: string;
  readonly keep: number;
  readonly maskValues?: boolean;
}

/** The other commands stand beside it in the program: the page makes its forms from them. */
export function addUi(program: Command, terminal: Terminal, settle: (code: ExitCode) => void): void {
  program
    .command("ui")
    .addOption(new Option("--port <number>", "the port on 127.0.0.1").argParser(parsePort).default(0, "a free one"))
    .option("--open", "open the page in the browser")
    .option("--dir <folder>", "where results are kept (default: cdc-bench/ui in $XDG_STATE_HOME)")
    .option("--keep <count>", "keep so many results", parseCount, 50)
    .option("--mask-values", "hide all values of keys, rows and headers; no page can turn it off")
    .action(async (flags: UiFlags) => {
      const { ui } = await import("./actions/ui.ts");
      settle(await ui(flags, terminal, program.commands));
    });
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) {
    throw new InvalidArgumentError("It must be a port from 1 to 65535, or 0 for a free one.");
  }
  return port;
}
