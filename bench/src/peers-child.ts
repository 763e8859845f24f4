import { consumeWithConfluent } from "./peers/confluent-by-hand.ts";
import { idleKafkaJs, idleOurs } from "./peers/idle.ts";
import type { PeerJob } from "./peers/job.ts";
import { consumeWithKafkaJs } from "./peers/kafkajs-by-hand.ts";
import { latencyOfKafkaJs, latencyOfOurs, producePaced } from "./peers/latency.ts";
import { consumeWithOurs } from "./peers/ours.ts";
import type { PassOptions, PassResult } from "./peers/pass.ts";
import { consumeWithPlatformatic } from "./peers/platformatic-by-hand.ts";
import { kafkajsByHand } from "./peers/sides.ts";
import { consumeWithWorkers } from "./peers/workers.ts";

const peers: Readonly<Record<string, (options: PassOptions) => Promise<PassResult>>> = {
  [kafkajsByHand]: consumeWithKafkaJs,
  "@platformatic/kafka": consumeWithPlatformatic,
  "@confluentinc/kafka-javascript": consumeWithConfluent,
};

const job = JSON.parse(process.argv[2] ?? "") as PeerJob;
const result = await resultOf(job);
process.stdout.write(`${JSON.stringify(result)}\n`, () => {
  process.exit(); // whatever a peer leaves open
});

function resultOf(asked: PeerJob): Promise<object> {
  switch (asked.job) {
    case "consume":
      return isOurs(asked.side) ? consumeWithOurs(driverOf(asked.side), asked) : peerNamed(asked.side)(asked);
    case "latency":
      return isOurs(asked.side) ? latencyOfOurs(driverOf(asked.side), asked) : latencyOfKafkaJs(asked);
    case "idle":
      return isOurs(asked.side) ? idleOurs(driverOf(asked.side), asked) : idleKafkaJs(asked);
    case "produce-paced":
      return producePaced(asked);
    case "workers":
      return consumeWithWorkers(asked);
  }
}

function isOurs(side: string): boolean {
  return side.startsWith("cdckit, ");
}

function driverOf(side: string): string {
  return side.slice("cdckit, ".length);
}

function peerNamed(side: string): (options: PassOptions) => Promise<PassResult> {
  const peer = peers[side];
  if (peer === undefined) {
    throw new TypeError(`there is no peer called ${side}; there are ${Object.keys(peers).join(", ")}`);
  }
  return peer;
}
