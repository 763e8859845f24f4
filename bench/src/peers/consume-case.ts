import type { ConsumeFigures } from "./figures.ts";
import type { OwnKafka } from "./own-kafka.ts";
import type { PassResult } from "./pass.ts";
import { processorSecondsOf } from "./processes.ts";
import { kafkajsByHand, type Side, type SideOptions, sides, sidesOfLongTopics } from "./sides.ts";
import type { PeerSizes } from "./sizes.ts";
import type { FilledTopic } from "./topics.ts";

/** What grows while rounds go by. */
interface Measured {
  readonly topic: FilledTopic;
  readonly side: Side;
  readonly passes: { readonly pass: PassResult; readonly brokerSeconds: number | null }[];
  failure: string | null;
}

export interface ConsumeOptions {
  readonly kafka: OwnKafka;
  readonly topics: readonly FilledTopic[];
  readonly sizes: PeerSizes;
  readonly rounds: number;
  /** No further round begins if it would end after this time of `performance.now()`. */
  readonly endsByMs: number;
  readonly machine: SideOptions;
  readonly say: (line: string) => void;
}

export interface ConsumeOutcome {
  readonly rounds: number;
  readonly figures: readonly ConsumeFigures[];
}

/** All sides read all topics in turn, each in a process of its own, round after round. */
export async function measureConsume(options: ConsumeOptions): Promise<ConsumeOutcome> {
  const measured = options.topics.flatMap((topic) =>
    sides
      .filter(({ name }) => !topic.isLong || sidesOfLongTopics.includes(name))
      .map((side): Measured => ({ topic, side, passes: [], failure: null })),
  );
  await warmUpBroker(options);
  let rounds = 0;
  let longestMs = 0;
  while (rounds < options.rounds && (rounds === 0 || performance.now() + longestMs <= options.endsByMs)) {
    const startedAt = performance.now();
    rounds++;
    // Every other round goes the other way, so that nobody always comes after the same.
    for (const one of rounds % 2 === 1 ? measured : measured.toReversed()) {
      await measureOnce(one, rounds, options);
    }
    longestMs = Math.max(longestMs, performance.now() - startedAt);
  }
  return { rounds, figures: measured.map(figuresOf) };
}

/** The JVM of a new broker compiles what answers fetches while the first sides read: one reads for nothing. */
async function warmUpBroker({ kafka, topics: [first], sizes, machine, say }: ConsumeOptions): Promise<void> {
  if (first === undefined) {
    return;
  }
  say("warming the broker up");
  const { topic, format, messages } = first;
  const { brokers, registryUrl } = kafka;
  const byHand = sides.find(({ name }) => name === kafkajsByHand);
  await byHand?.consume({ brokers, registryUrl, topic, format, messages, maxSeconds: sizes.maxSeconds }, { ...machine, profileDir: null });
}

async function measureOnce(one: Measured, round: number, { kafka, sizes, machine, say }: ConsumeOptions): Promise<void> {
  if (one.failure !== null) {
    return; // it would fail again
  }
  const { topic, format, messages } = one.topic;
  const name = `round ${round}, ${topic}: ${one.side.name}`;
  const { brokers, registryUrl } = kafka;
  const before = processorSecondsOf(kafka.pid);
  try {
    const pass = await one.side.consume({ brokers, registryUrl, topic, format, messages, maxSeconds: sizes.maxSeconds }, machine);
    const after = processorSecondsOf(kafka.pid);
    one.passes.push({ pass, brokerSeconds: before === null || after === null ? null : after - before });
    say(`${name}: ${Math.round(pass.messages / pass.seconds).toLocaleString("en-US")} messages/s`);
  } catch (error) {
    machine.signal.throwIfAborted();
    one.failure = error instanceof Error ? error.message : String(error);
    say(`${name}: not run: ${one.failure}`);
  }
}

function figuresOf({ topic: { format, compression, isLong }, side, passes, failure }: Measured): ConsumeFigures {
  const of = (read: (pass: PassResult, brokerSeconds: number | null) => number | null): readonly number[] =>
    passes.flatMap(({ pass, brokerSeconds }) => read(pass, brokerSeconds) ?? []);
  return {
    side: side.name,
    kind: side.kind,
    format,
    compression,
    isLong,
    perSecond: of(({ messages, seconds }) => messages / seconds),
    processorNs: of(({ messages, processorSeconds }) => (processorSeconds === null ? null : (processorSeconds * 1e9) / messages)),
    brokerNs: of(({ messages }, brokerSeconds) => (brokerSeconds === null ? null : (brokerSeconds * 1e9) / messages)),
    residentMiB: of(({ residentMiB }) => residentMiB),
    notRun: failure,
  };
}
