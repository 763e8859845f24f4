import { randomUUID } from "node:crypto";
import { runProcess } from "../run-process.ts";
import { type ChildOptions, runJob } from "./processes.ts";
import { ourDrivers, sideOf } from "./our-drivers.ts";
import type { PassOptions, PassResult } from "./pass.ts";
import type { FilledTopic } from "./topics.ts";

/** One of those that are measured beside each other. */
export interface Side {
  readonly name: string;
  /** `undecoded`: fetches, and reads nothing of what it fetched. */
  readonly kind: "ours" | "peer" | "undecoded";
  readonly about: string;
  readonly consume: (options: PassOptions, machine: SideOptions) => Promise<PassResult>;
}

export interface SideOptions extends ChildOptions {
  /** Kafka's own jars. */
  readonly classPath: string;
}

/** Our driver for kafkajs as it is, which most figures are about. */
export const ourKafkaJs: string = sideOf("kafkajs");
export const kafkajsByHand = "kafkajs by hand";
export const javaPerformance = "Java ConsumerPerformance";

/** All sides, in the order in which reports name them. */
export const sides: readonly Side[] = [
  ...ourDrivers.map(({ name }) => inNode(sideOf(name), "ours", "createConsumer with a handler, offsets committed")),
  inNode(kafkajsByHand, "peer", "eachBatch, JSON.parse or @kafkajs/confluent-schema-registry with a BigInt long"),
  inNode("@platformatic/kafka", "peer", "its stream, JSON.parse or its registry with a BigInt long"),
  inNode("@confluentinc/kafka-javascript", "peer", "eachBatch of any size, JSON.parse or @confluentinc/schemaregistry with a BigInt long"),
  {
    name: javaPerformance,
    kind: "undecoded",
    about: "its own fetch rate, which leaves joining the group out",
    consume: runJavaPerformance,
  },
  {
    name: "kcat",
    kind: "undecoded",
    about: "librdkafka from C, the whole process, which prints an empty text for each message",
    consume: runKcat,
  },
];

/** Ours, what people write, and the line to cross: those of most figures, and the only ones that read long topics. */
const ofMostFigures: readonly string[] = [ourKafkaJs, kafkajsByHand, javaPerformance];

/** The sides that read the topic, in the order in which they do. Those that are compared most follow each other: a machine's speed changes. */
export function sidesInTurn({ isLong }: Pick<FilledTopic, "isLong">): readonly Side[] {
  const first = ofMostFigures.flatMap((name) => sides.find((side) => side.name === name) ?? []);
  return isLong ? first : [...first, ...sides.filter((side) => !first.includes(side))];
}

function inNode(name: string, kind: Side["kind"], about: string): Side {
  return {
    name,
    kind,
    about,
    consume: async (options, machine) => (await runJob({ job: "consume", side: name, ...options }, machine)) as PassResult,
  };
}

// What kafka-consumer-perf-test.sh starts Java with.
const javaOptions = [
  "-Xmx512M",
  "-server",
  "-XX:+UseG1GC",
  "-XX:MaxGCPauseMillis=20",
  "-Djava.awt.headless=true",
  "-Djava.net.preferIPv4Stack=true",
];

async function runJavaPerformance(options: PassOptions, { classPath, signal, deadlineSeconds }: SideOptions): Promise<PassResult> {
  const java = process.env["JAVA_HOME"] === undefined ? "java" : `${process.env["JAVA_HOME"]}/bin/java`;
  const main = ["-cp", classPath, "org.apache.kafka.tools.ConsumerPerformance"];
  const args = ["--bootstrap-server", options.brokers, "--topic", options.topic, "--num-records", String(options.messages)];
  const group = ["--group", `bench-${randomUUID()}`, "--hide-header"];
  const { stdout } = await runProcess(java, [...javaOptions, ...main, ...args, ...group], { signal, deadlineSeconds });
  // start.time, end.time, data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec, rebalance.time.ms, fetch.time.ms, fetch.MB.sec, fetch.nMsg.sec
  const figures = (stdout.trim().split("\n").at(-1) ?? "").split(", ");
  const [messages, fetchMs] = [Number(figures[4]), Number(figures[7])];
  if (!(messages >= options.messages && fetchMs > 0)) {
    throw new Error(`ConsumerPerformance read ${figures[4]} of ${options.messages} messages in ${figures[7]} ms`);
  }
  return { messages, seconds: fetchMs / 1_000, processorSeconds: null, residentMiB: null };
}

async function runKcat(options: PassOptions, { signal, deadlineSeconds }: SideOptions): Promise<PassResult> {
  const args = [
    "-C",
    "-b",
    options.brokers,
    "-t",
    options.topic,
    "-p",
    "0",
    "-o",
    "beginning",
    "-c",
    String(options.messages),
    "-q",
    "-f",
    "",
  ];
  const { seconds } = await runProcess("kcat", args, { signal, deadlineSeconds }).catch((error: Error) => {
    throw error.message.includes("ENOENT") ? new Error("kcat is not installed (Debian: apt-get install kcat)") : error;
  });
  return { messages: options.messages, seconds, processorSeconds: null, residentMiB: null };
}
