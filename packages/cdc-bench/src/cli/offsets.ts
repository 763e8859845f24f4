import type { Command } from "commander";
import type { ExitCode } from "../exit-codes.ts";
import { type OffsetTarget, parseOffsetTarget } from "../offsets/offset-target.ts";
import type { Terminal } from "../terminal.ts";
import { addLoginFlags } from "./login-options.ts";
import { collectNames, collectPartitions } from "./option-values.ts";
import { addBrokersFlag, type SourceFlags } from "./source-options.ts";
import { addTlsFlags } from "./tls-options.ts";

export interface OffsetsFlags extends SourceFlags {
  readonly group: string;
  readonly partition?: readonly number[];
  readonly reset?: OffsetTarget;
  readonly execute?: boolean;
  readonly json?: boolean;
  readonly output?: string;
}

export function addOffsets(program: Command, terminal: Terminal, settle: (code: ExitCode) => void): void {
  const command = program.command("offsets");
  addLoginFlags(addTlsFlags(addBrokersFlag(command)))
    .requiredOption("-g, --group <name>", "the consumer group")
    .option("-t, --topics <name,...>", "only these topics (default: those that the group has committed)", collectNames)
    .option("--partition <number,...>", "only these partitions of each topic", collectPartitions)
    .option("--reset <where>", "go on at earliest, latest, an offset, a time (2026-11-22T08:00:00Z) or a time back (2h)", (text) =>
      parseOffsetTarget(text),
    )
    .option("--execute", "commit what --reset plans; without it nothing is changed")
    .option("--json", "the results as one JSON object")
    .option("-o, --output <file>", "write the results to a file in place of stdout")
    .action(async (flags: OffsetsFlags) => {
      const { offsets } = await import("./actions/offsets.ts");
      settle(await offsets(flags, terminal));
    });
}
