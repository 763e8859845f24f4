import { platformatic } from "@cdckit/platformatic";
import { describeDriverContract } from "./driver-contract.ts";
import { platformaticClients } from "./platformatic-clients.ts";

await describeDriverContract(
  platformaticClients.flatMap(({ major, ...client }) =>
    (["classic", "consumer"] as const).map((groupProtocol) => ({
      name: `platformatic ${major}, ${groupProtocol} groups`,
      driver: (brokers, tuning) => platformatic({ brokers: [brokers], ...tuning, groupProtocol, ...client }),
    })),
  ),
);
