import type { KafkaDriver } from "@cdckit/consumer";
import type { KafkaRecord } from "@cdckit/decode";
import { loadRecording, recording } from "@cdckit/testkit";
import { type ClusterWorld, openCluster, type PartitionExtent, type TopicExtent } from "./cluster.ts";
import { createClusterDriver } from "./connection.ts";
import { heldBackNotes } from "./held-back.ts";
import type { ClusterSource, FileSource, Source } from "./source.ts";

/** Topics that can be read, and how far they reach. */
export interface TopicSource {
  readonly extents: readonly TopicExtent[];
  /** What open transactions hold back behind the extents, as {@link heldBackNotes} has it. */
  readonly heldBack: ReadonlyMap<string, string>;
  createDriver(): KafkaDriver;
  /** Removes a group of our own that nobody is in any more. If it stays because the login may not delete groups: a sentence about it. */
  forgetGroup(groupId: string): Promise<string | null>;
  close(): Promise<void>;
}

/** Who is told what there is to know of topics before they are read, in sentences without their full stops. */
interface NoteTaker {
  note(text: string): void;
}

/** Looks at the topics of a source: a cluster's that were named, or all of a recording. Notes what open transactions hold back. */
export function openTopicSource(source: Source, notes: NoteTaker, world: ClusterWorld): Promise<TopicSource> {
  return source.kind === "cluster" ? openClusterTopics(source, notes, world) : openRecordedTopics(source);
}

async function openClusterTopics({ connection, topics }: ClusterSource, notes: NoteTaker, world: ClusterWorld): Promise<TopicSource> {
  const cluster = await openCluster(connection, world);
  try {
    const extents = await cluster.extentsOf(topics);
    const heldBack = await heldBackNotes(cluster, extents);
    heldBack.forEach((note) => notes.note(note));
    return {
      extents,
      heldBack,
      createDriver: () => createClusterDriver(connection),
      forgetGroup: (groupId) => cluster.forgetGroup(groupId),
      close: () => cluster.close(),
    };
  } catch (error) {
    await cluster.close();
    throw error;
  }
}

async function openRecordedTopics({ file }: FileSource): Promise<TopicSource> {
  const extents = extentsIn(await loadRecording(file));
  return {
    extents,
    heldBack: new Map(),
    createDriver: () => recording({ file }),
    forgetGroup: async () => null,
    close: async () => {},
  };
}

function extentsIn(records: readonly KafkaRecord[]): readonly TopicExtent[] {
  const topics = new Map<string, Map<number, { startOffset: bigint; endOffset: bigint }>>();
  for (const { topic, partition, offset } of records) {
    const partitions = topics.get(topic) ?? new Map<number, { startOffset: bigint; endOffset: bigint }>();
    topics.set(topic, partitions);
    const extent = partitions.get(partition) ?? { startOffset: offset, endOffset: offset };
    partitions.set(partition, { ...extent, endOffset: offset + 1n });
  }
  return [...topics].map(([topic, partitions]) => ({
    topic,
    partitions: [...partitions].map(([partition, extent]): PartitionExtent => ({ partition, ...extent })),
    maxRecords: BigInt(records.filter((record) => record.topic === topic).length),
  }));
}
