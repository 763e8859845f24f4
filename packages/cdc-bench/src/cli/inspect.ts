import type { Command } from "commander";
import type { ExitCode } from "../exit-codes.ts";
import type { Terminal } from "../terminal.ts";
import { addInspectFlags, type InspectFlags } from "./inspect-options.ts";
import { addClusterFlags, addFileFlags } from "./source-options.ts";

export function addInspect(program: Command, terminal: Terminal, settle: (code: ExitCode) => void): void {
  const command = program.command("inspect");
  addInspectFlags(addFileFlags(addClusterFlags(command))).action(async (flags: InspectFlags) => {
    const { inspect } = await import("./actions/inspect.ts");
    settle(await inspect(flags, terminal));
  });
}
