/** What the driver writes beside a commit. Kafka keeps up to 4,096 bytes of it, and shows it to whoever asks for the group's offsets. */
const ownText = /^cdckit\/1 topic=([A-Za-z0-9_-]{22})$/;

/** A commit's metadata: the id of the topic that the offset is of. Null if that is not known, as kafkajs writes it. */
export function commitMetadata(topicId: string | null | undefined): string | null {
  return topicId === null || topicId === undefined ? null : `cdckit/1 topic=${topicId}`;
}

/** The topic id that a commit's metadata tells; null of what other tools have written, and of what is none of ours. */
export function topicIdOf(metadata: string | null | undefined): string | null {
  return (metadata === null || metadata === undefined ? null : ownText.exec(metadata)?.[1]) ?? null;
}
