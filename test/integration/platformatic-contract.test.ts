import { platformatic } from "@cdckit/platformatic";
import { describeDriverContract } from "./driver-contract.ts";
import { platformaticClients } from "./platformatic-clients.ts";

/** Brokers before Kafka 4.0 have the classic protocol alone. */
const protocols = process.env["CDCKIT_KAFKA"]?.startsWith("3.") === true ? (["classic"] as const) : (["classic", "consumer"] as const);

await describeDriverContract(
  platformaticClients.flatMap(({ major, ...client }) =>
    protocols.map((groupProtocol) => ({
      name: `platformatic ${major}, ${groupProtocol} groups`,
      driver: (brokers, tuning) => platformatic({ brokers, ...tuning, groupProtocol, ...client }),
    })),
  ),
);
