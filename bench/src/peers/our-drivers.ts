import type { KafkaDriver } from "@cdckit/consumer";

/** A driver of ours that is measured. */
export interface OurDriver {
  readonly name: string;
  /** Rejects if its client is not installed. */
  readonly load: (brokers: string) => Promise<KafkaDriver>;
  /** Whether it runs in worker threads. */
  readonly inWorkers: boolean;
}

/** All of them: a driver more is a line more. */
export const ourDrivers: readonly OurDriver[] = [
  { name: "kafkajs", load: async (brokers) => (await import("@cdckit/kafkajs")).kafkajs({ brokers: [brokers] }), inWorkers: true },
  {
    name: "kafkajs, own client",
    load: async (brokers) => {
      const [{ kafkajs }, { Kafka, logLevel }] = await Promise.all([import("@cdckit/kafkajs"), import("kafkajs")]);
      return kafkajs({ kafka: new Kafka({ brokers: [brokers], logLevel: logLevel.NOTHING }) });
    },
    inWorkers: true,
  },
  {
    name: "platformatic",
    load: async (brokers) => (await import("@cdckit/platformatic")).platformatic({ brokers: [brokers] }),
    inWorkers: true,
  },
  { name: "confluent", load: async (brokers) => (await import("@cdckit/confluent")).confluent({ brokers: [brokers] }), inWorkers: false },
];

export function ourDriver(name: string): OurDriver {
  const found = ourDrivers.find((driver) => driver.name === name);
  if (found === undefined) {
    throw new TypeError(`there is no driver called ${name}; there are ${ourDrivers.map((driver) => driver.name).join(", ")}`);
  }
  return found;
}

const sidePrefix = "cdckit, ";

/** The name of the side that reads with a driver of ours. */
export function sideOf(driver: string): string {
  return `${sidePrefix}${driver}`;
}

/** The name of our driver with which a side reads; null for a peer. */
export function driverOf(side: string): string | null {
  return side.startsWith(sidePrefix) ? side.slice(sidePrefix.length) : null;
}
