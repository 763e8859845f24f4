import type { Command } from "commander";

export interface CleanFlag {
  readonly clean?: boolean;
}

/** For each command that makes something outside of its process. Its action calls `cleanLeftovers` in place of its work. */
export function addCleanFlag(command: Command): Command {
  return command.option("--clean", "remove what earlier runs left behind (of any command), and end");
}
