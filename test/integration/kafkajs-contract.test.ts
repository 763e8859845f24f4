import { kafkajs } from "@cdckit/kafkajs";
import { describeDriverContract } from "./driver-contract.ts";

await describeDriverContract([
  {
    name: "kafkajs",
    driver: (brokers, tuning) => kafkajs({ brokers: [brokers], ...tuning }),
    skip: [
      {
        test: "a header without a value is sent as one",
        reason: "kafkajs takes the length of every header's value: it is written as an empty one",
      },
    ],
  },
]);
