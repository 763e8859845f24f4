/** Bugs that the consumer has had, put around the driver or the client of a member by its name. The chaos must find each. */
import { Kafka, logLevel } from "kafkajs";
import { chosenDriver, chosenDriverName } from "./chosen-driver.mjs";

/** The driver that a member reads with, with the bug of that name or none. */
export function driverWith(bug, connection, tuning) {
  if (bug !== undefined && !Object.hasOwn(plantedBugs, bug)) {
    throw new Error(`there is no bug of the name ${JSON.stringify(bug)}`);
  }
  if (bug !== undefined && chosenDriverName !== "kafkajs") {
    throw new Error("bugs are planted into the driver of kafkajs only");
  }
  const { clientOf = (config) => config, driverOf = (driver) => driver } = plantedBugs[bug] ?? {};
  return driverOf(chosenDriver(clientOf(connection), tuning));
}

/** A driver with something in the line to the consumer. */
function inLine(driver, tampered) {
  return {
    name: driver.name,
    capabilities: driver.capabilities,
    connect: (subscription, sink) => {
      const plain = {
        assigned: (assignments) => sink.assigned(assignments),
        revoked: (assignments, how) => sink.revoked(assignments, how),
        batch: (batch) => sink.batch(batch),
        skipped: (assignment, lost, resumeOffset) => sink.skipped(assignment, lost, resumeOffset),
        waiting: (wait) => sink.waiting(wait),
        reconnected: (why) => sink.reconnected(why),
        acknowledged: (validForMs) => sink.acknowledged(validForMs),
        failed: (error) => sink.failed(error),
      };
      return driver.connect(subscription, { ...plain, ...tampered(plain) });
    },
  };
}

/** A client of the application's, which the driver leaves as it is. */
function ownClient(config) {
  return new Kafka({ ...config, logLevel: logLevel.NOTHING, retry: { retries: 10, initialRetryTime: 300, maxRetryTime: 1_000 } });
}

/** Without what only the driver asks of kafkajs: by it, topics have no ids. */
function withoutTopicIds(config) {
  const kafka = ownClient(config);
  return {
    consumer: (options) => kafka.consumer(options),
    producer: (options) => kafka.producer(options),
    admin: (options) => kafka.admin(options),
    logger: () => kafka.logger(),
  };
}

/** After each transaction, a plain commit of the record that it ended with. */
function committingBehind(config) {
  const kafka = ownClient(config);
  let consumer = null;
  const behind = ({ topics }) =>
    topics.flatMap(({ topic, partitions }) =>
      partitions.map(({ partition, offset }) => ({ topic, partition, offset: String(BigInt(offset) - 1n) })),
    );
  const committing = (transaction) => {
    let offsets = [];
    return {
      sendBatch: (batch) => transaction.sendBatch(batch),
      abort: () => transaction.abort(),
      isActive: () => transaction.isActive(),
      sendOffsets: (sent) => {
        offsets = behind(sent);
        return transaction.sendOffsets(sent);
      },
      commit: async () => {
        await transaction.commit();
        // Not at once: the driver looks for the transaction's own offsets.
        setTimeout(() => void consumer?.commitOffsets(offsets).catch(() => {}), 50);
      },
    };
  };
  return {
    consumer: (options) => {
      consumer = kafka.consumer(options);
      return consumer;
    },
    producer: (options) => {
      const producer = kafka.producer(options);
      return { ...producer, transaction: async () => committing(await producer.transaction()) };
    },
    admin: (options) => kafka.admin(options),
    logger: () => kafka.logger(),
  };
}

/** By name: a client of the driver in place of its connection, or a driver in place of the driver. */
const plantedBugs = {
  "holds every partition while one is at work": {
    driverOf: (driver) =>
      inLine(driver, (sink) => {
        let before = Promise.resolve();
        return {
          batch: (batch) => {
            before = before.then(() => sink.batch(batch));
            return before;
          },
        };
      }),
  },
  "keeps connections that do not answer": { clientOf: (config) => ({ kafka: ownClient(config) }) },
  "ignores its lease": { driverOf: (driver) => inLine(driver, () => ({ acknowledged: () => {} })) },
  "takes a recreated topic for the one before": { clientOf: (config) => ({ kafka: withoutTopicIds(config) }) },
  "commits behind a transaction what was handled before it": { clientOf: (config) => ({ kafka: committingBehind(config) }) },
};
