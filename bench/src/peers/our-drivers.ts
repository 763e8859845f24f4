import type { KafkaDriver } from "@cdckit/consumer";

/** A driver of ours that is measured. */
export interface OurDriver {
  readonly name: string;
  /** Rejects if its client is not installed. */
  readonly load: (brokers: string) => Promise<KafkaDriver>;
  /** Whether it runs in worker threads. */
  readonly inWorkers: boolean;
}

/** All of them: a driver more is a line more. Those that begin with "kafkajs" are what the figures against kafkajs by hand are about. */
export const ourDrivers: readonly OurDriver[] = [
  { name: "kafkajs", load: async (brokers) => (await import("@cdckit/kafkajs")).kafkajs({ brokers: [brokers] }), inWorkers: true },
  {
    name: "kafkajs, records",
    load: async (brokers) => (await import("@cdckit/kafkajs")).kafkajs({ brokers: [brokers], fetch: "records" }),
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
