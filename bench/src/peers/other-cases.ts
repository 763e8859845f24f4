import { availableParallelism } from "node:os";
import kafkajs from "kafkajs";
import { boundedCell, type Cell, notRun, ratioCell, ratios, type Row, withCeiling } from "./figures.ts";
import { spreadOf } from "../spread.ts";
import type { IdleResult, LatencyResult, PacedResult, WorkersResult } from "./job.ts";
import { ourDrivers, sideOf } from "./our-drivers.ts";
import type { OwnKafka } from "./own-kafka.ts";
import { type ChildOptions, runJob } from "./processes.ts";
import { kafkajsByHand } from "./sides.ts";
import type { PeerSizes } from "./sizes.ts";
import { createTopic, fillTopics, peerFormats } from "./topics.ts";

export interface CaseOptions {
  readonly kafka: OwnKafka;
  readonly sizes: PeerSizes;
  readonly machine: ChildOptions;
  readonly say: (line: string) => void;
}

export interface CaseOutcome {
  readonly rows: readonly Row[];
  readonly result: object;
}

const workersPartitions = 4;
const wantedOfWorkers = 1.6;

/** What was measured with one thread and with two, round by round. */
interface WorkersRounds {
  readonly one: WorkersResult[];
  readonly two: WorkersResult[];
}

/** Two threads of a consumer beside one, on the same topic of four partitions. */
export async function measureWorkers(options: CaseOptions): Promise<CaseOutcome> {
  const { kafka, sizes, machine } = options;
  const driver = ourDrivers.find(({ inWorkers }) => inWorkers)?.name ?? "";
  const cells: Cell[] = [];
  const result: Record<string, object> = {};
  for (const format of peerFormats) {
    const topic = { topic: `workers-${format}`, format, partitions: workersPartitions, messages: sizes.workersMessages[format] };
    await fillTopics(kafka.brokers, [{ ...topic, compression: "none", isLong: false }], machine.signal);
    const rounds: WorkersRounds = { one: [], two: [] };
    for (let round = 0; round < sizes.workersRounds; round++) {
      // Every other round goes the other way: a machine's speed changes.
      for (const workers of round % 2 === 0 ? ([1, 2] as const) : ([2, 1] as const)) {
        await measureWorkersOnce({ ...options, driver, workers, ...topic }, rounds);
      }
    }
    const rates = (passes: readonly WorkersResult[]): readonly number[] => passes.map(({ perSecond }) => perSecond);
    const gained = ratios(rates(rounds.two), rates(rounds.one));
    cells.push(withCeiling(ratioCell(gained, wantedOfWorkers, aboutWorkers(rounds)), spreadOf(gained).median, ceilingOfRounds(rounds)));
    result[format] = { messages: topic.messages, warmUpShare: sizes.workersWarmUpShare, partitions: workersPartitions, rounds };
  }
  const figure = `two workers against one, ${driver} driver, ${availableParallelism()} cores`;
  return { rows: [{ figure, wanted: `${wantedOfWorkers}x`, cells }], result };
}

function ceilingOfRounds({ one }: WorkersRounds): number | null {
  const ceilings = one.map(ceilingOf).filter((ceiling) => ceiling !== null);
  return ceilings.length === 0 ? null : spreadOf(ceilings).median;
}

/** What was possible on this machine, and what the broker took of it. */
function aboutWorkers(rounds: WorkersRounds): string {
  const ceiling = ceilingOfRounds(rounds);
  const shares = rounds.two.flatMap(({ processorSeconds, brokerSeconds }) =>
    brokerSeconds === null ? [] : [brokerSeconds / (brokerSeconds + processorSeconds)],
  );
  if (ceiling === null || shares.length === 0) {
    return ", the broker's share of the processor time unknown";
  }
  const share = (100 * spreadOf(shares).median).toFixed(0);
  return `, at most ${ceiling.toFixed(2)}x on these cores, the broker's share of the processor time ${share}%`;
}

/** How much faster than this pass the cores could handle messages if they did nothing else, with the same work of the broker for each. */
function ceilingOf({ perSecond, processorSeconds, brokerSeconds }: WorkersResult): number | null {
  return brokerSeconds === null ? null : availableParallelism() / (processorSeconds + brokerSeconds) / perSecond;
}

interface WorkersPass extends CaseOptions {
  readonly driver: string;
  readonly topic: string;
  readonly messages: number;
  readonly workers: 1 | 2;
}

async function measureWorkersOnce(pass: WorkersPass, rounds: WorkersRounds): Promise<void> {
  const { kafka, sizes, machine, say, driver, topic, workers, messages } = pass;
  const { brokers, registryUrl, pid: brokerPid } = kafka;
  const warmUpMessages = messages * sizes.workersWarmUpShare;
  const job = { job: "workers", driver, brokers, registryUrl, topic, workers, messages, warmUpMessages, brokerPid } as const;
  const result = (await runJob(job, machine)) as WorkersResult;
  (workers === 1 ? rounds.one : rounds.two).push(result);
  const tenths = result.tenths.map((rate) => Math.round(rate / 1_000)).join(" ");
  say(
    `${topic}, ${workers}: ${Math.round(result.perSecond).toLocaleString("en-US")} messages/s, in thousands by tenths of the pass: ${tenths}`,
  );
}

const eventsPerSecond = 5_000;
/** Below that, what is measured is how far the producer is behind. */
const minShareOfRate = 0.97;
const maxAboveBrokerMs = { p50: 2, p99: 10 };

/** From the producer to the handler at a steady rate, beside kafkajs alone without decoding. */
export async function measureLatency({ kafka, sizes, machine, say }: CaseOptions): Promise<CaseOutcome> {
  const names = [kafkajsByHand, ...ourDrivers.map(({ name }) => sideOf(name))];
  const measured = new Map<string, LatencyResult[]>(names.map((side) => [side, []]));
  const failures = new Map<string, string>();
  for (let round = 0; round < sizes.latencyRounds; round++) {
    for (const side of names.filter((name) => !failures.has(name))) {
      try {
        const result = await latencyOnce(side, `latency-${names.indexOf(side)}-${round}`, { kafka, sizes, machine });
        measured.get(side)?.push(result);
        say(`latency, ${side}: p50 ${result.p50Ms.toFixed(2)} ms, p99 ${result.p99Ms.toFixed(2)} ms`);
      } catch (error) {
        machine.signal.throwIfAborted();
        failures.set(side, error instanceof Error ? error.message : String(error));
        say(`latency, ${side}: not run: ${failures.get(side)}`);
      }
    }
  }
  const raw = measured.get(kafkajsByHand) ?? [];
  const rows = names.slice(1).map((side): Row => {
    const ours = measured.get(side) ?? [];
    const figure = `latency from producer to handler at ${eventsPerSecond.toLocaleString("en-US")} events/s, ${side}, above kafkajs alone`;
    const wanted = `p50 at most ${maxAboveBrokerMs.p50} ms, p99 ${maxAboveBrokerMs.p99} ms`;
    const why = failures.get(side) ?? failures.get(kafkajsByHand);
    return { figure, wanted, cells: [why === undefined ? latencyCell(ours, raw) : notRun(why)] };
  });
  return { rows, result: { eventsPerSecond, sides: Object.fromEntries(measured), notRun: Object.fromEntries(failures) } };
}

function latencyCell(ours: readonly LatencyResult[], raw: readonly LatencyResult[]): Cell {
  const above = (read: (one: LatencyResult) => number): number =>
    spreadOf(ours.map((one, round) => read(one) - read(raw[round] as LatencyResult))).median; // both had the same rounds
  const middle = (all: readonly LatencyResult[], read: (one: LatencyResult) => number): string => spreadOf(all.map(read)).median.toFixed(1);
  const [p50, p99] = [above(({ p50Ms }) => p50Ms), above(({ p99Ms }) => p99Ms)];
  const text =
    `p50 ${p50 < 0 ? "" : "+"}${p50.toFixed(1)} ms (${middle(ours, (one) => one.p50Ms)} against ${middle(raw, (one) => one.p50Ms)}), ` +
    `p99 ${p99 < 0 ? "" : "+"}${p99.toFixed(1)} ms (${middle(ours, (one) => one.p99Ms)} against ${middle(raw, (one) => one.p99Ms)})`;
  return { text, verdict: p50 <= maxAboveBrokerMs.p50 && p99 <= maxAboveBrokerMs.p99 ? "held" : "missed" };
}

async function latencyOnce(
  side: string,
  topic: string,
  { kafka, sizes, machine }: Pick<CaseOptions, "kafka" | "sizes" | "machine">,
): Promise<LatencyResult> {
  const { brokers, registryUrl } = kafka;
  await createTopicAlone(brokers, topic);
  const warmUpMessages = sizes.latencyWarmUpSeconds * eventsPerSecond;
  const messages = warmUpMessages + sizes.latencySeconds * eventsPerSecond;
  // The one that fails ends the other: a reader without a producer waits for ever.
  const failed = new AbortController();
  const both = { ...machine, signal: AbortSignal.any([machine.signal, failed.signal]) };
  const reading = runJob({ job: "latency", side, brokers, registryUrl, topic, messages, warmUpMessages }, both);
  const producing = runJob({ job: "produce-paced", brokers, topic, perSecond: eventsPerSecond, messages }, { ...both, profileDir: null });
  try {
    const [result, written] = await Promise.all([reading, producing]);
    const perSecond = messages / (written as PacedResult).seconds;
    if (perSecond < minShareOfRate * eventsPerSecond) {
      throw new Error(`only ${Math.round(perSecond)} events/s could be written: the machine has too much else to do`);
    }
    return result as LatencyResult;
  } catch (error) {
    failed.abort(error);
    await Promise.allSettled([reading, producing]);
    throw error;
  }
}

async function createTopicAlone(brokers: string, topic: string): Promise<void> {
  const admin = new kafkajs.Kafka({ brokers: [brokers], logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
  await createTopic(admin, { topic, partitions: 1, compression: "none" });
  await admin.disconnect();
}

const maxIdleShare = 0.01;

/** Consumers that have nothing to read, all at once. */
export async function measureIdle({ kafka, sizes, machine, say }: CaseOptions): Promise<CaseOutcome> {
  const { brokers, registryUrl } = kafka;
  const topic = "idle";
  await createTopicAlone(brokers, topic);
  const names = [...ourDrivers.map(({ name }) => sideOf(name)), kafkajsByHand];
  const waits = { settleSeconds: sizes.idleSettleSeconds, seconds: sizes.idleSeconds };
  const settled = await Promise.allSettled(
    names.map((side) => runJob({ job: "idle", side, brokers, registryUrl, topic, ...waits }, machine) as Promise<IdleResult>),
  );
  machine.signal.throwIfAborted();
  const rows = settled.map((one, i): Row => {
    const isOurs = names[i] !== kafkajsByHand;
    const cell: Cell =
      one.status === "rejected"
        ? notRun(one.reason instanceof Error ? one.reason.message : String(one.reason))
        : isOurs
          ? boundedCell(percent(one.value.share), one.value.share, maxIdleShare)
          : { text: percent(one.value.share), verdict: "no target" };
    say(`idle, ${names[i]}: ${cell.text}`);
    return { figure: `an idle consumer's share of a core, ${names[i]}`, wanted: isOurs ? "below 1%" : "-", cells: [cell] };
  });
  const result = Object.fromEntries(names.map((side, i) => [side, settled[i]?.status === "fulfilled" ? settled[i].value : null]));
  return { rows, result };
}

function percent(share: number): string {
  return `${(100 * share).toFixed(2)}%`;
}
