import { setTimeout as pass } from "node:timers/promises";
import { Kafka, logLevel } from "kafkajs";

/**
 * Creates topics of one partition if they do not exist yet, so that a consumer can be started before the first row is written.
 * @param {string} brokers
 * @param {readonly string[]} topics
 */
export function createTopics(brokers, topics) {
  return withAdmin(brokers, (admin) =>
    createLedTopics(
      admin,
      topics.map((topic) => ({ topic, numPartitions: 1 })),
    ),
  );
}

/**
 * Makes topics, and waits until they can be written to. A broker that has much to do does not know a topic yet that its controller has just
 * made, and kafkajs gives up on that.
 * @param {import("kafkajs").Admin} admin
 * @param {readonly import("kafkajs").ITopicConfig[]} topics
 * @returns {Promise<boolean>} as kafkajs' own `createTopics`
 */
export async function createLedTopics(admin, topics) {
  const created = await admin.createTopics({ topics: [...topics], waitForLeaders: true }).catch(falseIfLate);
  const names = topics.map(({ topic }) => topic);
  while (!(await admin.fetchTopicMetadata({ topics: names }).then(() => true, falseIfLate))) {
    await pass(100);
  }
  return created;
}

/**
 * @param {unknown} error
 * @returns {false}
 */
function falseIfLate(error) {
  const { type } = /** @type {{ type?: unknown }} */ (error);
  if (type !== "UNKNOWN_TOPIC_OR_PARTITION" && type !== "LEADER_NOT_AVAILABLE") throw error;
  return false;
}

/**
 * How many records each topic has got so far: the sum of its end offsets, null if there is no such topic.
 * @param {string} brokers
 * @param {readonly string[]} topics
 * @returns {Promise<(number | null)[]>}
 */
export function endOffsets(brokers, topics) {
  return withAdmin(brokers, async (admin) => {
    const present = new Set(await admin.listTopics());
    const counts = topics.map(async (topic) => {
      if (!present.has(topic)) return null;
      const partitions = await admin.fetchTopicOffsets(topic);
      return partitions.reduce((sum, { high }) => sum + Number(high), 0);
    });
    return Promise.all(counts);
  });
}

/**
 * Asks with a connection of its own.
 * @template T
 * @param {string} brokers
 * @param {(admin: import("kafkajs").Admin) => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withAdmin(brokers, work) {
  const admin = new Kafka({
    brokers: brokers.split(","),
    clientId: "cdckit-stack",
    logLevel: logLevel.NOTHING,
    retry: { retries: 3 },
  }).admin();
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
}
