import { isOfWantedFigure } from "./comparisons.ts";
import type { ConsumeFigures } from "./figures.ts";
import type { OwnKafka } from "./own-kafka.ts";
import type { PassResult } from "./pass.ts";
import { processorSecondsOf } from "./processes.ts";
import { kafkajsByHand, type Side, type SideOptions, sides, sidesInTurn } from "./sides.ts";
import type { PeerSizes } from "./sizes.ts";
import type { FilledTopic } from "./topics.ts";

/** What grows while rounds go by. */
interface Measured {
  readonly topic: FilledTopic;
  readonly side: Side;
  readonly passes: { readonly pass: PassResult; readonly brokerSeconds: number | null }[];
  /** Of the last pass, with the start of its process. */
  tookMs: number;
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

/**
 * Sides read topics in turn, each in a process of its own, round after round. All of them do in the first round, and those that wanted figures are
 * made of in further ones.
 */
export async function measureConsume(options: ConsumeOptions): Promise<ConsumeOutcome> {
  const measured = options.topics.flatMap((topic) =>
    sidesInTurn(topic).map((side): Measured => ({ topic, side, passes: [], tookMs: 0, failure: null })),
  );
  const ofWanted = measured.filter(({ topic, side }) => isOfWantedFigure(topic, side));
  const furtherOnes = ofWanted.length > 0 ? ofWanted : measured; // none are wanted if other cases are chosen
  await warmUpBroker(options);
  let rounds = 0;
  while (rounds < options.rounds && (rounds === 0 || performance.now() + lastedMs(furtherOnes) <= options.endsByMs)) {
    rounds++;
    // Every other round goes the other way, so that nobody always comes after the same.
    const inOrder = rounds === 1 ? measured : furtherOnes;
    for (const one of rounds % 2 === 1 ? inOrder : inOrder.toReversed()) {
      await measureOnce(one, rounds, options);
    }
  }
  const named = measured.toSorted((a, b) => options.topics.indexOf(a.topic) - options.topics.indexOf(b.topic) || orderOf(a) - orderOf(b));
  return { rounds, figures: named.map(figuresOf) };
}

function lastedMs(round: readonly Measured[]): number {
  return round.reduce((sum, { tookMs }) => sum + tookMs, 0);
}

function orderOf({ side }: Measured): number {
  return sides.indexOf(side);
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
  const startedAt = performance.now();
  try {
    const pass = await one.side.consume({ brokers, registryUrl, topic, format, messages, maxSeconds: sizes.maxSeconds }, machine);
    const after = processorSecondsOf(kafka.pid);
    one.passes.push({ pass, brokerSeconds: before === null || after === null ? null : after - before });
    say(`${name}: ${Math.round(pass.messages / pass.seconds).toLocaleString("en-US")} messages/s`);
  } catch (error) {
    machine.signal.throwIfAborted();
    const reason = error instanceof Error ? error.message : String(error);
    one.failure = round === 1 ? reason : `failed in round ${round}: ${reason}`;
    say(`${name}: not run: ${one.failure}`);
  } finally {
    one.tookMs = performance.now() - startedAt;
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
