import { platformatic } from "@cdckit/platformatic";
import { describeDriverContract } from "./driver-contract.ts";
import { platformaticClients } from "./platformatic-clients.ts";

await describeDriverContract(
  platformaticClients.map(({ major, ...client }) => ({
    name: `platformatic ${major}`,
    driver: (brokers, tuning) => platformatic({ brokers: [brokers], ...tuning, ...client }),
  })),
);
