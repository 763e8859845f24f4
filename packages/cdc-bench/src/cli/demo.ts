import type { Command } from "commander";
import type { ExitCode } from "../exit-codes.ts";
import type { Terminal } from "../terminal.ts";
import { addDemandFlags, type DemandFlags } from "./demand-options.ts";
import { addProfileFlags, type ProfileFlags } from "./profile-options.ts";
import { addResultFlags, type ResultFlags } from "./result-options.ts";

export interface DemoFlags extends DemandFlags, ResultFlags, ProfileFlags {}

export function addDemo(program: Command, terminal: Terminal, settle: (code: ExitCode) => void): void {
  const command = program.command("demo");
  addProfileFlags(addResultFlags(addDemandFlags(command))).action(async (flags: DemoFlags) => {
    const { demo } = await import("./actions/demo.ts");
    settle(await demo(flags, terminal));
  });
}
