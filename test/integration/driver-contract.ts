import type { KafkaDriver } from "@cdckit/consumer";
import { testDriverContract } from "@cdckit/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { contractBroker } from "./contract-broker.ts";
import { describeWithKafka } from "./stack.ts";

/** A driver that is held to the contract. */
export interface ContractedDriver {
  readonly name: string;
  readonly driver: (brokers: string, tuning: typeof contractTuning) => KafkaDriver;
  /** What the client cannot do, and why. */
  readonly skip?: readonly { readonly test: string; readonly reason: string }[];
}

/** Options that all drivers have, by the names that Kafka gives them. */
const contractTuning = Object.freeze({ heartbeatIntervalMs: 100, sessionTimeoutMs: 6_000, maxWaitMs: 100, metadataMaxAgeMs: 500 });

/** Holds drivers to the whole contract on a real broker. `describeOnBroker`: says why not if their client is missing. */
export async function describeDriverContract(
  drivers: readonly ContractedDriver[],
  describeOnBroker: typeof describeWithKafka = describeWithKafka,
): Promise<void> {
  await describeOnBroker("on a real broker", (kafka) => {
    const broker = contractBroker(kafka);
    beforeAll(broker.connect);
    afterAll(broker.disconnect);

    // Each trial has topics and groups of its own, and waits for most of its time.
    const besideOthers = Object.assign((name: string, run: () => Promise<void>) => test(name, { concurrent: true }, run), {
      skip: test.skip,
    });
    for (const { name, driver, skip = [] } of drivers) {
      const harness = {
        driver: () => driver(kafka.brokers, contractTuning),
        sessionTimeoutMs: contractTuning.sessionTimeoutMs,
        ...broker.harness,
      };
      testDriverContract(name, { describe, test: besideOthers, expect }, { harness, skip });
    }
  });
}
