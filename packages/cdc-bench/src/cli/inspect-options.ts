import type { Command } from "commander";
import { BenchError } from "../bench-error.ts";
import { collectColumn, collectKinds, collectOps, type ColumnFilter, type EventFilter } from "../inspect/event-filter.ts";
import { createMask, type Mask } from "../inspect/mask.ts";
import { collectHeader, type HeaderFilter, type RecordFilter } from "../inspect/record-filter.ts";
import { type InspectStart, parseInspectStart } from "../inspect/start-position.ts";
import { collectNames, collectPartitions, collectTables, parseCount } from "./option-values.ts";
import type { SourceFlags } from "./source-options.ts";

export interface InspectFlags extends SourceFlags {
  readonly from?: InspectStart;
  readonly fromBeginning?: boolean;
  readonly follow?: boolean;
  readonly partition?: readonly number[];
  readonly key?: string;
  readonly table?: readonly string[];
  readonly op?: readonly string[];
  readonly kind?: readonly string[];
  readonly header?: readonly HeaderFilter[];
  readonly where?: readonly ColumnFilter[];
  readonly headers?: boolean;
  readonly mask?: readonly string[];
  readonly maskValues?: boolean;
  readonly json?: boolean;
  readonly explain?: boolean;
  readonly hints?: string;
  readonly limit?: number;
  readonly output?: string;
}

export function addInspectFlags(command: Command): Command {
  return command
    .option(
      "--from <where>",
      "begin at latest, at the last offsets of each partition (-20), an offset, a time (2026-11-22T08:00:00Z) or a time back (2h)",
      (text) => parseInspectStart(text),
    )
    .option("--from-beginning", "begin at the first record of each partition: the default")
    .option("--follow", "stay at the end of the topics and show what comes, until the command is stopped")
    .option("--partition <number,...>", "only these partitions of each topic", collectPartitions)
    .option("--key <text>", 'only events with this key: its text, or its JSON, such as {"id":17}')
    .option("--table <name,...>", "only events of these tables: the whole name or an end of it, such as orders", collectTables)
    .option("--op <name,...>", "only changes of these kinds: create, update, delete, read", collectOps)
    .option("--kind <name,...>", "only events of these kinds: change, tombstone, truncate, message, ...", collectKinds)
    .option("--header <name[=value]>", "only records with this header; may be repeated", collectHeader)
    .option("--where <column=value>", "only events with this value in the column, before or after; may be repeated", collectColumn)
    .option("--headers", "show the headers of each record (with --json: its timestamp and its dead letter's origin, too)")
    .option("--mask <column,...>", "hide the values of these columns, also inside of others", collectNames)
    .option("--mask-values", "hide all values of keys, rows and headers")
    .option("--json", "one JSON object a line for every event, and for every record that cannot be decoded")
    .option("--explain", "for every record, which formats were tried and why each won or lost")
    .option("--hints <file>", "what the bytes of topics cannot say: JSON, the `topics` of createDecoder")
    .option("-n, --limit <count>", "stop after this many records that are shown (100k, 2m)", parseCount)
    .option("-o, --output <file>", "write the results to a file in place of stdout");
}

export function recordFilterOf({ partition = [], header = [] }: InspectFlags): RecordFilter {
  return { partitions: partition, headers: header };
}

export function eventFilterOf({ key, table = [], op = [], kind = [], where = [] }: InspectFlags): EventFilter {
  return { key: key ?? null, tables: table, ops: op, kinds: kind, columns: where };
}

export function maskOf({ mask = [], maskValues = false }: InspectFlags): Mask {
  return createMask({ columns: mask, isEverything: maskValues });
}

/** @throws BenchError if flags contradict each other, or could show nothing */
export function refuseContradictions({ file, from, fromBeginning, follow, op, kind }: InspectFlags): void {
  if (from !== undefined && fromBeginning === true) {
    throw new BenchError("usage", "--from and --from-beginning are two starts: give one of them.");
  }
  if (file !== undefined && from !== undefined) {
    throw new BenchError("usage", "--file and --from do not go together: a recording is read from its first line.");
  }
  if (file !== undefined && follow === true) {
    throw new BenchError("usage", "--file and --follow do not go together: nothing comes after the end of a recording.");
  }
  if (from?.kind === "latest" && follow !== true) {
    throw new BenchError("usage", "--from latest begins after the last record: give --follow, too, or --from -20 for the last 20 offsets.");
  }
  if (op !== undefined && kind !== undefined && !kind.includes("change")) {
    throw new BenchError("usage", `--op asks for changes, and --kind ${kind.join(",")} leaves them out: give one of them.`);
  }
}
