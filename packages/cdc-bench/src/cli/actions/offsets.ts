import { BenchError } from "../../bench-error.ts";
import { exitCodes, type ExitCode } from "../../exit-codes.ts";
import { type Cluster, openCluster } from "../../load/cluster.ts";
import { type GroupPosition, type PlannedPosition, planOffsets } from "../../offsets/offset-plan.ts";
import { refuseMissingPartitions } from "../../offsets/missing-partitions.ts";
import { type OffsetTarget } from "../../offsets/offset-target.ts";
import { toJsonText } from "../../report/json-text.ts";
import { endText, offsetsJson, type OffsetsReport, offsetsText } from "../../offsets/offsets-report.ts";
import { openResultSink } from "../../report/result-sink.ts";
import type { Terminal } from "../../terminal.ts";
import { requireCluster } from "../resolve-source.ts";
import type { OffsetsFlags } from "../offsets.ts";

export async function offsets(flags: OffsetsFlags, terminal: Terminal): Promise<ExitCode> {
  const { connection } = requireCluster(flags, terminal.env);
  if (flags.execute === true && flags.reset === undefined) {
    throw new BenchError("usage", "--execute commits what --reset plans: give --reset, too.");
  }
  const sink = await openResultSink(terminal, flags.output);
  const cluster = await openCluster(connection, terminal);
  try {
    const report = await reportOf(cluster, flags, terminal);
    const text = flags.json === true ? `${toJsonText(offsetsJson(report))}\n` : offsetsText(report);
    await sink.write(text, report.reset?.executed === true ? endText(report.reset).trimEnd() : undefined);
    return exitCodes.ok;
  } finally {
    await cluster.close();
    await sink.close();
  }
}

async function reportOf(cluster: Cluster, flags: OffsetsFlags, terminal: Terminal): Promise<OffsetsReport> {
  const { group: groupId, reset } = flags;
  const { positions, heldBack } = await positionsOf(cluster, flags);
  const members = await cluster.membersOf(groupId);
  if (reset === undefined) {
    return { groupId, members, positions, heldBack, reset: null };
  }
  const planned = await plan(cluster, positions, reset);
  const executed = flags.execute === true;
  if (executed) {
    if (members !== null && members.length > 0) {
      throw activeGroup(groupId, ` (${members.map(({ clientId }) => clientId).join(", ")})`);
    }
    await commit(cluster, groupId, planned, terminal);
  }
  return { groupId, members, positions, heldBack, reset: { planned, executed } };
}

async function positionsOf(
  cluster: Cluster,
  { group, topics, partition: chosen }: OffsetsFlags,
): Promise<Pick<OffsetsReport, "positions" | "heldBack">> {
  const names = topics ?? (await cluster.committedTopicsOf(group));
  if (names.length === 0) {
    throw new BenchError(
      "too-few-messages",
      `group ${group} has committed nothing. Check its name, or name --topics to start it somewhere.`,
    );
  }
  // Asked before the ends: what a group that is active commits after them would lie beyond them.
  const existing = new Set(await cluster.topicNames());
  const commits = new Map<string, ReadonlyMap<number, bigint>>();
  for (const topic of names.filter((name) => existing.has(name))) {
    commits.set(topic, await cluster.committedOf(group, topic));
  }
  const extents = (await cluster.extentsOf(names)).map((extent) => {
    refuseMissingPartitions(extent.topic, extent.partitions, chosen ?? []);
    return { ...extent, partitions: extent.partitions.filter(({ partition }) => chosen?.includes(partition) ?? true) };
  });
  const ends = await cluster.logEndsOf(names);
  const positions = extents.flatMap(({ topic, partitions }) =>
    partitions.map(({ partition, startOffset, endOffset: stableOffset }): GroupPosition => {
      const endOffset = ends.get(topic)?.get(partition) ?? stableOffset;
      return { topic, partition, startOffset, stableOffset, endOffset, committed: commits.get(topic)?.get(partition) ?? null };
    }),
  );
  return { positions, heldBack: await cluster.heldBackOf(extents) };
}

async function plan(cluster: Cluster, positions: readonly GroupPosition[], target: OffsetTarget): Promise<readonly PlannedPosition[]> {
  const byTopic = new Map<string, ReadonlyMap<number, bigint>>();
  if (target.kind === "time") {
    for (const topic of new Set(positions.map(({ topic: name }) => name))) {
      byTopic.set(topic, await cluster.offsetsAt(topic, target.timestampMs));
    }
  }
  return planOffsets(positions, target, ({ topic, partition, stableOffset }) => byTopic.get(topic)?.get(partition) ?? stableOffset);
}

/** Topics that need no change are left alone. */
async function commit(cluster: Cluster, groupId: string, planned: readonly PlannedPosition[], { stderr }: Terminal): Promise<void> {
  const changed = planned.filter(({ committed, next }) => committed !== next);
  const done: string[] = [];
  try {
    for (const topic of new Set(changed.map(({ topic: name }) => name))) {
      const next = changed.filter(({ topic: name }) => name === topic).map(({ partition, next: offset }) => [partition, offset] as const);
      if (!(await cluster.commitOffsets(groupId, topic, new Map(next)))) {
        throw activeGroup(groupId);
      }
      done.push(topic);
    }
  } catch (error) {
    stderr.write(done.length === 0 ? "" : `Committed before the error: the offsets of ${done.join(", ")}.\n`);
    throw error;
  }
}

/** `members`: who they are, if that is known. */
function activeGroup(groupId: string, members: string = ""): BenchError {
  return new BenchError(
    "usage",
    `group ${groupId} is active${members}: its members would go on where they are and commit that. Stop them first, or use consumer.seek().`,
  );
}
