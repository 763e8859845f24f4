import { createDecoder, type Decoder, type SchemaSource, UntypedColumns } from "@cdckit/decode";
import { BenchError } from "../../bench-error.ts";
import { exitCodes, type ExitCode } from "../../exit-codes.ts";
import { createInspector, type Inspected } from "../../inspect/inspector.ts";
import type { Mask } from "../../inspect/mask.ts";
import { selectExtent } from "../../inspect/start-position.ts";
import { readHints } from "../../load/hints.ts";
import { type FeedRange, openRecordFeed } from "../../load/record-feed.ts";
import { missingSchemasNote, openSchemas } from "../../load/schemas.ts";
import { openingPhase } from "../../load/source.ts";
import { createInspectTally, type InspectTally } from "../../inspect/inspect-tally.ts";
import { type InspectTextOptions, recordText } from "../../inspect/inspect-text.ts";
import { createObserver } from "../../observe/observer.ts";
import { formatCount } from "../../report/quantities.ts";
import { openResultSink } from "../../report/result-sink.ts";
import { plainStyle, styleOf } from "../../report/text-style.ts";
import { columnsOf } from "../../report/text-width.ts";
import { untypedNotes } from "../../report/untyped-notes.ts";
import { readerLeft, type Terminal } from "../../terminal.ts";
import { eventFilterOf, type InspectFlags, maskOf, recordFilterOf, refuseContradictions } from "../inspect-options.ts";
import { resolveSource } from "../resolve-source.ts";

/** Prints the records of the source that the filters let through. One that cannot be decoded is a line like the others. */
export async function inspect(flags: InspectFlags, terminal: Terminal): Promise<ExitCode> {
  refuseContradictions(flags);
  const source = resolveSource(flags, terminal.env);
  const schemas = openSchemas(source);
  const decoder = decoderOf(schemas, flags.hints);
  const sink = await openResultSink(terminal, flags.output);
  const observer = createObserver(terminal, { isQuietAtFirst: true });
  observer.observe(() => ({ phase: openingPhase(source) }));
  const tally = createInspectTally();
  const untyped = new UntypedColumns();
  const inspector = createInspector(decoder, {
    records: recordFilterOf(flags),
    events: eventFilterOf(flags),
    mask: maskOf(flags),
    hasHeaders: flags.headers === true,
    isExplained: flags.explain === true,
  });
  const textOf = textOptionsOf(flags, terminal, maskOf(flags));
  const world = { ...terminal, note: (text: string) => observer.note(text) };
  let shown = 0;
  let failure: BenchError | null = null;
  try {
    for await (const record of openRecordFeed(source, world, rangeOf(flags))) {
      observer.observe(() => ({ phase: "looking at records", done: tally.records + tally.leftOut }));
      const seen = await inspector.look(record);
      if (seen === null) {
        tally.leaveOut();
        continue;
      }
      tally.add(seen);
      if (seen.isShown) {
        seen.events.forEach(untyped.add);
        observer.end();
        await sink.write(flags.json === true ? jsonOf(seen) : recordText(seen, textOf));
        shown++;
      }
      if (shown === flags.limit || terminal.interrupt.aborted) {
        break;
      }
    }
    await sink.write(""); // no record is a result, too: a file does not keep those of an earlier run
  } catch (error) {
    failure = partlyRead(error, tally);
  } finally {
    observer.end();
    await sink.close();
  }
  if (terminal.interrupt.reason === readerLeft) {
    return exitCodes.interrupted; // whoever wrote `| head` has what they wanted
  }
  terminal.stderr.write(missingSchemasNote(tally.errors));
  terminal.stderr.write(untypedNotes(untyped));
  return conclude(tally, failure, terminal, flags.follow === true);
}

/** A topic that was not read to its end is an error after the summary of what was read. Any other error is thrown at once. */
function partlyRead(error: unknown, { records, leftOut }: InspectTally): BenchError {
  if (error instanceof BenchError && error.code === "too-few-messages" && records + leftOut > 0) {
    return error;
  }
  throw error;
}

/** Undefined: everything, from the start to the present end. */
function rangeOf({ from = { kind: "earliest" }, follow, partition = [] }: InspectFlags): FeedRange | undefined {
  if (from.kind === "earliest" && follow !== true && partition.length === 0) {
    return undefined;
  }
  return { select: (cluster, extent) => selectExtent(cluster, extent, from, partition), follows: follow === true };
}

function textOptionsOf(flags: InspectFlags, { env, screen }: Terminal, mask: Mask): InspectTextOptions {
  const isOnScreen = flags.output === undefined && screen !== undefined;
  const style = flags.output === undefined ? styleOf(env, isOnScreen) : plainStyle;
  return { columns: columnsOf(env, isOnScreen ? screen : undefined), style, mask, hasHeaders: flags.headers === true };
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

function jsonOf({ lines }: Inspected): string {
  return lines.map((line) => `${line}\n`).join("");
}

function conclude(tally: InspectTally, failure: BenchError | null, terminal: Terminal, isFollowing: boolean): ExitCode {
  terminal.stderr.write(tally.summary());
  if (failure !== null) {
    throw failure;
  }
  if (terminal.interrupt.aborted) {
    terminal.stderr.write(isFollowing ? "" : "interrupted: this is not all of it.\n");
    return exitCodes.interrupted;
  }
  if (tally.records === 0 && tally.leftOut > 0) {
    throw new BenchError("too-few-messages", `the filters let none of ${formatCount(tally.leftOut)} records through.`);
  }
  if (tally.records === 0) {
    throw new BenchError("too-few-messages", "there are no records to read in the source.");
  }
  return tally.failures > 0 ? exitCodes.decodeErrors : exitCodes.ok;
}
