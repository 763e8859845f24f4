import type { DriverSink, Subscription } from "@cdckit/consumer";
import type { Consumer } from "kafkajs";
import type { BrokerOffsets } from "./broker-offsets.ts";
import type { ResolvedKafkaJsOptions } from "./options.ts";
import type { MakeProducer } from "./own-producer.ts";

/** What a session is made of. */
export interface SessionParts {
  readonly consumer: Consumer;
  readonly subscription: Subscription;
  /** The topics that there are of those of the subscription. */
  readonly topics: readonly string[];
  readonly sink: DriverSink;
  readonly brokerOffsets: BrokerOffsets;
  readonly makeProducer: MakeProducer;
  readonly tuning: ResolvedKafkaJsOptions["tuning"];
  /** As they appear in messages. */
  readonly brokers: string;
  /** Replaces the connections, where the driver has made them. */
  readonly reconnect: (why: string) => void;
  /** Ends every socket, where the driver has made them. */
  readonly destroySockets: () => void;
}
