import { connect } from "node:net";
import type { ConnectTo, KafkaJsConnection, OwnKafka } from "@cdckit/kafkajs";
import { Kafka, type KafkaConfig, logLevel } from "kafkajs";

type Reach = (config: Pick<KafkaConfig, "brokers">, connectTo: ConnectTo) => KafkaJsConnection | OwnKafka;

/** Both kinds of clients that the driver reads with, each with other addresses than the brokers name. */
export const kafkaJsClients: readonly (readonly [name: string, Reach])[] = [
  ["a client of the driver's", (config, connectTo) => ({ ...config, connectTo })],
  ["a client of the application's own", (config, connectTo) => ({ kafka: ownClient(config, connectTo) })],
];

function ownClient(config: KafkaConfig, connectTo: ConnectTo): Kafka {
  return new Kafka({
    ...config,
    logLevel: logLevel.NOTHING,
    socketFactory: ({ host, port, onConnect }) => connect(connectTo({ host, port }), onConnect),
  });
}
