/** A partition of a topic. */
export interface Place {
  /** The name of the topic. */
  readonly topic: string;
  /** The number of the partition, from 0. */
  readonly partition: number;
}

/** The key of a partition in maps by partition. */
export function placeOf(topic: string, partition: number): string {
  return `${topic}\0${partition}`;
}

/** The partition that a key stands for. */
export function placeNamed(key: string): Place {
  const [topic = "", partition = ""] = key.split("\0");
  return { topic, partition: Number(partition) };
}

/** The topics of these partitions, each once. */
export function topicsOf(places: readonly Pick<Place, "topic">[]): readonly string[] {
  return [...new Set(places.map(({ topic }) => topic))];
}

/** The names of their topics, for messages. */
export function topicsText(places: readonly Pick<Place, "topic">[]): string {
  return topicsOf(places).join(", ") || "no topic";
}
