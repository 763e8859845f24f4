import { kafkajs } from "@cdckit/kafkajs";
import { Kafka, logLevel } from "kafkajs";
import { describeDriverContract } from "./driver-contract.ts";

/** As the driver's own clients have it. */
const retry = { initialRetryTime: 300, maxRetryTime: 1_000, retries: 10 };

await describeDriverContract([
  { name: "kafkajs", driver: (brokers, tuning) => kafkajs({ brokers, ...tuning }) },
  { name: "kafkajs, with an object for each record", driver: (brokers, tuning) => kafkajs({ brokers, fetch: "records", ...tuning }) },
  {
    name: "kafkajs with a client of the application's own, whose sockets are not the driver's",
    driver: (brokers, tuning) => kafkajs({ kafka: new Kafka({ brokers, logLevel: logLevel.NOTHING, retry }), ...tuning }),
  },
]);
