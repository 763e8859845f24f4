import { kafkajs } from "@cdckit/kafkajs";
import { Kafka, logLevel } from "kafkajs";
import { describeDriverContract } from "./driver-contract.ts";

const skip = [
  {
    test: "a header without a value is sent as one",
    reason: "kafkajs takes the length of every header's value: it is written as an empty one",
  },
];

/** As the driver's own clients have it. */
const retry = { initialRetryTime: 300, maxRetryTime: 1_000, retries: 10 };

await describeDriverContract([
  { name: "kafkajs", driver: (brokers, tuning) => kafkajs({ brokers: [brokers], ...tuning }), skip },
  { name: "kafkajs, read from the wire", driver: (brokers, tuning) => kafkajs({ brokers: [brokers], fetch: "wire", ...tuning }), skip },
  {
    name: "kafkajs with a client of the application's own, whose sockets are not the driver's",
    driver: (brokers, tuning) => kafkajs({ kafka: new Kafka({ brokers: [brokers], logLevel: logLevel.NOTHING, retry }), ...tuning }),
    skip,
  },
]);
