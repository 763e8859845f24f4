/** What `npm run test:brokers` runs, and what GUARANTEES.md names of it: each release of Kafka, on one broker and on three, with each client. */
import { kafkaReleases } from "./stack/versions.mjs";

export const clusterSizes = Object.freeze(["1", "3"]);
export const contractedDrivers = Object.freeze(["kafkajs", "platformatic", "confluent"]);
export const compressions = Object.freeze(["none", "gzip", "snappy", "lz4", "zstd"]);

/** @typedef {{ readonly release: string, readonly size: string, readonly driver: string }} BrokerRun */

/** @type {readonly BrokerRun[]} */
export const brokerRuns = Object.freeze(
  Object.keys(kafkaReleases).flatMap((release) =>
    clusterSizes.flatMap((size) => contractedDrivers.map((driver) => ({ release, size, driver }))),
  ),
);

/** The run as a sentence of a report. @param {BrokerRun} run */
export function nameOf({ release, size, driver }) {
  return `the contract of ${driver} on Kafka ${release}, ${size === "1" ? "one broker" : "three brokers"}, topics in each compression`;
}
