import type { ICustomPartitioner, Message, PartitionMetadata } from "kafkajs";
import { KafkaJsDriverError } from "./errors.ts";

/** Why kafkajs is stopped amid a write, which goes on another way. It logs this. */
export const leaderMoved = "a leader has moved: the partitions are written one by one";

/** What kafkajs knew of a topic. */
interface KnownTopic {
  readonly partitionMetadata: PartitionMetadata[];
  readonly leaders: ReadonlyMap<number, number>;
}

/** Messages of several partitions that are given to kafkajs at once, because one broker leads them all. */
export interface OneLeader {
  /** They have several leaders by now, and kafkajs has refused them. What its earlier attempts have sent, it has taken for not written. */
  readonly isSplit: boolean;
}

/**
 * The partitions that a producer writes to. Each message gets its partition once, by kafkajs' own partitioner: kafkajs asks again when it sends again,
 * and a record without a key would then go elsewhere.
 */
export class Partitions {
  readonly #choose: ReturnType<ICustomPartitioner>;
  /** As kafkajs knew them when it last wrote to the topic. */
  readonly #known = new Map<string, KnownTopic>();
  /** Each message that must not be written with those of another leader. */
  readonly #together = new WeakMap<Message, Together>();

  constructor(create: ICustomPartitioner) {
    this.#choose = create();
  }

  /** What kafkajs asks for the partition of each message, at each attempt. It looks for their leaders in the same metadata next, in the same turn. */
  readonly partitioner: ICustomPartitioner = () => {
    return ({ topic, partitionMetadata, message }) => {
      if (this.#known.get(topic)?.partitionMetadata !== partitionMetadata) {
        const leaders = new Map(partitionMetadata.map(({ partitionId, leader }) => [partitionId, leader]));
        this.#known.set(topic, { partitionMetadata, leaders });
      }
      const partition = this.#choose({ topic, partitionMetadata, message: this.place(topic, message) });
      this.#together.get(message)?.leadBy(this.leaderOf(topic, partition), message);
      return partition;
    };
  };

  /** The same message, with its partition if kafkajs has written to the topic. */
  place(topic: string, message: Message): Message {
    const known = this.#known.get(topic);
    if (known !== undefined) {
      message.partition ??= this.#choose({ topic, partitionMetadata: known.partitionMetadata, message });
    }
    return message;
  }

  /** The number of the broker that leads the partition, as far as kafkajs knows; undefined if it knows none. */
  leaderOf(topic: string, partition: number | undefined): number | undefined {
    return partition === undefined ? undefined : this.#known.get(topic)?.leaders.get(partition);
  }

  /** Has kafkajs refuse these messages, given to it at once in this order, in an attempt in which not all of them have the same leader. */
  ofOneLeader(messages: readonly Message[]): OneLeader {
    const together = new Together(messages[0]);
    messages.forEach((message) => this.#together.set(message, together));
    return together;
  }
}

class Together implements OneLeader {
  /** Each attempt begins with it. */
  readonly #first: Message | undefined;
  #leader: number | undefined;
  isSplit = false;

  constructor(first: Message | undefined) {
    this.#first = first;
  }

  leadBy(leader: number | undefined, message: Message): void {
    if (message === this.#first) {
      this.#leader = leader;
    } else if (leader !== this.#leader) {
      this.isSplit = true;
      throw new KafkaJsDriverError("send-failed", leaderMoved);
    }
  }
}
