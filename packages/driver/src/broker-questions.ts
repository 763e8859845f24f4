import type { TopicCreation } from "@cdckit/consumer";
import type { Landmark } from "./landmarks.ts";
import type { LogEnds, Position } from "./lost-range.ts";
import type { Place } from "./place.ts";

/** The ids of topics by their names; null for a topic that does not exist. Topics of brokers without topic ids are left out. */
export type TopicIdsByName = ReadonlyMap<string, string | null>;

/** Called with each failure after which a question is asked again. */
export type Tried = (failure: unknown) => void;

/**
 * What a driver asks the brokers through its client, on a connection that fetches do not use. Keys of the maps are made by `placeOf`. A question
 * that no broker answers rejects within a bounded time.
 */
export interface BrokerQuestions {
  /** The names of all topics that the client's user may see. */
  topics(): Promise<readonly string[]>;
  /**
   * Which of these topics brokers keep from the user. They are left out of `topics`, and may exist or not. Absent if the client cannot tell.
   */
  hidden?(topics: readonly string[]): Promise<readonly string[]>;
  /** Does nothing if the topic exists by now. What is left out gets the brokers' own default. */
  createTopic(topic: string, creation: TopicCreation): Promise<void>;
  /** Every partition of these topics, as far as they exist. */
  partitionsOf(topics: readonly string[]): Promise<readonly Place[]>;
  /** The ids of these topics, as far as the brokers have ids (Kafka 2.8 and newer); null for a topic that does not exist. */
  topicIds(topics: readonly string[]): Promise<TopicIdsByName>;
  /** The group's commits in these partitions, and perhaps in others of their topics. Partitions without a commit are left out. */
  committed(places: readonly Place[], tried?: Tried): Promise<ReadonlyMap<string, Position>>;
  /** The starts and ends of the logs of these topics. A partition is left out if one of them is not known: it is asked for again. */
  ends(topics: readonly string[], tried?: Tried): Promise<ReadonlyMap<string, LogEnds>>;
  /**
   * The offset of the first record of this time or later. Null, or the end of the log, if there is none. A partition is left out if that is not
   * known: it is asked for again.
   */
  offsetsAt(topics: readonly string[], timestamp: bigint, tried?: Tried): Promise<ReadonlyMap<string, bigint | null>>;
  /** The partitions in which a client of this kind, used without this driver, has replaced the group's commit. Absent if it never does. */
  resets?(topics: readonly string[], tried?: Tried): Promise<ReadonlySet<string>>;
  /** Whether another record stands at the landmark's offset; false if that cannot be known. Absent if the client cannot look. */
  isReplaced?(topic: string, partition: number, landmark: Landmark): Promise<boolean>;
}
