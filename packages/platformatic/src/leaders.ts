import type { Logger } from "@cdckit/consumer";
import { placeOf } from "@cdckit/driver";
import type { Cluster } from "./cluster.ts";
import { codes } from "./low-level-client.ts";
import type { MetadataAnswer, TopicMetadata } from "./requests.ts";
import { topicIdText } from "./topic-id-text.ts";

/** The leader of a partition. */
export interface Leader {
  /** -1 if the partition has none. */
  readonly node: number;
  readonly epoch: number;
  /** The id of the topic to which this belongs. */
  readonly topicId: string | null;
}

export interface LeadersParts {
  readonly cluster: Cluster;
  /** The topics that are read. */
  readonly topics: () => readonly string[];
  readonly logger: Logger;
  readonly maxAgeMs: number;
  /** Called when brokers have said who leads. `unknown`: the topics that they do not know. */
  readonly found: (unknown: readonly string[]) => void;
  /** Called when the leaders were asked for, whatever was answered. */
  readonly refreshed: () => void;
}

/** A failing cluster is asked no more often than this. */
const minGapMs = 100;

/** Who leads the partitions that are read. */
export class Leaders {
  readonly #parts: LeadersParts;
  #known: ReadonlyMap<string, Leader> = new Map();
  #refreshing: Promise<void> | undefined;
  #askedAtMs = -Infinity;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(parts: LeadersParts) {
    this.#parts = parts;
  }

  /** The leader of a partition; undefined if there is none, or if it is no broker of which an address is known. */
  of(topic: string, partition: number): Leader | undefined {
    const leader = this.#known.get(placeOf(topic, partition));
    return leader !== undefined && this.#parts.cluster.node(leader.node) !== undefined ? leader : undefined;
  }

  /** Looks from time to time: a leader may move although the old one still answers. */
  start(): void {
    this.#timer = setTimeout(() => void this.refresh().finally(() => this.#isStopped || this.start()), this.#parts.maxAgeMs);
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  /** Asks for the leaders again. Never rejects. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined;
      this.#parts.refreshed();
    });
    return this.#refreshing;
  }

  /** Whether a refresh now would come too soon after the last one. */
  get isFresh(): boolean {
    return performance.now() - this.#askedAtMs < minGapMs;
  }

  async #refresh(): Promise<void> {
    const { cluster, topics, logger, found } = this.#parts;
    this.#askedAtMs = performance.now();
    const asked = topics();
    try {
      const answer: Pick<MetadataAnswer, "topics"> = asked.length === 0 ? { topics: [] } : await cluster.metadata(asked);
      this.#known = new Map(answer.topics.flatMap((topic) => this.#leadersOf(topic)));
      found(answer.topics.flatMap(({ name, errorCode }) => (errorCode === codes.unknownTopicOrPartition ? (name ?? []) : [])));
    } catch (error) {
      if (!this.#isStopped) {
        logger.debug({ err: error }, "the leaders of partitions could not be asked for; they are asked for again");
      }
    }
  }

  /** A broker that is late still names a leader of before: the one of the later epoch stays. Without topic ids nobody knows whether both are of one topic. */
  #leadersOf({ name, topicId, partitions }: TopicMetadata): readonly (readonly [string, Leader])[] {
    const id = topicIdText(topicId);
    return partitions.map(({ partitionIndex, leaderId, leaderEpoch }) => {
      const place = placeOf(name ?? "", partitionIndex);
      const known = this.#known.get(place);
      const isLate = known !== undefined && id !== null && known.topicId === id && leaderEpoch < known.epoch;
      return [place, isLate ? known : { node: leaderId, epoch: leaderEpoch, topicId: id }];
    });
  }
}
