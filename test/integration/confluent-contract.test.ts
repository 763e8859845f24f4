import { confluent } from "@cdckit/confluent";
import { describeWithConfluent } from "./confluent-native.ts";
import { describeDriverContract } from "./driver-contract.ts";

await describeDriverContract(
  [
    {
      name: "confluent",
      driver: (brokers, tuning) => confluent({ brokers: [brokers], ...tuning }),
      skip: [
        {
          test: "a header without a value is sent as one",
          reason: "the client gives a header without a value as an empty one",
        },
      ],
    },
  ],
  describeWithConfluent,
);
