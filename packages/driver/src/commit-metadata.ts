import type { PartitionAssignment } from "@cdckit/consumer";
import { type Landmark, landmarkOfCommit } from "./landmarks.ts";

/**
 * The forms of the metadata that drivers write with a commit. Kafka keeps up to 4,096 bytes, and shows them with the group's offsets. Confluent's
 * client writes a zero after them, and cuts the last character off what others have written: so that is a semicolon, which says nothing.
 */
const topicText = /^cdckit\/1 topic=([A-Za-z0-9_-]{22});?\0?$/;
const landmarkText = /^cdckit\/1 after=(\d{1,19}):(-?\d{1,19}):(-?\d{1,10});?\0?$/;

/** What a commit's metadata says about the topic of its offset. */
export interface CommitOrigin {
  /** The id of the topic in which the offset was reached; null if the metadata does not have it. */
  readonly topicId: string | null;
  /** A record before the offset, if no topic id is known. */
  readonly landmark: Landmark | null;
}

/** A commit's metadata: the id of the topic, or a record before the offset if the id is not known. Null, without both. */
export function commitMetadata(assignment: PartitionAssignment, offset: bigint): string | null {
  const { topicId = null } = assignment;
  if (topicId !== null) {
    return `cdckit/1 topic=${topicId};`;
  }
  const landmark = landmarkOfCommit(assignment, offset);
  return landmark === null ? null : `cdckit/1 after=${landmark.offset}:${landmark.timestamp}:${landmark.leaderEpoch};`;
}

/** Reads a commit's metadata. Metadata of other tools says nothing. */
export function originOf(metadata: string | null | undefined): CommitOrigin {
  const text = metadata ?? "";
  const [, offset, timestamp, leaderEpoch] = landmarkText.exec(text) ?? [];
  return {
    topicId: topicText.exec(text)?.[1] ?? null,
    landmark:
      offset === undefined || timestamp === undefined ? null : { offset: BigInt(offset), timestamp, leaderEpoch: Number(leaderEpoch) },
  };
}
