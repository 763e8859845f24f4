import type { SchemaSource } from "@cdckit/decode";
import type { ChangeFormat } from "../../load/change-events/index.ts";
import type { Fault } from "../../load/fault.ts";
import { openFaultProxy } from "../../load/fault-proxy.ts";
import type { Observer } from "../../observe/observer.ts";
import { openBacklog, type WriteMeasure } from "../catch-up/backlog.ts";
import { catchUp, type CatchUpMeasure } from "../catch-up/catch-up.ts";
import type { ClusterAccess } from "../catch-up/cluster-access.ts";
import type { ExpectedContent, OpenTarget } from "../catch-up/target.ts";
import type { Tuning } from "../catch-up/tuning.ts";
import { type Contender, contendersOf, type TargetName } from "./contenders.ts";
import type { BacklogMeasure, ContenderMeasure, DrainRound, SlowSinkMeasure } from "./drain-result.ts";
import { pendingEnds } from "./pending-ends.ts";
import { sinksTarget, type SinksTarget } from "./slow-sink.ts";
import { contenderMeasure, resumedAtCheckpoint } from "./summarize.ts";

export interface DrainPlan {
  readonly cluster: ClusterAccess;
  readonly format: ChangeFormat;
  readonly records: number;
  readonly checkpointRecords: number;
  readonly partitions: number;
  readonly writers: number;
  readonly compression: "none" | "gzip";
  readonly seed: number;
  readonly rounds: number;
  readonly targets: readonly TargetName[];
  readonly tuning: Tuning;
  readonly workMs: number;
  readonly sinkUrl: string | undefined;
  /** Null: no second sink is measured. */
  readonly slowSinkMs: number | null;
  readonly faults: readonly Fault[];
  readonly usesProxy: boolean;
  readonly interrupt: AbortSignal;
  readonly observer: Observer;
  /** Who writes, if not this process straight to Kafka. */
  readonly openWriter: ((plan: DrainPlan) => Promise<BacklogWriter>) | null;
  /** Records a profile of what is measured, if one is wanted. */
  record<T>(work: () => Promise<T>): Promise<T>;
}

export interface DrainOutcome {
  /** Null if the run was interrupted before it was written. */
  readonly backlog: BacklogMeasure | null;
  readonly drains: readonly ContenderMeasure[];
  readonly slowSink: SlowSinkMeasure | null;
}

/** Where change events are written while consumers are stopped. */
export interface BacklogWriter {
  readonly topic: string;
  readonly schemas: SchemaSource | undefined;
  readonly expected: ExpectedContent;
  /** Resolves when they are in Kafka. */
  write(records: number, phase: string): Promise<WriteMeasure>;
  close(): Promise<void>;
}

/** A consumer group that has a checkpoint, and what its consumers write to. */
interface Stopped {
  readonly groupId: string;
  readonly target: OpenTarget;
  readonly committed: ReadonlyMap<number, bigint>;
}

/**
 * Every group handles the first records and stops; then the backlog is written; then the groups resume one after the other, in another
 * order each round.
 */
export async function runDrain(plan: DrainPlan): Promise<DrainOutcome> {
  const { cluster, interrupt } = plan;
  const contenders = contendersOf(cluster, plan);
  const writer = await (plan.openWriter ?? openKafkaWriter)(plan);
  const stopped = new Map<string, Stopped>();
  try {
    await writer.write(plan.checkpointRecords, "writing what comes before the checkpoint");
    const sinks = plan.slowSinkMs === null ? [] : [sinksTarget(plan.tuning, null), sinksTarget(plan.tuning, plan.slowSinkMs)];
    const groups = contenders.length * plan.rounds + sinks.length;
    plan.observer.note(`${groups} consumers, one after the other: each handles the first events, commits and stops`);
    for (let round = 0; round < plan.rounds; round++) {
      for (const contender of contenders) {
        const name = nameOf(contender, round);
        await stopAtCheckpoint(plan, writer, stopped, groups, name, () => contender.open(round));
      }
    }
    for (const [i, target] of sinks.entries()) {
      await stopAtCheckpoint(plan, writer, stopped, groups, `sinks-${i}`, async () => target);
    }
    if (interrupt.aborted) {
      return { backlog: null, drains: [], slowSink: null };
    }
    plan.observer.note(`writing the backlog: ${plan.records.toLocaleString("en-US")} events`);
    const written = await writer.write(plan.records, `writing the backlog with ${plan.writers} writers`);
    const backlog = backlogMeasure(plan, writer, written);
    plan.observer.note(`resuming ${groups} consumers, one after the other`);
    const drains = await resumeAll(plan, writer, stopped, contenders);
    const slowSink = await measureSinks(plan, writer, stopped, sinks);
    return { backlog, drains, slowSink };
  } finally {
    await Promise.all([...stopped.values()].map(({ target }) => target.close().catch(() => {}))); // what it made is removed in any case
    await writer.close();
  }
}

async function openKafkaWriter(plan: DrainPlan): Promise<BacklogWriter> {
  const { cluster, records, checkpointRecords, partitions } = plan;
  const topic = cluster.name("events");
  await cluster.makeTopic(topic, { partitions });
  const backlog = await openBacklog({ ...plan, cluster, topic, records: records + checkpointRecords });
  return {
    topic,
    schemas: backlog.schemas,
    get expected() {
      return backlog.expected;
    },
    write: (count, phase) => backlog.write(count, phase),
    close: () => backlog.close(),
  };
}

function backlogMeasure(plan: DrainPlan, { topic }: BacklogWriter, written: WriteMeasure): BacklogMeasure {
  return {
    via: plan.openWriter === null ? "kafka" : "postgres",
    format: plan.format.title,
    topic,
    partitions: plan.partitions,
    writers: plan.writers,
    checkpointRecords: plan.checkpointRecords,
    records: written.records,
    bytes: written.bytes,
    writeMs: written.elapsedMs,
    writtenPerSecond: written.perSecond,
    ...(written.insertedPerSecond !== undefined && { insertedPerSecond: written.insertedPerSecond }),
  };
}

/** Consumes what is there, and stops. What this warms up (connections of the brokers, compiled code) is warm for all that follow. */
async function stopAtCheckpoint(
  plan: DrainPlan,
  writer: BacklogWriter,
  stopped: Map<string, Stopped>,
  groups: number,
  name: string,
  open: () => Promise<OpenTarget>,
): Promise<void> {
  if (plan.interrupt.aborted) {
    return;
  }
  const { cluster } = plan;
  const target = await open();
  const groupId = await cluster.makeGroup(name);
  stopped.set(name, { groupId, target, committed: new Map() });
  const phase = `to the checkpoint, group ${stopped.size} of ${groups}`;
  await catchUp({ ...(await positionOf(plan, writer)), groupId, target, proxy: null, phase, expectedRecords: plan.checkpointRecords });
  stopped.set(name, { groupId, target, committed: await cluster.committedOf(groupId, writer.topic) });
}

async function positionOf(
  { cluster, tuning, interrupt, observer }: DrainPlan,
  { topic, schemas }: BacklogWriter,
): Promise<Pick<Parameters<typeof catchUp>[0], "connection" | "topics" | "ends" | "tuning" | "schemas" | "interrupt" | "observer">> {
  return {
    connection: cluster.connection,
    topics: [topic],
    ends: await cluster.endsOf([topic]),
    tuning,
    schemas,
    interrupt,
    observer,
  };
}

async function resumeAll(
  plan: DrainPlan,
  writer: BacklogWriter,
  stopped: ReadonlyMap<string, Stopped>,
  contenders: readonly Contender[],
): Promise<readonly ContenderMeasure[]> {
  const rounds = new Map<Contender, DrainRound[]>(contenders.map((contender) => [contender, []]));
  let done = 0;
  for (let round = 0; round < plan.rounds; round++) {
    for (let turn = 0; turn < contenders.length && !plan.interrupt.aborted; turn++) {
      const contender = contenders[(round + turn) % contenders.length] as Contender; // there is one
      const phase = `resume ${++done} of ${contenders.length * plan.rounds}, ${contender.label}`;
      rounds.get(contender)?.push(await resume(plan, writer, stopped.get(nameOf(contender, round)) as Stopped, phase));
    }
  }
  return [...rounds].filter(([, measured]) => measured.length > 0).map(([contender, measured]) => contenderMeasure(contender, measured));
}

async function resume(plan: DrainPlan, writer: BacklogWriter, stopped: Stopped, phase: string): Promise<DrainRound> {
  const { target, committed } = stopped;
  const measure = await resumed(plan, writer, stopped, phase);
  const { firstOffsets, ...rest } = measure;
  const isComplete = measure.outcome === "caught-up";
  const check = isComplete && target.check !== undefined ? await target.check(writer.expected) : null;
  await target.close();
  return { ...rest, resumedAtCheckpoint: resumedAtCheckpoint(writer.topic, committed, firstOffsets), check };
}

async function resumed(
  plan: DrainPlan,
  writer: BacklogWriter,
  { groupId, target, committed }: Stopped,
  phase: string,
): Promise<CatchUpMeasure> {
  const proxy = plan.usesProxy ? await openFaultProxy(plan.faults) : null;
  try {
    const position = await positionOf(plan, writer);
    const ends = pendingEnds(position.ends, writer.topic, committed);
    return await plan.record(() => catchUp({ ...position, ends, groupId, target, proxy, phase, expectedRecords: plan.records }));
  } finally {
    await proxy?.close();
  }
}

async function measureSinks(
  plan: DrainPlan,
  writer: BacklogWriter,
  stopped: ReadonlyMap<string, Stopped>,
  sinks: readonly SinksTarget[],
): Promise<SlowSinkMeasure | null> {
  const measures: CatchUpMeasure[] = [];
  for (const i of sinks.keys()) {
    if (!plan.interrupt.aborted) {
      const phase = i === 0 ? "a fast sink alone" : "a fast sink beside a slow one";
      measures.push(await resumed(plan, writer, stopped.get(`sinks-${i}`) as Stopped, phase));
    }
  }
  const [alone, both] = measures;
  const slow = sinks[1]?.slowRate() ?? null;
  return alone === undefined || both === undefined || slow === null || plan.slowSinkMs === null
    ? null
    : { delayMs: plan.slowSinkMs, alone: alone.rate, fast: both.rate, slow };
}

function nameOf({ label }: Contender, round: number): string {
  return `${label.replace(", ", "-")}-${round + 1}`;
}
