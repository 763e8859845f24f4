import type { Logger } from "@cdckit/consumer";
import type { SchemaSource } from "@cdckit/decode";
import { inGroup } from "../../leftovers/in-group.ts";
import type { Leftovers } from "../../leftovers/leftovers.ts";
import type { TopicExtent } from "../../load/cluster.ts";
import { type ClusterConnection, createClusterDriver, fetchLimitsOf } from "../../load/connection.ts";
import { decompressedMs } from "../../load/decompression-time.ts";
import type { TopicSource } from "../../load/topic-source.ts";
import { readingEndOf, requireWhole } from "../../load/whole-reading.ts";
import type { FormatKey } from "../../measure/decode-meter.ts";
import type { Peer } from "../../measure/peer.ts";
import { ReadingLoad } from "../../measure/process-load.ts";
import { measureReading, type ReadingMeasure } from "../../measure/reading.ts";
import type { Contestant, PlayedRound } from "./contestant.ts";
import { peerFor, shortName } from "./peers-of.ts";
import { readRaw } from "./raw-reading.ts";

/** A topic that sends nothing for so long has nothing left: its last offsets may be transaction markers. */
const maxIdleMs = 10_000;
/** So many records are looked at to know a topic's format, and to have its schemas at hand. */
const recordsToDetect = 2_000;

export interface ClusterContest {
  readonly connection: ClusterConnection;
  readonly source: TopicSource;
  readonly schemas: SchemaSource | undefined;
  readonly leftovers: Leftovers;
  readonly withPeers: boolean;
  readonly interrupt: AbortSignal;
  readonly logger: Logger | undefined;
}

/** For each topic: cdckit, what people use today, and kafkajs without any decoding. */
export async function clusterContestants(contest: ClusterContest): Promise<readonly Contestant[]> {
  const all: Contestant[] = [];
  for (const extent of contest.source.extents) {
    const detected = await readOurs(contest, extent, { maxRecords: recordsToDetect });
    all.push({
      topic: extent.topic,
      reader: "cdckit",
      kind: "cdckit",
      play: () => playOurs(contest, extent),
    });
    if (contest.withPeers) {
      const peer = peerFor(formatsOf(detected), contest.schemas);
      all.push(...(peer === undefined ? [] : [rawContestant(contest, extent, peer)]), rawContestant(contest, extent, null));
    }
  }
  return all;
}

function formatsOf({ formats }: ReadingMeasure): readonly FormatKey[] {
  return formats.map(({ format }) => format);
}

function rawContestant(contest: ClusterContest, extent: TopicExtent, peer: Peer | null): Contestant {
  return {
    topic: extent.topic,
    reader: peer === null ? "kafkajs, no decode" : `kafkajs + ${shortName(peer)}`,
    kind: peer === null ? "no-decode" : "peer",
    play: () =>
      inGroup(contest, (groupId) =>
        readRaw({
          connection: contest.connection,
          topic: extent.topic,
          endOffsets: readingEndOf(extent).endOffsets,
          groupId,
          peer,
          interrupt: contest.interrupt,
        }),
      ),
  };
}

interface ReadOptions {
  readonly maxRecords?: number;
  readonly load?: ReadingLoad;
}

function readOurs(contest: ClusterContest, extent: TopicExtent, { maxRecords, load }: ReadOptions): Promise<ReadingMeasure> {
  const { connection, schemas, interrupt, logger } = contest;
  return inGroup(contest, (groupId) =>
    measureReading({
      groupId,
      driver: createClusterDriver({ ...connection, fetchBytes: fetchLimitsOf(connection).maxBytesPerPartition }),
      schemas,
      topics: [extent.topic],
      from: "earliest",
      end: { ...readingEndOf(extent), ...(maxRecords !== undefined && { maxRecords }) },
      maxDurationMs: undefined,
      maxIdleMs,
      measureLatency: false,
      decompressedMs,
      interrupt,
      ...(logger && { logger }),
      ...(load && { load }),
      onProgress: () => {},
    }),
  );
}

async function playOurs(contest: ClusterContest, extent: TopicExtent): Promise<PlayedRound | null> {
  const load = new ReadingLoad();
  const reading = await readOurs(contest, extent, { load });
  requireWhole([extent.topic], reading); // a part of a topic would count as a faster round
  const { records, bytes, errorRecords, outcome } = reading;
  const elapsedMs = reading.elapsedMs - reading.firstBatchMs;
  return outcome === "interrupted" ? null : { records, bytes, elapsedMs, errorRecords, load: load.end(), reading };
}
