import { readFile } from "node:fs/promises";
import { describeSchema, type SchemaSeen, type TableName } from "@cdckit/decode";
import { isRegistryError } from "@cdckit/registry";
import { BenchError } from "../../bench-error.ts";
import { exitCodes, type ExitCode } from "../../exit-codes.ts";
import { openRecordFeed } from "../../load/record-feed.ts";
import { openRegistry, openSchemas } from "../../load/schemas.ts";
import type { RegistryConnection } from "../../load/connection.ts";
import { openingPhase, type Source } from "../../load/source.ts";
import { isRegistryAtFault } from "../../registry-fault.ts";
import { createObserver } from "../../observe/observer.ts";
import { openResultSink } from "../../report/result-sink.ts";
import { printable } from "../../report/text-width.ts";
import type { Terminal } from "../../terminal.ts";
import { declarationsOf } from "../../types/declarations.ts";
import { patternOf, type SeenTable, SeenTables } from "../../types/seen-tables.ts";
import { textLiteral } from "../../types/text-literal.ts";
import { resolveCluster, resolveSource } from "../resolve-source.ts";
import type { TypesFlags } from "../types.ts";

export async function types(flags: TypesFlags, terminal: Terminal): Promise<ExitCode> {
  if (flags.check === true && flags.output === undefined) {
    throw new BenchError("usage", "--check compares with a file: name it with -o FILE.");
  }
  const { tables, failures } = await seenTables(flags, terminal);
  if (terminal.interrupt.aborted) {
    terminal.stderr.write("interrupted: nothing was written.\n");
    return exitCodes.interrupted;
  }
  if (tables.length === 0 && failures > 0) {
    terminal.stderr.write("nothing was written: no row of any table was seen.\n");
    return exitCodes.decodeErrors;
  }
  if (tables.length === 0) {
    throw new BenchError("too-few-messages", "no row of any table was seen: there are no types to write.");
  }
  const { int64, decimal, time, json, bits, importFrom } = flags;
  const text = declarationsOf(tables, {
    values: { int64, decimal, time, json, bits },
    importFrom,
    withUnavailable: flags.unavailable,
  });
  const code = await (flags.check === true ? check(flags.output as string, text, terminal) : writeTypes(flags.output, text, terminal));
  return code === exitCodes.ok && failures > 0 ? exitCodes.decodeErrors : code;
}

interface Gathered {
  readonly tables: readonly SeenTable[];
  /** Records that could not be decoded: their tables may lack, or have other columns. */
  readonly failures: number;
}

async function writeTypes(file: string | undefined, text: string, terminal: Terminal): Promise<ExitCode> {
  const sink = await openResultSink(terminal, file);
  await sink.write(text);
  await sink.close();
  return exitCodes.ok;
}

async function check(file: string, text: string, terminal: Terminal): Promise<ExitCode> {
  let written: string;
  try {
    written = await readFile(file, "utf8");
  } catch (cause) {
    throw new BenchError("usage", `cannot read ${file}: run the same command without --check first.`, { cause });
  }
  if (written === text) {
    terminal.stderr.write(`${file} is as its tables are.\n`);
    return exitCodes.ok;
  }
  terminal.stderr.write(`${file} is not as its tables are: ${firstDifference(written, text)}. Run the same command without --check.\n`);
  return exitCodes.regression;
}

function firstDifference(written: string, expected: string): string {
  const [was, is] = [written.split("\n"), expected.split("\n")];
  const line = is.findIndex((text, i) => text !== was[i]);
  const at = line === -1 ? is.length : line;
  return `line ${at + 1} should be ${textLiteral(is[at] ?? "(nothing)")}, and is ${textLiteral(was[at] ?? "(nothing)")}`;
}

async function seenTables(flags: TypesFlags, terminal: Terminal): Promise<Gathered> {
  const { connection, registry } = flags.file === undefined ? resolveCluster(flags, terminal.env) : {};
  return connection === undefined && registry !== undefined && flags.file === undefined
    ? { tables: await fromRegistry(registry, flags.topics ?? []), failures: 0 }
    : fromRecords(resolveSource(flags, terminal.env), flags.limit, terminal);
}

async function fromRecords(source: Source, limit: number, terminal: Terminal): Promise<Gathered> {
  const seen = new SeenTables(openSchemas(source));
  const observer = createObserver(terminal);
  observer.observe(() => ({ phase: openingPhase(source) }));
  const world = { ...terminal, note: (text: string) => observer.note(text) };
  let records = 0;
  try {
    for await (const record of openRecordFeed(source, world)) {
      await seen.add(record, isRegistryAtFault);
      records++;
      observer.observe(() => ({ phase: "looking at the types of rows", done: records }));
      if (records === limit || terminal.interrupt.aborted) {
        break;
      }
    }
  } finally {
    observer.end();
  }
  const tables = seen.tables();
  const untyped = tables.filter(({ inferredFrom }) => inferredFrom !== null).map(({ table }) => patternOf(table));
  if (untyped.length > 0) {
    terminal.stderr.write(`${untypedNote(untyped)}\n`);
  }
  if (seen.failures > 0) {
    terminal.stderr.write(`${seen.failures} of ${records} records could not be decoded; cdc-bench inspect says why.\n`);
  }
  return { tables, failures: seen.failures };
}

const maxNamedTables = 5;

/** What the written types cannot know: JSON without a schema has numbers and text alone. */
function untypedNote(patterns: readonly string[]): string {
  const more = patterns.length > maxNamedTables ? ` and ${patterns.length - maxNamedTables} more` : "";
  return printable(
    `${patterns.slice(0, maxNamedTables).join(", ")}${more}: the values carry no types, so these are what the rows showed. Text may be a decimal ` +
      "or bytes, a number may be a time: cdc-bench hints writes what the columns are from a source that knows, or write the topic with schemas.",
  );
}

/** The newest schemas of `<topic>-key` and `<topic>-value`, Confluent's names for a topic's subjects. */
async function fromRegistry(connection: RegistryConnection, topics: readonly string[]): Promise<readonly SeenTable[]> {
  if (topics.length === 0) {
    throw new BenchError("usage", "which tables? Give --topics NAME: the subjects NAME-value and NAME-key are asked for.");
  }
  const registry = openRegistry(connection);
  const latest = async (topic: string, side: "key" | "value"): Promise<SchemaSeen> =>
    describeSchema(await registry.load((await registry.latest(`${topic}-${side}`)).id), { topic, side });
  try {
    return await Promise.all(
      topics.map(async (topic) => {
        const value = await latest(topic, "value");
        const key = await latest(topic, "key").catch(nothingIfNotFound);
        return {
          table: tableOf(value),
          row: value.row,
          key: key?.row ?? null,
          inferredFrom: null,
          isDebezium: value.envelope === "debezium",
        };
      }),
    ).then((tables) => tables.sort((a, b) => (patternOf(a.table) < patternOf(b.table) ? -1 : 1)));
  } finally {
    await registry.close();
  }
}

function nothingIfNotFound(error: unknown): null {
  if (isRegistryError(error) && error.code === "not-found") {
    return null; // a table without a key, or one whose keys have no schema
  }
  throw error;
}

/** The last two parts of Debezium's schema name (`prefix.inventory.products.Envelope`), or of the topic. */
function tableOf({ type, topic }: SchemaSeen): TableName {
  const named = type.kind === "record" ? /^(.+)\.(?:Envelope|Value)$/.exec(type.name ?? "")?.[1] : undefined;
  const parts = (named ?? topic).split(".");
  const name = parts.at(-1) ?? topic;
  const schema = parts.at(-2);
  return schema === undefined ? { name } : { schema, name };
}
