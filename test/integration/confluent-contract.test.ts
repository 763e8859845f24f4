import { confluent } from "@cdckit/confluent";
import { describeWithConfluent } from "./confluent-native.ts";
import { describeDriverContract } from "./driver-contract.ts";

await describeDriverContract(
  [
    {
      name: "confluent",
      driver: (brokers, tuning) => confluent({ brokers, ...tuning }),
    },
  ],
  describeWithConfluent,
);
