/** The driver that members read with: `CHAOS_DRIVER` names it, and kafkajs' is taken without it. */
import process from "node:process";

/** By name: the driver for a connection in kafkajs' names, and the names of the options for all drivers. */
const makers = {
  kafkajs: async () => {
    const { kafkajs } = await import("@cdckit/kafkajs");
    return (connection, tuning) => kafkajs({ ...connection, ...tuning });
  },
  "kafkajs-own-client": async () => {
    const { kafkajs } = await import("@cdckit/kafkajs");
    const { Kafka, logLevel } = await import("kafkajs");
    const retry = { retries: 10, initialRetryTime: 300, maxRetryTime: 1_000 }; // as the driver's own clients have it
    return (connection, tuning) => kafkajs({ kafka: new Kafka({ ...connection, logLevel: logLevel.NOTHING, retry }), ...tuning });
  },
  confluent: async () => {
    const { confluent } = await import("@cdckit/confluent");
    return ({ brokers, requestTimeout }, tuning) =>
      confluent({ brokers, ...(requestTimeout !== undefined && { properties: { "socket.timeout.ms": requestTimeout } }), ...tuning });
  },
  platformatic: async () => {
    const { platformatic } = await import("@cdckit/platformatic");
    return ({ brokers }, tuning) => platformatic({ brokers, ...tuning });
  },
  "platformatic-consumer": async () => {
    const { platformatic } = await import("@cdckit/platformatic");
    return ({ brokers }, tuning) => platformatic({ brokers, ...tuning, groupProtocol: "consumer" });
  },
};

export const driverNames = Object.keys(makers);

const name = process.env["CHAOS_DRIVER"] ?? "kafkajs";
if (!Object.hasOwn(makers, name)) {
  throw new Error(`expected CHAOS_DRIVER to be one of ${driverNames.join(", ")}, found ${JSON.stringify(name)}`);
}

if (name.startsWith("platformatic")) {
  // The driver loads its client when it connects. That takes more than a second of processor time, ten seconds where many processes begin at once, and
  // nobody can end it: a member that is told to stop meanwhile has stopped, and ends late.
  await import("@platformatic/kafka");
}
export const chosenDriverName = name;
export const chosenDriver = await makers[name]();
