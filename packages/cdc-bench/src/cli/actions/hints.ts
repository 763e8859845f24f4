import { type ColumnHintTexts, columnHintsOf, describeSchema, type Type } from "@cdckit/decode";
import { isRegistryError, type Registry } from "@cdckit/registry";
import { BenchError } from "../../bench-error.ts";
import { exitCodes, type ExitCode } from "../../exit-codes.ts";
import { hintsOfDatabase } from "../../hints/database-columns.ts";
import { hintsOverTime } from "../../hints/hints-over-time.ts";
import type { RegistryConnection } from "../../load/connection.ts";
import { openDatabase } from "../../load/database.ts";
import { openRecordFeed } from "../../load/record-feed.ts";
import { openRegistry, openSchemas } from "../../load/schemas.ts";
import type { Source } from "../../load/source.ts";
import { isRegistryAtFault } from "../../registry-fault.ts";
import { formatCount } from "../../report/quantities.ts";
import { openResultSink } from "../../report/result-sink.ts";
import type { Terminal } from "../../terminal.ts";
import { patternOf, type SeenTable, SeenTables } from "../../types/seen-tables.ts";
import { resolveCluster, resolveSource } from "../resolve-source.ts";
import type { HintsFlags } from "../hints.ts";

/** Writes the option `topics` of `createDecoder` as JSON, which `inspect --hints` takes as well. */
export async function hints(flags: HintsFlags, terminal: Terminal): Promise<ExitCode> {
  const columns = await columnsFrom(flags, terminal);
  if (terminal.interrupt.aborted) {
    terminal.stderr.write("interrupted: nothing was written.\n");
    return exitCodes.interrupted;
  }
  if (flags.for === undefined) {
    terminal.stderr.write("--for TOPIC names the topic that lacks the types; without it, write its name over the one below.\n");
  }
  const topics = flags.for ?? [isDatabase(flags.from) ? (flags.table ?? "") : (flags.from ?? flags.file ?? "")];
  const sink = await openResultSink(terminal, flags.output);
  await sink.write(`${JSON.stringify(Object.fromEntries(topics.map((topic) => [topic, { columns }])), null, 2)}\n`);
  await sink.close();
  return exitCodes.ok;
}

async function columnsFrom(flags: HintsFlags, terminal: Terminal): Promise<ColumnHintTexts> {
  const { from, table, file } = flags;
  if (from?.includes("://") === true && !isDatabase(from)) {
    // Without the address: it may hold a password.
    throw new BenchError("usage", "--from takes a topic, a subject, or the address of a PostgreSQL database: postgres://...");
  }
  if (isDatabase(from)) {
    const named = table ?? flags.for?.[0]?.split(".").slice(-2).join(".");
    if (named === undefined) {
      throw new BenchError("usage", "which table of the database? Give --table SCHEMA.NAME, or --for TOPIC.");
    }
    const database = await openDatabase(from);
    try {
      return await hintsOfDatabase(database, named);
    } finally {
      await database.close();
    }
  }
  if (file !== undefined) {
    return columnsOfRecords(resolveSource(flags, terminal.env), flags, terminal);
  }
  if (from === undefined) {
    throw new BenchError(
      "usage",
      "who has the types? Give --from TOPIC, --from SUBJECT with --registry, --from postgres://..., or --file RECORDING.",
    );
  }
  const { connection, registry } = resolveCluster(flags, terminal.env);
  const asksRegistry = flags.registry !== undefined && flags.brokers === undefined; // what was typed wins over brokers of the environment
  if (registry === undefined || (connection !== undefined && !asksRegistry)) {
    return columnsOfRecords(resolveSource({ ...flags, topics: [from] }, terminal.env), flags, terminal);
  }
  if (table !== undefined) {
    throw new BenchError("usage", "--table and a subject in --from do not go together: a subject is of one table.");
  }
  return columnsOfSubject(registry, from);
}

function isDatabase(from: string | undefined): from is string {
  return from !== undefined && /^postgres(ql)?:\/\//.test(from);
}

/** Of the schema that the records of a table name or bring; the first records may be tombstones or heartbeats. */
async function columnsOfRecords(source: Source, { table, limit }: HintsFlags, terminal: Terminal): Promise<ColumnHintTexts> {
  const seen = new SeenTables(openSchemas(source));
  let records = 0;
  const world = { ...terminal, note: (text: string) => void terminal.stderr.write(`${text}\n`) };
  for await (const record of openRecordFeed(source, world)) {
    if (records === limit) {
      world.note(`-n ended the look at ${formatCount(limit)} of the records: those that follow may have more columns.`);
      break;
    }
    await seen.add(record, isRegistryAtFault);
    records++;
  }
  if (terminal.interrupt.aborted) {
    return {}; // what came until then says nothing of the source
  }
  const { columns, changed } = hintsOverTime(rowsOf(seen.tables(), table, records));
  if (changed.length > 0) {
    world.note(
      `the types of ${changed.join(", ")} have changed within these records, and the hints are those of the last schema: without a schema, a decimal of ` +
        "another scale or a time of another unit is read as another value. Read the records from before the change with hints of their own (-n).",
    );
  }
  return columns;
}

/** What the schemas of one table say of its rows, the newest last. Several tables may share a topic, and each has columns of its own. */
function rowsOf(seen: readonly SeenTable[], named: string | undefined, records: number): readonly Type[] {
  const typed = seen.flatMap(({ table, row, formerRows = [], inferredFrom }) =>
    inferredFrom === null && row !== null ? [{ table, rows: [...formerRows, row] }] : [],
  );
  const [found, ...others] = typed.filter(({ table }) => named === undefined || named === patternOf(table) || named === table.name);
  if (found !== undefined && others.length === 0) {
    return found.rows;
  }
  if (typed.length > 0) {
    const names = typed.map(({ table }) => patternOf(table)).join(", ");
    const problem = found === undefined ? `there is no table ${named} in ${records} records of the source` : "which table?";
    throw new BenchError("usage", `${problem}: name one with --table. There are ${names}.`);
  }
  throw new BenchError(
    "too-few-messages",
    records === 0
      ? "the source that should have the types has no records."
      : `none of ${records} records of the source that should have the types carries a schema of its rows: name a topic in Avro or in JSON with schema, a registry or a database.`,
  );
}

async function columnsOfSubject(connection: RegistryConnection, subject: string): Promise<ColumnHintTexts> {
  const registry = openRegistry(connection);
  try {
    const { id } = await latestOf(registry, subject);
    const { row } = await describeSchema(await registry.load(id), { topic: subject, side: "value" });
    if (row === null) {
      throw new BenchError("usage", `the schema of ${subject} has no row: name the subject of a topic's values.`);
    }
    return columnHintsOf(row);
  } finally {
    await registry.close();
  }
}

/** The subject, or the one that Confluent's serializers register for the values of a topic of that name. */
async function latestOf(registry: Registry, subject: string): Promise<{ readonly id: number }> {
  try {
    return await registry.latest(subject);
  } catch (error) {
    if (isRegistryError(error) && error.code === "not-found" && !subject.endsWith("-value")) {
      return registry.latest(`${subject}-value`);
    }
    throw error;
  }
}
