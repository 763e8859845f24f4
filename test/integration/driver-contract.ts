import type { Compression, KafkaDriver } from "@cdckit/consumer";
import { type MemberOptions, testDriverContract } from "@cdckit/testkit";
import { Kafka, logLevel } from "kafkajs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { contractBroker } from "./contract-broker.ts";
import { fetchOnce } from "./fetch-once.ts";
import { describeWithKafka } from "./stack.ts";

/** A driver that is held to the contract. */
export interface ContractedDriver {
  readonly name: string;
  readonly driver: (brokers: string[], tuning: typeof contractTuning & MemberOptions) => KafkaDriver;
}

/** Options that all drivers have, by the names that Kafka gives them. */
const contractTuning = Object.freeze({ heartbeatIntervalMs: 100, sessionTimeoutMs: 6_000, maxWaitMs: 100, metadataMaxAgeMs: 500 });

/** As a batch's attributes name them: https://kafka.apache.org/documentation/#recordbatch */
const codecs: readonly string[] = ["none", "gzip", "snappy", "lz4", "zstd"];

/** `CDCKIT_COMPRESSIONS`: the compressions in which topics have their records, with the whole contract for each. As the producer sent them without it. */
const compressions = (process.env["CDCKIT_COMPRESSIONS"]?.split(",") ?? [undefined]) as readonly (Compression | undefined)[];

/** Holds drivers to the whole contract on a real broker. `describeOnBroker`: says why not if their client is missing. */
export async function describeDriverContract(
  drivers: readonly ContractedDriver[],
  describeOnBroker: typeof describeWithKafka = describeWithKafka,
): Promise<void> {
  for (const compression of compressions) {
    await describeOnBroker(compression === undefined ? "on a real broker" : `on a real broker, ${compression}`, (kafka) => {
      const broker = contractBroker(kafka, compression);
      beforeAll(broker.connect);
      afterAll(broker.disconnect);

      test("the log has records in the compression that a topic was made for", async () => {
        const client = new Kafka({ brokers: kafka.brokers.split(","), logLevel: logLevel.NOTHING });
        const admin = client.admin();
        await admin.connect();
        for (const codec of compression === undefined ? codecs : [compression]) {
          const topic = broker.harness.uniqueName("compressed");
          await broker.harness.createTopic(topic, 1, compression === undefined ? (codec as Compression) : undefined);
          await broker.harness.produce(topic, [{ partition: 0, value: "compressed ".repeat(100) }]);
          const [partition] = (await admin.fetchTopicMetadata({ topics: [topic] })).topics[0]?.partitions ?? [];
          const leader = (await admin.describeCluster()).brokers.find(({ nodeId }) => nodeId === partition?.leader);
          const { bytes } = await fetchOnce(`${leader?.host}:${leader?.port}`, topic, 0n, 10_000);
          expect([codec, codecs[bytes.readInt16BE(21) & 7]]).toEqual([codec, codec]);
        }
        await admin.disconnect();
      });

      // Each trial has topics and groups of its own, and waits for most of its time.
      const besideOthers = Object.assign((name: string, run: () => Promise<void>) => test(name, { concurrent: true }, run), {
        skip: test.skip,
      });
      for (const { name, driver } of drivers) {
        const harness = {
          driver: (member: MemberOptions = {}) => driver(kafka.brokers.split(","), { ...contractTuning, ...member }),
          sessionTimeoutMs: contractTuning.sessionTimeoutMs,
          ...broker.harness,
        };
        testDriverContract(name, { describe, test: besideOthers, expect }, { harness });
      }
    });
  }
}
