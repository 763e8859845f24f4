import type { Kafka } from "kafkajs";
import { BenchError } from "../bench-error.ts";
import type { ClusterConnection } from "./connection.ts";
import { explainRefusal } from "./explain-refusal.ts";
import { createKafkaClient } from "./kafka-client.ts";
import { untilAnswered } from "./passing-answers.ts";
import { untilLed } from "./until-led.ts";

export interface NewTopic {
  readonly topic: string;
  readonly partitions: number;
  /** As the brokers say if left out. */
  readonly replicationFactor?: number;
  /** Settings of the topic, such as `compression.type`. */
  readonly config?: Readonly<Record<string, string>>;
}

/** The topics of these that do not exist. */
export async function missingTopicsOf(connection: ClusterConnection, topics: readonly string[]): Promise<readonly string[]> {
  return withAdmin(connection, async (admin) => {
    const existing = new Set(await untilAnswered(() => admin.listTopics()));
    return topics.filter((topic) => !existing.has(topic));
  });
}

/** Creates topics, and waits until every partition is led. A topic that exists is an error. */
export async function createTopics(connection: ClusterConnection, topics: readonly NewTopic[]): Promise<void> {
  if (topics.length === 0) {
    return;
  }
  await withAdmin(connection, async (admin, kafka) => {
    const wanted = topics.map(({ topic, partitions, replicationFactor = -1, config = {} }) => ({
      topic,
      numPartitions: partitions,
      replicationFactor,
      configEntries: Object.entries(config).map(([name, value]) => ({ name, value })),
    }));
    // A busy broker may not know them yet: waited for below.
    await untilAnswered(() => admin.createTopics({ topics: wanted, waitForLeaders: false })).catch((error: unknown) =>
      refuseCreation(connection, error, topics),
    );
    await untilLed(kafka, topics).catch(async (error: unknown) => {
      throw error instanceof BenchError ? error : await explainRefusal(connection, error, rightsFor("Create, Describe and Write", topics));
    });
  });
}

/** kafkajs puts the reason for each topic into an error that says only that there are some. */
async function refuseCreation(connection: ClusterConnection, error: unknown, topics: readonly NewTopic[]): Promise<never> {
  const { errors: [first] = [] } = error as { readonly errors?: readonly (Error & { readonly type?: string; readonly topic?: string })[] };
  if (first === undefined) {
    throw error;
  }
  throw first.type?.endsWith("_AUTHORIZATION_FAILED") === true
    ? await explainRefusal(connection, first, rightsFor("Create", topics))
    : new BenchError("connection", `${first.topic ?? "a topic"} could not be created: ${first.message}`, { cause: first });
}

function rightsFor(rights: string, topics: readonly NewTopic[]): string {
  return `it needs ${rights} on the topics ${topics.map(({ topic }) => topic).join(", ")}`;
}

type KafkaAdmin = ReturnType<Kafka["admin"]>;

async function withAdmin<T>(connection: ClusterConnection, ask: (admin: KafkaAdmin, kafka: Kafka) => Promise<T>): Promise<T> {
  const kafka = createKafkaClient(connection, 1);
  const admin = kafka.admin();
  try {
    await admin.connect();
    return await ask(admin, kafka);
  } catch (error) {
    throw error instanceof BenchError ? error : await explainRefusal(connection, error);
  } finally {
    await admin.disconnect().catch(() => {});
  }
}
