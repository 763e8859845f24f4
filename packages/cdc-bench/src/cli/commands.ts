import type { Command } from "commander";
import type { ExitCode } from "../exit-codes.ts";
import type { Terminal } from "../terminal.ts";

/** Adds one command to the program; `settle` takes the exit code that the command ends with. */
export type AddCommand = (program: Command, terminal: Terminal, settle: (code: ExitCode) => void) => void;

/** A command as the list of commands shows it. */
export interface CommandEntry {
  readonly name: string;
  /** Its line in `cdc-bench --help`, and the head of its own help. */
  readonly description: string;
  /** Whether its action looks at the other commands of the program, so that they are loaded, too. */
  readonly looksAtOthers?: true;
  load(): Promise<AddCommand>;
}

/**
 * Every command, in the order in which `--help` lists them. To add a command:
 *
 * 1. `cli/NAME.ts` has `addNAME`, an {@link AddCommand} that calls `program.command("NAME")`, adds flags, and gives it an action. It says no
 *    description: that stands here.
 * 2. Its action imports what it does when it runs: `const { NAME } = await import("./actions/NAME.ts")`. So `--help` and a wrong flag cost
 *    no Kafka client and no codec. `startup.test.ts` fails for a `cli/NAME.ts` that loads one.
 * 3. An entry in this list.
 */
export const commands: readonly CommandEntry[] = [
  {
    name: "demo",
    description: "No broker needed: recorded messages of every format through the whole pipeline, compared.",
    load: async () => (await import("./demo.ts")).addDemo,
  },
  {
    name: "run",
    description: "How fast topics are consumed as they are: rates, sizes, decode times, stages.",
    load: async () => (await import("./run.ts")).addRun,
  },
  {
    name: "inspect",
    description: "What is in a topic: format, schema and decoded events, record by record.",
    load: async () => (await import("./inspect.ts")).addInspect,
  },
  {
    name: "types",
    description: "TypeScript types of tables: from their topics, from a recording, or (without brokers) from a registry alone.",
    load: async () => (await import("./types.ts")).addTypes,
  },
  {
    name: "hints",
    description: "What plain JSON cannot say of its columns, from a topic, a registry or a database that has the types.",
    load: async () => (await import("./hints.ts")).addHints,
  },
  {
    name: "doctor",
    description: "Whether brokers, registry and topics can be reached and read, and what to do if not.",
    load: async () => (await import("./doctor.ts")).addDoctor,
  },
  {
    name: "redrive",
    description: "Write dead letters back to where they came from, as they were, in the order of each key.",
    load: async () => (await import("./redrive.ts")).addRedrive,
  },
  {
    name: "offsets",
    description: "Show where a consumer group stands, and move it: first as a dry run.",
    load: async () => (await import("./offsets.ts")).addOffsets,
  },
  {
    name: "drain",
    description: "How fast a stopped consumer catches up with a backlog: events a second, and what delivery guarantees cost.",
    load: async () => (await import("./drain.ts")).addDrain,
  },
  {
    name: "sweep",
    description: "Which batch, fetch and concurrency settings are best here: curves, their knees, and the configuration to paste.",
    load: async () => (await import("./sweep.ts")).addSweep,
  },
  {
    name: "soak",
    description: "Formats side by side for minutes or hours: rates, latencies, heap and collections, and whether they drift.",
    load: async () => (await import("./soak.ts")).addSoak,
  },
  {
    name: "codec",
    description: "No broker needed: what each codec costs in memory to write and to read, and how large its bytes are.",
    load: async () => (await import("./codec.ts")).addCodec,
  },
  {
    name: "roundtrip",
    description: "Object, serialize, send, receive, deserialize: each codec over a real Kafka or Redis.",
    load: async () => (await import("./roundtrip.ts")).addRoundtrip,
  },
  {
    name: "http",
    description: "Request times of an API that answers and takes JSON or Avro, with and without compression.",
    load: async () => (await import("./http.ts")).addHttp,
  },
  {
    name: "ui",
    description: "A page on this machine: pick a scenario, watch it live, record, compare, keep; and look into topics.",
    looksAtOthers: true,
    load: async () => (await import("./ui.ts")).addUi,
  },
  {
    name: "compare",
    description: "Formats and readers side by side on the same records: rates, and how much faster one is than the other.",
    load: async () => (await import("./compare.ts")).addCompare,
  },
  {
    name: "produce",
    description: "Write the same rows to a topic in every format, at a set rate, and say how late they were.",
    load: async () => (await import("./produce.ts")).addProduce,
  },
  {
    name: "report",
    description: "One self-contained HTML file (or Markdown, or CSV) from any results.",
    load: async () => (await import("./report.ts")).addReport,
  },
  {
    name: "snapshot",
    description: "Debezium's snapshot of a table in every format: sizes, rates, latencies, and which format wins what.",
    load: async () => (await import("./snapshot.ts")).addSnapshot,
  },
  {
    name: "create-table",
    description: "Make the table of the published benchmark (sales order detail) in PostgreSQL or MariaDB.",
    load: async () => (await import("./create-table.ts")).addCreateTable,
  },
];
