import { createHash } from "node:crypto";
import type { Command } from "commander";
import { BenchError } from "../bench-error.ts";
import { exitCodes, type ExitCode } from "../exit-codes.ts";
import { type Cluster, openCluster } from "../load/cluster.ts";
import { type ClusterConnection, createClusterDriver } from "../load/connection.ts";
import { collectFilter, everything, type RedriveFilter } from "../redrive/redrive-filter.ts";
import { RedrivePlan } from "../redrive/redrive-plan.ts";
import { redriveJson, type RedriveReport, redriveText } from "../redrive/redrive-report.ts";
import { type DeadLetterPartition, redriveSessionMs, RedriveRun } from "../redrive/redrive-run.ts";
import { RedriveTally } from "../redrive/redrive-tally.ts";
import { toJsonText } from "../report/json-text.ts";
import { createProgress } from "../report/progress.ts";
import { formatCount } from "../report/quantities.ts";
import { openResultSink } from "../report/result-sink.ts";
import type { Terminal } from "../terminal.ts";
import { addLoginFlags } from "./login-options.ts";
import { parseCount } from "./option-values.ts";
import { addBrokersFlag, resolveCluster, type SourceFlags } from "./source-options.ts";
import { addTlsFlags } from "./tls-options.ts";

interface RedriveFlags extends Omit<SourceFlags, "topics"> {
  readonly topic: string;
  readonly to?: string;
  readonly filter?: RedriveFilter;
  readonly limit?: number;
  readonly maxRedrives: number;
  readonly group?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
  readonly output?: string;
}

export function addRedrive(program: Command, terminal: Terminal, settle: (code: ExitCode) => void): void {
  const command = program
    .command("redrive")
    .description("Write dead letters back to where they came from, as they were, in the order of each key.");
  addLoginFlags(addTlsFlags(addBrokersFlag(command)))
    .requiredOption("-t, --topic <name>", "the dead-letter topic")
    .option("--to <topic>", "write everything to this topic, and not to where it came from")
    .option("--filter <name=value>", "only these: topic=NAME, code=CODE, since=TIME, until=TIME; may be repeated", collectFilter)
    .option("-n, --limit <count>", "stop after so many are redriven; the next run goes on", parseCount)
    .option("--max-redrives <count>", "refuse a record that was redriven so often and came back", parseCount, 3)
    .option("--group <name>", "the group that keeps the progress; another one begins anew")
    .option("--dry-run", "say what would be written; write nothing and commit nothing")
    .option("--json", "the results as one JSON object")
    .option("-o, --output <file>", "write the results to a file in place of stdout")
    .action(async (flags: RedriveFlags) => settle(await redrive(flags, terminal)));
}

async function redrive(flags: RedriveFlags, terminal: Terminal): Promise<ExitCode> {
  const { connection } = resolveCluster(flags, terminal.env);
  if (connection === undefined) {
    throw new BenchError("usage", "no brokers: give --brokers HOST:PORT.");
  }
  const sink = await openResultSink(terminal, flags.output);
  try {
    const report = await redriveTopic(flags, connection, terminal);
    await sink.write(flags.json === true ? `${toJsonText(redriveJson(report))}\n` : redriveText(report));
    return endOf(report);
  } finally {
    await sink.close();
  }
}

async function redriveTopic(flags: RedriveFlags, connection: ClusterConnection, terminal: Terminal): Promise<RedriveReport> {
  const { topic: deadLetterTopic, to = null, maxRedrives, filter = everything, limit = Number.POSITIVE_INFINITY } = flags;
  const groupId = flags.group ?? groupOf(deadLetterTopic, to, filter);
  const cluster = await openCluster(connection);
  const tally = new RedriveTally();
  const progress = createProgress(terminal);
  try {
    const partitions = await partitionsOf(cluster, deadLetterTopic, groupId);
    const topics = new Set(await cluster.topicNames());
    if (to !== null && !topics.has(to)) {
      throw new BenchError("too-few-messages", `there is no topic ${to} to write to.`);
    }
    const isDryRun = flags.dryRun === true;
    const run = new RedriveRun({
      driver: createClusterDriver(connection, { sessionTimeoutMs: redriveSessionMs }),
      groupId,
      topic: deadLetterTopic,
      partitions,
      plan: new RedrivePlan({ filter, to, maxRedrives, deadLetterTopic, hasTopic: (name) => topics.has(name) }),
      tally,
      limit,
      isDryRun,
      fromStart: filter.codes.length > 0,
      interrupt: terminal.interrupt,
      decided: () => progress.update(() => `${formatCount(tally.redriven)} of ${formatCount(tally.records)} records redriven`),
    });
    await run.run();
    return { aborted: terminal.interrupt.aborted, dryRun: isDryRun, deadLetterTopic, groupId, to, tally };
  } finally {
    progress.end();
    await cluster.close();
  }
}

/** A topic without anything new is told apart from one without anything. */
async function partitionsOf(cluster: Cluster, topic: string, groupId: string): Promise<readonly DeadLetterPartition[]> {
  const [extent] = await cluster.extentsOf([topic]);
  const committed = await cluster.committedOf(groupId, topic);
  const partitions = (extent?.partitions ?? []).map((partition) => ({
    ...partition,
    committed: committed.get(partition.partition) ?? null,
  }));
  if (partitions.every(({ startOffset, endOffset }) => endOffset <= startOffset)) {
    throw new BenchError("too-few-messages", `${topic} has no records.`);
  }
  if (partitions.every(({ startOffset, endOffset, committed: done }) => endOffset <= startOffset || endOffset <= (done ?? 0n))) {
    throw new BenchError("too-few-messages", `group ${groupId} has been through all of ${topic}: --group NAME begins anew.`);
  }
  return partitions;
}

/** One progress for each selection: what another filter left is not taken for done. */
function groupOf(topic: string, to: string | null, filter: RedriveFilter): string {
  const isEntireTopic = to === null && JSON.stringify(filter) === JSON.stringify(everything);
  const selection = createHash("sha256")
    .update(JSON.stringify([to, filter]))
    .digest("hex")
    .slice(0, 8);
  return `cdc-bench-redrive-${topic}${isEntireTopic ? "" : `-${selection}`}`;
}

function endOf({ aborted, tally, deadLetterTopic, groupId }: RedriveReport): ExitCode {
  if (aborted) {
    return exitCodes.interrupted;
  }
  if (tally.refused > 0) {
    return exitCodes.decodeErrors;
  }
  if (tally.notDeadLetters > 0 && tally.notDeadLetters === tally.records) {
    throw new BenchError(
      "too-few-messages",
      `${deadLetterTopic} has no dead letters: none of ${formatCount(tally.records)} records has the headers of one.`,
    );
  }
  if (tally.records === 0) {
    throw new BenchError(
      "too-few-messages",
      `nothing came of ${deadLetterTopic}: is another redrive under way in group ${groupId}? Or is what is left no records, but gaps?`,
    );
  }
  if (tally.redriven === 0) {
    throw new BenchError("too-few-messages", "--filter selects none of the dead letters.");
  }
  return exitCodes.ok;
}
