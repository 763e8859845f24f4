import { BenchError } from "../../bench-error.ts";
import { exitCodes, type ExitCode } from "../../exit-codes.ts";
import { type Cluster, openCluster } from "../../load/cluster.ts";
import { type ClusterConnection, createClusterDriver } from "../../load/connection.ts";
import { connectingPhase } from "../../load/source.ts";
import { asksOfFailure, everything } from "../../redrive/redrive-filter.ts";
import { groupOf } from "../../redrive/redrive-group.ts";
import { RedrivePlan } from "../../redrive/redrive-plan.ts";
import { doneText, redriveJson, redrivePhase, type RedriveReport, redriveText } from "../../redrive/redrive-report.ts";
import { type DeadLetterPartition, offsetsLeftOf, redriveSessionMs, RedriveRun } from "../../redrive/redrive-run.ts";
import { RedriveTally } from "../../redrive/redrive-tally.ts";
import { toJsonText } from "../../report/json-text.ts";
import { createObserver } from "../../observe/observer.ts";
import { formatCount } from "../../report/quantities.ts";
import { openResultSink } from "../../report/result-sink.ts";
import type { Terminal } from "../../terminal.ts";
import { requireCluster } from "../resolve-source.ts";
import type { RedriveFlags } from "../redrive.ts";

export async function redrive(flags: RedriveFlags, terminal: Terminal): Promise<ExitCode> {
  const { connection } = requireCluster(flags, terminal.env);
  const sink = await openResultSink(terminal, flags.output);
  try {
    const report = await redriveTopic(flags, connection, terminal);
    const text = flags.json === true ? `${toJsonText(redriveJson(report))}\n` : redriveText(report);
    await sink.write(text, report.dryRun ? undefined : doneText(report));
    if (report.failure !== null) {
      throw report.failure;
    }
    return endOf(report);
  } finally {
    await sink.close();
  }
}

async function redriveTopic(flags: RedriveFlags, connection: ClusterConnection, terminal: Terminal): Promise<RedriveReport> {
  const { topic: deadLetterTopic, to = null, maxRedrives, filter = everything, limit = Number.POSITIVE_INFINITY } = flags;
  const groupId = flags.group ?? groupOf(deadLetterTopic, to, filter);
  const observer = createObserver(terminal);
  observer.observe(() => ({ phase: connectingPhase(connection) }));
  const tally = new RedriveTally();
  const cluster = await openCluster(connection, terminal).finally(() => observer.end());
  try {
    const partitions = await partitionsOf(cluster, deadLetterTopic, groupId);
    const topics = await cluster.partitionCounts();
    const requireSeen = (name: string): Promise<void> => cluster.requireSeen([name], "Describe and Write");
    if (to !== null && !topics.has(to)) {
      await requireSeen(to);
      throw new BenchError("too-few-messages", `there is no topic ${to} to write to.`);
    }
    const total = offsetsLeftOf(partitions);
    const isDryRun = flags.dryRun === true;
    const run = new RedriveRun({
      driver: createClusterDriver(connection, { sessionTimeoutMs: redriveSessionMs }),
      groupId,
      topic: deadLetterTopic,
      partitions,
      plan: new RedrivePlan({ filter, to, maxRedrives, deadLetterTopic, partitionsOf: (name) => topics.get(name) }),
      tally,
      limit,
      isDryRun,
      requireSeen,
      fromStart: asksOfFailure(filter),
      interrupt: terminal.interrupt,
      ...(terminal.logger && { logger: terminal.logger }),
      decided: () =>
        observer.observe(() => ({
          phase: redrivePhase({ deadLetterTopic, dryRun: isDryRun, tally }),
          done: tally.records,
          total,
          countsOffsets: true,
        })),
    });
    const failure = await run.run().then(
      () => null,
      (error: Error) => error,
    );
    if (failure !== null && tally.records === 0) {
      throw failure; // nothing was written that a report could tell of
    }
    return { aborted: terminal.interrupt.aborted, failure, dryRun: isDryRun, deadLetterTopic, groupId, to, tally };
  } finally {
    observer.end();
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
