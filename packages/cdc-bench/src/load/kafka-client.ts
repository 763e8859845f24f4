import { Kafka, type KafkaConfig, logLevel } from "kafkajs";
import { type ClusterConnection, clientConfigOf } from "./connection.ts";

/** A client of kafkajs for short questions and writes: its errors are told by who asks, so it logs nothing itself. */
export function createKafkaClient(
  connection: ClusterConnection,
  retries: number,
  others: Pick<KafkaConfig, "requestTimeout" | "socketFactory"> = {},
): Kafka {
  return new Kafka({
    clientId: "cdc-bench",
    ...clientConfigOf(connection),
    logLevel: logLevel.NOTHING,
    connectionTimeout: 3_000,
    requestTimeout: 10_000,
    retry: { retries, initialRetryTime: 100 },
    ...others,
  });
}
