import type { Compression } from "@cdckit/consumer";
import type { DriverHarness, PlacedRecord } from "@cdckit/testkit";
import { Admin } from "@platformatic/kafka";
import { Kafka, logLevel, type Message, type Producer } from "kafkajs";
import { EveryBroker } from "./every-broker.ts";
import { createTopics, type SharedKafka, uniqueName } from "./stack.ts";

/** What the contract of drivers needs of a broker besides the driver. */
export interface ContractBroker {
  readonly connect: () => Promise<void>;
  readonly disconnect: () => Promise<void>;
  readonly harness: Omit<DriverHarness, "driver" | "sessionTimeoutMs">;
}

/**
 * The broker of the integration tests, written to and asked by kafkajs and @platformatic/kafka, whichever driver is tried. `everyCompression`: what
 * topics are compressed with that a test makes without saying so.
 */
export function contractBroker(kafka: SharedKafka, everyCompression?: Compression): ContractBroker {
  const brokers = kafka.brokers.split(",");
  const client = new Kafka({ brokers, logLevel: logLevel.NOTHING });
  const admin = client.admin();
  const logs = new Admin({ clientId: "contract", bootstrapBrokers: brokers });
  const everyBroker = new EveryBroker(brokers);
  const makeProducer = (): Producer =>
    client.producer({
      // A request of which the broker refuses one partition is sent again as a whole: what it had taken of the others must not count twice.
      idempotent: true,
      maxInFlightRequests: 1,
      // It must see partitions that a test has just added.
      metadataMaxAge: 1,
      createPartitioner:
        () =>
        ({ message }) =>
          message.partition ?? 0,
    });
  let producer = makeProducer();
  /** Others may still write by them. */
  const earlierProducers: Producer[] = [];

  const openTransaction: DriverHarness["openTransaction"] = async (topic, records) => {
    const transactionalId = uniqueName("tx");
    const connected = async (): Promise<Producer> => {
      const one = client.producer({ transactionalId, maxInFlightRequests: 1, idempotent: true });
      await one.connect();
      return one;
    };
    const transactional = await connected();
    const transaction = await transactional.transaction();
    await transaction.send({ topic, messages: records.map(toMessage) });
    return async (end) => {
      await transaction[end]();
      // The broker answers the end of a transaction before its markers stand in the logs, and a new owner of the id after that.
      const next = await connected();
      await (await next.transaction()).abort();
      await Promise.all([transactional.disconnect(), next.disconnect()]);
    };
  };

  return {
    connect: async () => {
      await Promise.all([admin.connect(), producer.connect(), everyBroker.connect()]);
    },
    disconnect: async () => {
      const clients = [admin, producer, ...earlierProducers];
      await Promise.all([...clients.map((one) => one.disconnect()), logs.close(), everyBroker.close()]);
    },
    harness: {
      createTopic: async (topic, numPartitions, compression = everyCompression) => {
        const configEntries = compression === undefined ? [] : [{ name: "compression.type", value: kafkaName(compression) }];
        await createTopics(admin, [{ topic, numPartitions, configEntries }]);
        await everyBroker.untilKnown(topic, numPartitions);
      },
      produce: async (topic, records) => {
        const sent = await producer.send({ topic, messages: records.map(toMessage) });
        const partitions = new Set(records.map(({ partition }) => partition ?? 0));
        if (sent.length !== partitions.size) {
          throw new Error(`kafkajs has left records out: it knows ${sent.length} of the partitions ${[...partitions].join()}`);
        }
      },
      produceInTransaction: async (topic, records, how) => {
        const end = await openTransaction(topic, records);
        await end(how);
      },
      openTransaction,
      // As retention does. kafkajs' own request for it fails on this broker, and Kafka's tool takes seconds to start.
      deleteBefore: async (topic, partition, offset) => {
        await logs.deleteRecords({ topics: [{ name: topic, partitions: [{ partition, offset }] }] });
      },
      deleteTopic: async (topic) => {
        // kafkajs asks for all topics that a producer has written to, and writes to none of them while one of them is gone.
        const next = makeProducer();
        await next.connect();
        earlierProducers.push(producer);
        producer = next;
        await admin.deleteTopics({ topics: [topic] });
        await everyBroker.untilGone(topic);
      },
      addPartitions: async (topic, count) => {
        await admin.createPartitions({ topicPartitions: [{ topic, count }] });
        // The controller has answered, a broker may not know of them yet, and kafkajs leaves out what is sent to partitions it does not know.
        await everyBroker.untilKnown(topic, count);
      },
      // An answer that waits for what is being written: the coordinator's other answers may be those of a moment ago.
      committed: async (groupId, topic, partition) => {
        const groups = [{ groupId, topics: [{ name: topic, partitionIndexes: [partition] }] }];
        const [group] = await logs.listConsumerGroupOffsets({ groups, requireStable: true });
        const offset = group?.topics[0]?.partitions[0]?.committedOffset ?? -1n;
        return offset < 0n ? null : offset;
      },
      uniqueName,
    },
  };
}

/** As the topic's configuration `compression.type` has it. */
function kafkaName(compression: Compression): string {
  return compression === "none" ? "uncompressed" : compression;
}

function toMessage({ partition, key, value, headers = [], timestamp }: PlacedRecord): Message {
  return {
    partition,
    key: toBuffer(key ?? null),
    value: toBuffer(value),
    headers: Object.fromEntries(headers.map(([name, bytes]) => [name, bytes === null ? undefined : Buffer.from(bytes)])),
    ...(timestamp === undefined ? {} : { timestamp: String(timestamp) }),
  };
}

function toBuffer(value: Uint8Array | string | null): Buffer | null {
  return value === null ? null : Buffer.from(value);
}
