import { consumeWithConfluent } from "./peers/confluent-by-hand.ts";
import { idleKafkaJs, idleOurs } from "./peers/idle.ts";
import type { PeerJob } from "./peers/job.ts";
import { consumeWithKafkaJs } from "./peers/kafkajs-by-hand.ts";
import { latencyOfKafkaJs, latencyOfOurs, producePaced } from "./peers/latency.ts";
import { driverOf } from "./peers/our-drivers.ts";
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
      return consume(asked);
    case "latency": {
      const driver = driverOf(asked.side);
      return driver === null ? latencyOfKafkaJs(asked) : latencyOfOurs(driver, asked);
    }
    case "idle": {
      const driver = driverOf(asked.side);
      return driver === null ? idleKafkaJs(asked) : idleOurs(driver, asked);
    }
    case "produce-paced":
      return producePaced(asked);
    case "workers":
      return consumeWithWorkers(asked);
  }
}

function consume(asked: Extract<PeerJob, { readonly job: "consume" }>): Promise<PassResult> {
  const driver = driverOf(asked.side);
  return driver === null ? peerNamed(asked.side)(asked) : consumeWithOurs(driver, asked);
}

function peerNamed(side: string): (options: PassOptions) => Promise<PassResult> {
  const peer = peers[side];
  if (peer === undefined) {
    throw new TypeError(`there is no peer called ${side}; there are ${Object.keys(peers).join(", ")}`);
  }
  return peer;
}
