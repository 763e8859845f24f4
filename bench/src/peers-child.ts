import type { PeerJob } from "./peers/job.ts";
import { driverOf } from "./peers/our-drivers.ts";
import type { PassOptions, PassResult } from "./peers/pass.ts";
import { kafkajsByHand } from "./peers/sides.ts";

type Consume = (options: PassOptions) => Promise<PassResult>;

// Each is loaded in its own process only: what the others load would be part of its resident memory, and compiled before it.
const peers: Readonly<Record<string, () => Promise<Consume>>> = {
  [kafkajsByHand]: async () => (await import("./peers/kafkajs-by-hand.ts")).consumeWithKafkaJs,
  "@platformatic/kafka": async () => (await import("./peers/platformatic-by-hand.ts")).consumeWithPlatformatic,
  "@confluentinc/kafka-javascript": async () => (await import("./peers/confluent-by-hand.ts")).consumeWithConfluent,
};

const job = JSON.parse(process.argv[2] ?? "") as PeerJob;
const result = await resultOf(job);
process.stdout.write(`${JSON.stringify(result)}\n`, () => {
  process.exit(); // whatever a peer leaves open
});

async function resultOf(asked: PeerJob): Promise<object> {
  switch (asked.job) {
    case "consume":
      return consume(asked);
    case "latency": {
      const { latencyOfKafkaJs, latencyOfOurs } = await import("./peers/latency.ts");
      const driver = driverOf(asked.side);
      return driver === null ? latencyOfKafkaJs(asked) : latencyOfOurs(driver, asked);
    }
    case "idle": {
      const { idleKafkaJs, idleOurs } = await import("./peers/idle.ts");
      const driver = driverOf(asked.side);
      return driver === null ? idleKafkaJs(asked) : idleOurs(driver, asked);
    }
    case "produce-paced":
      return (await import("./peers/latency.ts")).producePaced(asked);
    case "workers":
      return (await import("./peers/workers.ts")).consumeWithWorkers(asked);
  }
}

async function consume(asked: Extract<PeerJob, { readonly job: "consume" }>): Promise<PassResult> {
  const driver = driverOf(asked.side);
  if (driver !== null) {
    return (await import("./peers/ours.ts")).consumeWithOurs(driver, asked);
  }
  return (await peerNamed(asked.side))(asked);
}

function peerNamed(side: string): Promise<Consume> {
  const load = peers[side];
  if (load === undefined) {
    throw new TypeError(`there is no peer called ${side}; there are ${Object.keys(peers).join(", ")}`);
  }
  return load();
}
