import type { Admin, Kafka } from "kafkajs";
import { type Leftovers, openLeftovers } from "../../leftovers/leftovers.ts";
import { createRemover, type RemoverAccess } from "../../leftovers/removers.ts";
import { brokersText } from "../../leftovers/removers/kafka.ts";
import type { Thing } from "../../leftovers/thing.ts";
import { extentOf, requireAnswer, type TopicExtent } from "../../load/cluster.ts";
import { committedOffsets } from "../../load/committed-offsets.ts";
import type { ClusterConnection } from "../../load/connection.ts";
import { explainRefusal } from "../../load/explain-refusal.ts";
import { createKafkaClient } from "../../load/kafka-client.ts";
import { untilAnswered } from "../../load/passing-answers.ts";
import { createTopics, type NewTopic } from "../../load/topics.ts";
import type { Terminal } from "../../terminal.ts";
import type { Places } from "./tap-driver.ts";

const requestTimeoutMs = 30_000;

/** A cluster in which a scenario makes topics and groups that are gone when it ends. */
export interface ClusterAccess {
  readonly connection: ClusterConnection;
  readonly kafka: Kafka;
  readonly leftovers: Leftovers;
  /** A name of this run: `cdc-bench-drain-7f3a01-out-2`. */
  name(suffix: string): string;
  makeTopic(topic: string, options: Omit<NewTopic, "topic">): Promise<void>;
  /** The name of a group that is deleted at the end. */
  makeGroup(suffix: string): Promise<string>;
  /** Where topics start and end now. */
  extentsOf(topics: readonly string[]): Promise<readonly TopicExtent[]>;
  /** As {@link endsIn} has it, now. */
  endsOf(topics: readonly string[]): Promise<Places>;
  /** Where a group stands. */
  committedOf(groupId: string, topic: string): Promise<ReadonlyMap<number, bigint>>;
  remove(thing: Pick<Thing, "kind" | "name">): Promise<void>;
  /** Deletes what was made. Says on stderr what could not be. Never rejects. */
  close(): Promise<void>;
}

/** Reaches the brokers, or fails with a sentence. Nothing is made, or noted as made, before they have answered. */
export async function openClusterAccess(
  command: string,
  connection: ClusterConnection,
  terminal: Terminal,
  access: Omit<RemoverAccess, "connection"> = {},
): Promise<ClusterAccess> {
  await requireAnswer(connection, terminal);
  const kafka = createKafkaClient(connection, 3, { requestTimeout: requestTimeoutMs });
  const admin = kafka.admin({ retry: { retries: 1, initialRetryTime: 100 } });
  try {
    await admin.connect();
  } catch (error) {
    throw await explainRefusal(connection, error);
  }
  const remover = createRemover({ connection, ...access });
  try {
    const leftovers = await openLeftovers({ command, terminal, remove: remover.remove });
    return clusterAccess(command, connection, kafka, admin, leftovers, () => remover.close());
  } catch (error) {
    await admin.disconnect();
    await remover.close();
    throw error;
  }
}

function clusterAccess(
  command: string,
  connection: ClusterConnection,
  kafka: Kafka,
  admin: Admin,
  leftovers: Leftovers,
  closeRemover: () => Promise<void>,
): ClusterAccess {
  const run = `${process.pid.toString(36)}${Date.now().toString(36).slice(-6)}`;
  const name = (suffix: string): string => `cdc-bench-${command}-${run}-${suffix}`;
  const at = brokersText(connection);
  const extentsOf = async (topics: readonly string[]): Promise<readonly TopicExtent[]> => {
    // An admin of its own: kafkajs goes on to ask for every topic that it was asked about, and fails when one of them is deleted.
    const asking = kafka.admin({ retry: { retries: 3, initialRetryTime: 100 } });
    await asking.connect();
    try {
      return await untilAnswered(() => Promise.all(topics.map((topic) => extentOf(asking, topic))));
    } finally {
      await asking.disconnect();
    }
  };
  return {
    connection,
    kafka,
    leftovers,
    name,
    async makeTopic(topic, options) {
      await leftovers.making({ kind: "topic", name: topic, at });
      await createTopics(connection, [{ topic, ...options }]);
    },
    async makeGroup(suffix) {
      const groupId = name(suffix);
      await leftovers.making({ kind: "consumer-group", name: groupId, at });
      return groupId;
    },
    extentsOf,
    endsOf: async (topics) => endsIn(await extentsOf(topics)),
    committedOf: (groupId, topic) => untilAnswered(() => committedOffsets(admin, groupId, topic)),
    remove: (thing) => leftovers.remove({ ...thing, at }),
    async close() {
      await leftovers.close();
      await closeRemover();
      await admin.disconnect().catch(() => {}); // what it was opened for is done
    },
  };
}

/** The offset after the last record of each partition that has any; with transactions, after their markers. */
export function endsIn(extents: readonly TopicExtent[]): Places {
  return new Map(
    extents.map(({ topic, partitions }) => {
      const filled = partitions.filter(({ startOffset, endOffset }) => endOffset > startOffset);
      return [topic, new Map(filled.map(({ partition, endOffset }) => [partition, endOffset]))];
    }),
  );
}
