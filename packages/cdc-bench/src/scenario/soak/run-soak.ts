import { performance } from "node:perf_hooks";
import type { ChangeFormat } from "../../load/change-events/index.ts";
import type { Observation, Observer } from "../../observe/observer.ts";
import { formatCount } from "../../report/quantities.ts";
import { openBacklog } from "../catch-up/backlog.ts";
import type { ClusterAccess } from "../catch-up/cluster-access.ts";
import type { Tuning } from "../catch-up/tuning.ts";
import { type Drift, driftOf } from "./drift.ts";
import { hasCaughtUp } from "./keeping-pace.ts";
import { type PacedWriter, startPacedWriter } from "./paced-writer.ts";
import type { DriftName, SoakFormat } from "./soak-result.ts";
import { type SoakThread, startSoakThread } from "./soak-thread.ts";
import type { SoakWindow } from "./soak-window.ts";

export interface SoakPlan {
  readonly cluster: ClusterAccess;
  readonly formats: readonly ChangeFormat[];
  /** What is measured, after the warm-up. */
  readonly durationMs: number;
  /** Events a second of each format. Null: as fast as possible, the same records again and again. */
  readonly perSecond: number | null;
  /** Records that are written if there is no rate. */
  readonly records: number;
  readonly partitions: number;
  readonly writers: number;
  readonly compression: "none" | "gzip";
  readonly seed: number;
  readonly tuning: Tuning;
  readonly interrupt: AbortSignal;
  readonly observer: Observer;
}

export interface SoakOutcome {
  /** None if it was interrupted before anything was measured. */
  readonly formats: readonly SoakFormat[];
  readonly rssDrift: Drift | null;
  /** How late the slowest writer was at the end. */
  readonly behindMs: number;
}

interface Soaked {
  readonly format: ChangeFormat;
  readonly topic: string;
  readonly thread: SoakThread;
  writer: PacedWriter | null;
}

const warmUpShare = 0.1;
const longestWarmUpMs = 30_000;
/** Bounds what a soak of hours keeps on the brokers' disks. */
const retention = { "retention.ms": "600000", "segment.bytes": "67108864", "segment.ms": "60000" };
const lookEveryMs = 100;
/** Consumers that have handled nothing by then are measured as they are: a broker that is away is said while it lasts. */
const joinWithinMs = 60_000;
/** Records are written from the start, also while a group is joined. A consumer that has not caught up by then is measured as it is. */
const catchUpWithinMs = 30_000;

/** How long consumers run before their figures count. */
export function warmUpMsOf(durationMs: number): number {
  return Math.min(longestWarmUpMs, durationMs * warmUpShare);
}

/** All formats at the same time, each consumer in a thread of its own. */
export async function runSoak(plan: SoakPlan): Promise<SoakOutcome> {
  const { observer, interrupt, durationMs } = plan;
  const soaked: Soaked[] = [];
  try {
    for (const format of plan.formats) {
      if (!interrupt.aborted) {
        soaked.push(await start(plan, format));
      }
    }
    const failed = Promise.race(soaked.flatMap(({ thread, writer }) => [thread.ended.then(neverMind), writer?.done ?? forever()]));
    failed.catch(neverMind); // an interrupt may come before anybody waits for it
    if (!interrupt.aborted) {
      observer.note("joining the groups");
      const joined = Promise.all(soaked.map(({ thread }) => thread.started));
      await passing(plan, soaked, joinWithinMs, "joining", Promise.race([failed, joined.then(neverMind)]));
    }
    if (!interrupt.aborted) {
      observer.note("warming up");
      await passing(plan, soaked, warmUpMsOf(durationMs), "warm-up", failed);
    }
    if (plan.perSecond !== null && !interrupt.aborted) {
      await passing(plan, soaked, catchUpWithinMs, "catching up", failed, () => haveCaughtUp(soaked, plan.perSecond));
    }
    if (interrupt.aborted) {
      return { formats: [], rssDrift: null, behindMs: 0 };
    }
    observer.note(`measuring for ${Math.round(durationMs / 1e3)} s`);
    const writtenBefore = soaked.map(({ writer }) => writer?.written ?? 0);
    soaked.forEach(({ thread }) => thread.begin());
    await passing(plan, soaked, durationMs, "soak", failed);
    const behindMs = Math.max(0, ...soaked.map(({ writer }) => writer?.behindMs ?? 0));
    return { ...(await end(soaked, writtenBefore)), behindMs };
  } finally {
    await Promise.all(soaked.map(async ({ writer }) => writer?.stop()));
    soaked.forEach(({ thread }) => thread.stop());
    await Promise.all(soaked.map(({ thread }) => thread.ended.catch(neverMind)));
  }
}

async function start(plan: SoakPlan, format: ChangeFormat): Promise<Soaked> {
  const { cluster, perSecond, partitions, tuning, observer } = plan;
  const topic = cluster.name(format.name);
  const isLooped = perSecond === null;
  await cluster.makeTopic(topic, { partitions, config: isLooped ? {} : retention });
  if (isLooped) {
    observer.note(`writing ${plan.records.toLocaleString("en-US")} events in ${format.title}`);
    const backlog = await openBacklog({ ...plan, cluster, topic, format });
    await backlog.write(plan.records, `writing ${format.title}`).finally(() => void backlog.close());
  }
  const ends = (await cluster.endsOf([topic])).get(topic) ?? new Map<number, bigint>();
  const thread = startSoakThread(
    {
      connection: cluster.connection,
      topic,
      groupId: await cluster.makeGroup(`${format.name}-group`),
      format: format.name,
      tuning,
      isLooped,
      ends: Object.fromEntries([...ends].map(([partition, offset]) => [String(partition), String(offset)])),
    },
    (text) => observer.note(text === null ? `${format.title}: the consumer goes on` : `${format.title}: the consumer waits: ${text}`),
  );
  const writer = isLooped ? null : await startPacedWriter({ cluster, topic, format, perSecond, seed: plan.seed });
  return { format, topic, thread, writer };
}

function haveCaughtUp(soaked: readonly Soaked[], perSecond: number | null): boolean {
  return soaked.every(({ writer, thread }) => hasCaughtUp(writer?.written ?? 0, thread.handled, perSecond ?? 0));
}

/** Resolves when the time is over, the run is interrupted, `isOver` says so, or `ended` resolves. Rejects as that does. */
async function passing(
  { interrupt, observer }: SoakPlan,
  soaked: readonly Soaked[],
  durationMs: number,
  phase: string,
  ended: Promise<void>,
  isOver: () => boolean = () => false,
): Promise<void> {
  const startedAtMs = performance.now();
  let timer: NodeJS.Timeout | undefined;
  let settle: () => void = () => {};
  const over = new Promise<void>((resolve) => {
    settle = resolve;
  });
  const look = (): void => {
    const elapsedMs = performance.now() - startedAtMs;
    observer.observe(() => observationOf(soaked, phase, elapsedMs, durationMs));
    if (interrupt.aborted || elapsedMs >= durationMs || isOver()) {
      settle();
    }
  };
  timer = setInterval(look, lookEveryMs);
  interrupt.addEventListener("abort", look);
  try {
    await Promise.race([over, ended]);
  } finally {
    clearInterval(timer);
    interrupt.removeEventListener("abort", look);
  }
}

function observationOf(soaked: readonly Soaked[], phase: string, elapsedMs: number, durationMs: number): Observation {
  const latest = soaked.flatMap(({ format, thread }) => (thread.latest === null ? [] : [{ format, thread, window: thread.latest }]));
  const rates = latest.map(({ format, thread, window }) => {
    return `${format.title} ${formatCount((window.events / window.lengthMs) * 1e3)}/s${thread.waiting === null ? "" : " (waiting)"}`;
  });
  const slowest = latest
    .map(({ window }) => window.latencyMs)
    .filter((latency) => latency !== null)
    .sort((a, b) => b.p99 - a.p99)[0];
  return {
    phase: [phase, ...rates].join(", "),
    done: Math.round(elapsedMs / 1e3),
    total: Math.round(durationMs / 1e3),
    unit: "s",
    ...(slowest !== undefined && { latencyMs: slowest }),
  };
}

async function end(soaked: readonly Soaked[], writtenBefore: readonly number[]): Promise<Omit<SoakOutcome, "behindMs">> {
  const written = soaked.map(({ writer }, i) => (writer === null ? null : writer.written - (writtenBefore[i] ?? 0)));
  soaked.forEach(({ thread }) => thread.stop());
  const formats: SoakFormat[] = [];
  for (const [i, { format, thread }] of soaked.entries()) {
    const { events, errorRecords, loops, latency } = await thread.ended;
    const { windows } = thread;
    const elapsedMs = windows.reduce((sum, { lengthMs }) => sum + lengthMs, 0);
    const counted = windows.reduce((sum, window) => sum + window.events, 0);
    formats.push({
      format: format.name,
      title: format.title,
      events,
      elapsedMs,
      perSecond: elapsedMs === 0 ? 0 : (counted / elapsedMs) * 1e3,
      errorRecords,
      loops,
      written: written[i] ?? null,
      latency,
      drift: driftsOf(windows),
      windows,
    });
  }
  const rss = (formats[0]?.windows ?? []).map(({ fromMs, rssBytes }) => [fromMs, rssBytes] as const);
  return { formats, rssDrift: driftOf(rss) };
}

function driftsOf(windows: readonly SoakWindow[]): Readonly<Record<DriftName, Drift | null>> {
  const drift = (of: (window: SoakWindow) => number | null): Drift | null =>
    driftOf(
      windows.flatMap((window) => {
        const value = of(window);
        return value === null ? [] : [[window.fromMs, value] as const];
      }),
    );
  return {
    rate: drift(({ events, lengthMs }) => (events / lengthMs) * 1e3),
    "latency.p50": drift(({ latencyMs }) => latencyMs?.p50 ?? null),
    "latency.p99": drift(({ latencyMs }) => latencyMs?.p99 ?? null),
    heap: drift(({ heapBytes }) => heapBytes),
    gc: drift(({ gcMs, lengthMs }) => (gcMs / lengthMs) * 1e3),
  };
}

function neverMind(): void {}

function forever(): Promise<void> {
  return new Promise(() => {});
}
