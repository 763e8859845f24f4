import type { PeerFormat } from "./pass.ts";

/** How much is measured. */
export interface PeerSizes {
  /** Of each topic. */
  readonly messages: Readonly<Record<PeerFormat, number>>;
  /** Of each long topic. */
  readonly longMessages: Readonly<Record<PeerFormat, number>>;
  /** A side that needs longer for a topic stops then. */
  readonly maxSeconds: number;
  readonly workersMessages: Readonly<Record<PeerFormat, number>>;
  /** The part of a pass with workers that is left out, for one worker and for two alike. */
  readonly workersWarmUpShare: number;
  readonly workersRounds: number;
  readonly latencyRounds: number;
  /** Rounds of creates, updates and deletes in turn beside creates alone. */
  readonly operationsRounds: number;
  readonly latencySeconds: number;
  readonly latencyWarmUpSeconds: number;
  readonly idleSettleSeconds: number;
  readonly idleSeconds: number;
  readonly decodeRounds: number;
  readonly decodeRoundMs: number;
}

/**
 * The first 20,000 messages take three times as long as later ones, because V8, or the JVM, has not compiled yet what reads them. A topic is read
 * from its first message: that is what a service pays that starts. Long topics, of which a fast side reads for about three seconds, show what
 * stays of it.
 */
export const fullSizes: PeerSizes = {
  messages: { "json-with-schema": 200_000, json: 200_000, "confluent-avro": 200_000 },
  longMessages: { "json-with-schema": 400_000, json: 1_000_000, "confluent-avro": 2_000_000 },
  maxSeconds: 6,
  workersMessages: { "json-with-schema": 300_000, json: 1_200_000, "confluent-avro": 2_400_000 },
  workersWarmUpShare: 0.4,
  workersRounds: 5,
  latencyRounds: 3,
  operationsRounds: 9,
  latencySeconds: 10,
  latencyWarmUpSeconds: 3,
  idleSettleSeconds: 4,
  idleSeconds: 15,
  decodeRounds: 15,
  decodeRoundMs: 150,
};

/** Everything once, and little of it: that it works, and no figure to believe. */
export const quickSizes: PeerSizes = {
  messages: { "json-with-schema": 10_000, json: 20_000, "confluent-avro": 20_000 },
  longMessages: { "json-with-schema": 20_000, json: 40_000, "confluent-avro": 80_000 },
  maxSeconds: 2,
  workersMessages: { "json-with-schema": 20_000, json: 80_000, "confluent-avro": 160_000 },
  workersWarmUpShare: 0.4,
  workersRounds: 1,
  latencyRounds: 1,
  operationsRounds: 1,
  latencySeconds: 2,
  latencyWarmUpSeconds: 1,
  idleSettleSeconds: 2,
  idleSeconds: 3,
  decodeRounds: 3,
  decodeRoundMs: 30,
};
