import type { Command } from "commander";
import {
  createDecoder,
  isDecodeError,
  type Candidate,
  type CdcEvent,
  type Decoder,
  type KafkaRecord,
  type SchemaSource,
  UntypedColumns,
} from "@cdckit/decode";
import { BenchError } from "../bench-error.ts";
import { exitCodes, type ExitCode } from "../exit-codes.ts";
import { readHints } from "../load/hints.ts";
import { openRecordFeed } from "../load/record-feed.ts";
import { missingSchemasHint, openSchemas } from "../load/schemas.ts";
import { untypedNotes } from "../report/untyped-notes.ts";
import { isRegistryAtFault } from "../registry-fault.ts";
import { createInspectTally, type InspectTally } from "../report/inspect-tally.ts";
import { eventText, failureText, explanationText, silenceText } from "../report/inspect-text.ts";
import { eventLine, failureLine, silenceLine, type DecodeFailure } from "../report/inspect-line.ts";
import { createProgress } from "../report/progress.ts";
import { openResultSink } from "../report/result-sink.ts";
import type { Terminal } from "../terminal.ts";
import { parseCount } from "./option-values.ts";
import { addClusterFlags, addFileFlags, resolveSource, type SourceFlags } from "./source-options.ts";

interface InspectFlags extends SourceFlags {
  readonly json?: boolean;
  readonly explain?: boolean;
  readonly hints?: string;
  readonly limit?: number;
  readonly output?: string;
}

export function addInspect(program: Command, terminal: Terminal, settle: (code: ExitCode) => void): void {
  const command = program.command("inspect").description("What is in a topic: format, schema and decoded events, record by record.");
  addFileFlags(addClusterFlags(command))
    .option("--json", "one JSON object a line for every event, and for every record that cannot be decoded")
    .option("--explain", "for every record, which formats were tried and why each won or lost")
    .option("--hints <file>", "what the bytes of topics cannot say: JSON, the `topics` of createDecoder")
    .option("-n, --limit <count>", "stop after this many records (100k, 2m)", parseCount)
    .option("-o, --output <file>", "write the results to a file in place of stdout")
    .action(async (flags: InspectFlags) => settle(await inspect(flags, terminal)));
}

/** Prints every record of the source. One that cannot be decoded is a line like the others. */
async function inspect(flags: InspectFlags, terminal: Terminal): Promise<ExitCode> {
  const source = resolveSource(flags, terminal.env);
  const schemas = openSchemas(source);
  const decoder = decoderOf(schemas, flags.hints);
  const sink = await openResultSink(terminal, flags.output);
  const progress = createProgress(terminal);
  const tally = createInspectTally();
  const untyped = new UntypedColumns();
  try {
    for await (const record of openRecordFeed(source, terminal.interrupt)) {
      const seen = await look(record, decoder, flags.explain === true);
      tally.add(seen);
      seen.events.forEach(untyped.add);
      await sink.write(flags.json === true ? jsonOf(seen) : textOf(seen));
      progress.update(() => `${tally.records} records`);
      if (tally.records === flags.limit || terminal.interrupt.aborted) {
        break;
      }
    }
  } finally {
    progress.end();
    await sink.close();
  }
  if (schemas === undefined && tally.failuresOf("schema-source-missing") > 0) {
    terminal.stderr.write(missingSchemasHint);
  }
  terminal.stderr.write(untypedNotes(untyped));
  return conclude(tally, terminal);
}

function decoderOf(schemas: SchemaSource | undefined, hintsFile: string | undefined): Decoder {
  const topics = hintsFile === undefined ? {} : { topics: readHints(hintsFile) };
  try {
    return createDecoder({ ...(schemas && { schemas }), ...topics });
  } catch (error) {
    if (hintsFile === undefined || !(error instanceof TypeError)) {
      throw error;
    }
    throw new BenchError("usage", `${hintsFile}: ${error.message}`, { cause: error });
  }
}

/** What became of one record. */
export interface Inspected {
  readonly record: KafkaRecord;
  readonly events: readonly CdcEvent[];
  /** The lines of `--json`, made here because making them reads every part of the events. */
  readonly lines: readonly string[];
  readonly failure: DecodeFailure | null;
  readonly candidates: readonly Candidate[];
}

async function look(record: KafkaRecord, decoder: Decoder, isExplained: boolean): Promise<Inspected> {
  const candidates = isExplained ? (await decoder.explain(record)).candidates : [];
  const more = isExplained ? { explain: candidates } : {};
  try {
    const events = await decoder.decode(record);
    const lines = events.map((event) => eventLine(event, more));
    if (isExplained && events.length === 0) {
      lines.push(silenceLine(record, more));
    }
    return { record, events, lines, failure: null, candidates };
  } catch (error) {
    // Without a way to its schema no record is looked at: that is no news about the records.
    if (!isDecodeError(error) || isRegistryAtFault(error)) {
      throw error;
    }
    const failure = { code: error.code, message: error.message };
    return { record, events: [], lines: [failureLine(record, failure, more)], failure, candidates };
  }
}

function jsonOf(seen: Inspected): string {
  return seen.lines.map((line) => `${line}\n`).join("");
}

function textOf({ record, events, failure, candidates }: Inspected): string {
  const said = failure === null ? events.map(eventText).join("") || silenceText(record) : failureText(record, failure);
  return said + explanationText(candidates);
}

function conclude(tally: InspectTally, terminal: Terminal): ExitCode {
  terminal.stderr.write(tally.summary());
  if (terminal.interrupt.aborted) {
    terminal.stderr.write("interrupted: this is not all of it.\n");
    return exitCodes.interrupted;
  }
  if (tally.records === 0) {
    throw new BenchError("too-few-messages", "there are no records: the source is empty.");
  }
  return tally.failures > 0 ? exitCodes.decodeErrors : exitCodes.ok;
}
