import type { DriverSink, Subscription } from "@cdckit/consumer";
import type { Consumer } from "kafkajs";
import type { AskedTopics } from "./asked-topics.ts";
import type { BrokerOffsets } from "./broker-offsets.ts";
import type { ResolvedKafkaJsOptions } from "./options.ts";
import type { MakeProducer } from "./own-producer.ts";
import type { KeptFetches } from "./wire/kept-fetches.ts";

/** The parts of a session. */
export interface SessionParts {
  readonly consumer: Consumer;
  readonly subscription: Subscription;
  /** The existing topics of the subscription. */
  readonly topics: readonly string[];
  readonly sink: DriverSink;
  readonly askedTopics: AskedTopics;
  readonly brokerOffsets: BrokerOffsets;
  readonly makeProducer: MakeProducer;
  readonly tuning: ResolvedKafkaJsOptions["tuning"];
  /** The brokers' addresses, for messages. */
  readonly brokers: string;
  /** The record batches that were taken out of Fetch responses. */
  readonly kept: KeptFetches;
  /** Aborted if the start is given up: by a stop that came before the member had joined, or after a refusal of the brokers. */
  readonly givenUp: AbortSignal;
  /** Replaces the connections if the driver has made them. */
  readonly reconnect: (why: string) => void;
  /** Answers the fetches under way with nothing if the driver has made the connections. */
  readonly endFetches: () => void;
  /** Ends every socket if the driver has made them. */
  readonly destroySockets: () => void;
}
