import { kafkajs } from "@cdckit/kafkajs";
import { Kafka, logLevel } from "kafkajs";
import { describeDriverContract } from "./driver-contract.ts";

/** As the driver's own clients have it. */
const retry = { initialRetryTime: 300, maxRetryTime: 1_000, retries: 10 };

await describeDriverContract([
  { name: "kafkajs", driver: (brokers, tuning) => kafkajs({ brokers, ...tuning }) },
  {
    name: "kafkajs, own client",
    driver: (brokers, tuning) => kafkajs({ kafka: new Kafka({ brokers, logLevel: logLevel.NOTHING, retry }), ...tuning }),
  },
]);
