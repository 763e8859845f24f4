import { existsSync, readFileSync } from "node:fs";
import { type ConsumeOnce, consumedByConsumers, handWrittenAvro, handWrittenJson, ours } from "../cases/consume.ts";
import { environment } from "../environment.ts";

interface StackState {
  readonly addresses: { readonly brokers: string; readonly registryUrl: string; readonly topics: readonly string[] } | null;
}

/** The topics of the stack by what their names begin with, the peer that reads each, and how many times faster ours must be. */
const comparisons: readonly {
  readonly format: string;
  readonly prefix: string;
  readonly peer: string;
  readonly once: ConsumeOnce;
  readonly target: number | null;
}[] = [
  { format: "json-with-schema", prefix: "js.", peer: "kafkajs eachBatch + JSON.parse", once: handWrittenJson, target: 2 },
  { format: "json", prefix: "jn.", peer: "kafkajs eachBatch + JSON.parse", once: handWrittenJson, target: null },
  {
    format: "confluent-avro",
    prefix: "av.",
    peer: "kafkajs eachBatch + confluent-schema-registry with a BigInt long",
    once: handWrittenAvro,
    target: 1.2,
  },
];

/** Consuming from the real stack (`npm run stack:up`, `stack:seed`), ours and hand-written in turn. */
export async function runConsume({
  rounds,
  messages = 200_000,
}: {
  readonly rounds: number;
  readonly messages?: number;
}): Promise<{ text: string; result: object }> {
  const { brokers, registryUrl, topics } = stackAddresses();
  const lines: string[] = [];
  const results: object[] = [];
  for (const { format, prefix, peer, once, target } of comparisons) {
    const topic = topics.find((name) => name.startsWith(prefix));
    if (topic === undefined) {
      throw new Error(`expected the stack to have a topic that begins with ${prefix}, found ${topics.join(", ")}`);
    }
    const where = { brokers: [brokers], registryUrl, topic, messages };
    const seconds = { ours: [] as number[], peer: [] as number[] };
    for (let round = 0; round < rounds; round++) {
      seconds.ours.push(await ours(where));
      seconds.peer.push(await once(where));
    }
    const ratios = seconds.peer.map((peerSeconds, round) => peerSeconds / (seconds.ours[round] ?? Number.NaN));
    const ratio = median(ratios);
    const held = target === null ? "" : ` (at least ${target}x: ${ratio >= target ? "held" : "MISSED"})`;
    lines.push(
      `${format}: cdckit ${perSecond(seconds.ours, messages)}, ${peer} ${perSecond(seconds.peer, messages)} messages/s: ` +
        `${ratio.toFixed(2)}x [${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}]${held}`,
    );
    results.push({ format, topic, peer, target, ratio, ratios, seconds });
  }
  const about = environment();
  return {
    text: [`consume, ${messages} messages of one partition, ${rounds} rounds in alternation, median`, ...lines].join("\n"),
    result: { environment: about, messages, rounds, unit: "seconds a pass", consumed: consumedByConsumers(), results },
  };
}

function stackAddresses(): NonNullable<StackState["addresses"]> {
  const file = ".stack/state.json";
  const addresses = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as StackState).addresses : null;
  if (addresses === null) {
    throw new Error("the stack is not up: npm run stack:up, then npm run stack:seed -- --rows 200000");
  }
  return addresses;
}

function perSecond(seconds: readonly number[], messages: number): string {
  return Math.round(messages / median(seconds)).toLocaleString("en-US");
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] ?? Number.NaN) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}
