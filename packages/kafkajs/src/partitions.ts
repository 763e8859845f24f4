import type { ICustomPartitioner, Message, PartitionMetadata } from "kafkajs";

/**
 * The partitions that a producer writes to. Each message gets its partition once, by kafkajs' own partitioner: kafkajs asks again when it sends again,
 * and a record without a key would then go elsewhere.
 */
export class Partitions {
  readonly #choose: ReturnType<ICustomPartitioner>;
  /** As kafkajs knew them when it last wrote to the topic. */
  readonly #known = new Map<string, PartitionMetadata[]>();

  constructor(create: ICustomPartitioner) {
    this.#choose = create();
  }

  /** What kafkajs asks for the partition of each message. */
  readonly partitioner: ICustomPartitioner = () => {
    return ({ topic, partitionMetadata, message }) => {
      this.#known.set(topic, partitionMetadata);
      return this.#choose({ topic, partitionMetadata, message: this.place(topic, message) });
    };
  };

  /** The same message, with its partition if kafkajs has written to the topic. */
  place(topic: string, message: Message): Message {
    const partitionMetadata = this.#known.get(topic);
    if (partitionMetadata !== undefined) {
      message.partition ??= this.#choose({ topic, partitionMetadata, message });
    }
    return message;
  }
}
