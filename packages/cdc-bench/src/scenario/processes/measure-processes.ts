import { availableParallelism } from "node:os";
import { performance } from "node:perf_hooks";
import { BenchError } from "../../bench-error.ts";
import type { TopicExtent } from "../../load/cluster.ts";
import { whileWaiting } from "../../load/driver-wait-text.ts";
import type { ClusterSource } from "../../load/source.ts";
import type { DriverWait } from "../../measure/driver-waits.ts";
import { unreadOf } from "../../measure/fetch-meter.ts";
import { listenerOf, useOf } from "../../measure/local-process.ts";
import type { Observer } from "../../observe/observer.ts";
import { longAbsenceOf } from "../../registry-fault.ts";
import type { GroupMeasure, GroupOutcome, ProcessMeasure } from "../../result/group-measure.ts";
import type { MemberEnd } from "./member-messages.ts";
import { MemberProcess } from "./member-process.ts";
import { isCompleteGroup } from "./complete-group.ts";
import { spanOf } from "./event-clock.ts";

export interface ProcessesPlan {
  readonly source: ClusterSource;
  readonly extents: readonly TopicExtent[];
  readonly processes: number;
  readonly groupId: string;
  readonly maxDurationMs: number | undefined;
  readonly interrupt: AbortSignal;
  readonly observer: Observer;
}

export interface ProcessesOutcome {
  readonly group: GroupMeasure;
  /** If the group ran dry: what a driver of it waited for. Null if none did. */
  readonly waitsFor: DriverWait | null;
  /** As that of a reading. */
  readonly wasRebalanced: boolean;
}

const joinTimeoutMs = 60_000;
/** A group that handles nothing for so long has nothing left: the last offsets of a log may be transaction markers. */
const maxIdleMs = 10_000;
const lookEveryMs = 50;

/**
 * So many processes consume the topics as one group. They join first. When each has its partitions, all begin together, and are measured
 * together until everything that was there is handled and committed. Rejects with what one of them failed with.
 */
export async function measureProcesses(plan: ProcessesPlan): Promise<ProcessesOutcome> {
  const group = new Group(plan);
  try {
    await group.joined();
    group.begin();
    const outcome = await group.handled();
    // Before the stop, which ends all waits, and takes the partitions away.
    const waitsFor = outcome === "ran-dry" ? group.waitsFor : null;
    const { wasRebalanced } = group;
    return { group: await group.stop(outcome), waitsFor, wasRebalanced };
  } catch (error) {
    plan.interrupt.throwIfAborted(); // a process that has just been started does not listen yet, and the same Ctrl-C ends it
    throw error;
  } finally {
    await group.close();
  }
}

class Group {
  /** Partitions have moved since all began together. */
  wasRebalanced = false;
  readonly #plan: ProcessesPlan;
  readonly #members: readonly MemberProcess[];
  readonly #partitions: number;
  /** The offset after the last record, by topic and partition: of those that are not handled up to there. */
  readonly #pending: Map<string, bigint>;
  /** What is committed of each partition; before that, where its log starts. */
  readonly #reached: Map<string, bigint>;
  readonly #brokerPid: number | null;
  readonly #failed: Promise<never>;
  readonly #startedAtMs = performance.now();
  #changed: () => void = () => {};
  #joinMs = 0;
  #begunAtMs = 0;
  #brokerCpuAtBeginMs = 0;
  #brokerCpuMs: number | null = null;
  #cpuMs: readonly number[] = [];
  #records = 0;
  #lastRecordAtMs = 0;

  constructor(plan: ProcessesPlan) {
    this.#plan = plan;
    const { source, extents, groupId } = plan;
    const setup = { connection: source.connection, registry: source.registry, topics: source.topics, groupId };
    this.#partitions = extents.reduce((sum, { partitions }) => sum + partitions.length, 0);
    this.#pending = new Map(
      extents.flatMap(({ topic, partitions }) =>
        partitions
          .filter(({ startOffset, endOffset }) => endOffset > startOffset)
          .map(({ partition, endOffset }) => [`${topic}-${partition}`, endOffset] as const),
      ),
    );
    this.#reached = new Map(
      extents.flatMap(({ topic, partitions }) =>
        partitions.map(({ partition, startOffset }) => [`${topic}-${partition}`, startOffset] as const),
      ),
    );
    const [broker, ...others] = source.connection.brokers;
    this.#brokerPid = broker === undefined || others.length > 0 ? null : listenerOf(broker);
    this.#members = Array.from(
      { length: plan.processes },
      (_, index) =>
        new MemberProcess({
          setup,
          number: index + 1,
          changed: () => this.#changed(),
          reassigned: () => {
            this.wasRebalanced ||= this.#begunAtMs > 0;
          },
          committed: (offsets) => offsets.forEach(({ topic, partition, offset }) => this.#committed(`${topic}-${partition}`, offset)),
        }),
    );
    this.#failed = Promise.race(this.#members.map(({ ended }) => ended.then(() => new Promise<never>(() => {}))));
    this.#failed.catch(() => {}); // each wait races it
  }

  /** Of the first process that waits. Null if none does. */
  get waitsFor(): DriverWait | null {
    return this.#members.map(({ progress }) => progress?.waitsFor ?? null).find((wait) => wait !== null) ?? null;
  }

  /** Until every process has joined the group. What a member that is late takes from the others would be in the figures. */
  async joined(): Promise<void> {
    const { processes, interrupt, observer } = this.#plan;
    await this.#until(() => {
      const counts = this.#members.map(({ partitions }) => partitions);
      observer.observe(() => ({
        phase: this.#whileWaiting(`${processes} processes join`),
        done: sum(counts.map((count) => count ?? 0)),
        total: this.#partitions,
        unit: "partitions",
      }));
      if (performance.now() - this.#startedAtMs > joinTimeoutMs) {
        throw new BenchError(
          "connection",
          `${this.#whileWaiting(`after ${joinTimeoutMs / 1e3} s ${shares(counts)} of ${this.#partitions} partitions`)}.`,
        );
      }
      return interrupt.aborted || isCompleteGroup(counts, this.#partitions);
    });
    this.#joinMs = performance.now() - this.#startedAtMs;
  }

  begin(): void {
    this.#begunAtMs = performance.now();
    this.#lastRecordAtMs = this.#begunAtMs;
    this.#brokerCpuAtBeginMs = this.#brokerCpuNow() ?? 0;
    this.#members.forEach((member) => member.tell({ kind: "begin" }));
  }

  async handled(): Promise<GroupOutcome> {
    const { interrupt, maxDurationMs = Number.POSITIVE_INFINITY } = this.#plan;
    let outcome: GroupOutcome = "end-reached";
    await this.#until(() => {
      this.#look();
      const nowMs = performance.now();
      if (this.#pending.size > 0 && interrupt.aborted) {
        outcome = "interrupted";
      } else if (this.#pending.size > 0 && nowMs - this.#begunAtMs >= maxDurationMs) {
        outcome = "time-up";
      } else if (this.#pending.size > 0 && nowMs - this.#lastRecordAtMs >= maxIdleMs) {
        outcome = "ran-dry";
      }
      return this.#pending.size === 0 || outcome !== "end-reached";
    });
    return outcome;
  }

  async stop(outcome: GroupOutcome): Promise<GroupMeasure> {
    const partitions = this.#members.map((member) => member.partitions ?? 0);
    const isBrokenOff = (outcome === "time-up" || outcome === "interrupted") && unreadOf(this.#pending, this.#reached) > 0;
    const brokenOffAtMs = isBrokenOff ? performance.timeOrigin + performance.now() : null;
    this.#members.forEach((member) => member.tell({ kind: "stop" }));
    const ends = await Promise.all(this.#members.map(({ ended }) => ended));
    const { processes } = this.#plan;
    return summarize(ends, partitions, {
      outcome,
      unread: outcome === "ran-dry" ? unreadOf(this.#pending, this.#reached) : 0,
      processes,
      joinMs: this.#joinMs,
      brokenOffAtMs,
      cpuMs: this.#cpuMs,
      brokerCpuMs: this.#brokerCpuMs,
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.#members.map((member) => member.close()));
  }

  /** Notes how far all are. What processes and broker use counts as long as records come: what follows is the stop. */
  #look(): void {
    const { extents, observer, processes } = this.#plan;
    const records = sum(this.#members.map(({ progress }) => progress?.records ?? 0));
    const registryAwayMs = Math.max(...this.#members.map(({ progress }) => progress?.registryAwayMs ?? 0));
    const absence = longAbsenceOf(registryAwayMs);
    if (absence !== null) {
      throw absence;
    }
    const isWaitingForRegistry = registryAwayMs > 0;
    if (isWaitingForRegistry) {
      this.#lastRecordAtMs = performance.now(); // a group that waits for schemas has not run dry
    }
    if (records > this.#records) {
      this.#records = records;
      this.#lastRecordAtMs = performance.now();
      this.#cpuMs = this.#members.map(({ progress }) => progress?.cpuMs ?? 0);
      const now = this.#brokerCpuNow();
      this.#brokerCpuMs = now === null ? null : now - this.#brokerCpuAtBeginMs;
    }
    const total = Number(extents.reduce((all, { maxRecords }) => all + maxRecords, 0n));
    const phase = this.#whileWaiting(`${processes} processes, one group`, isWaitingForRegistry);
    observer.observe(() => ({ phase, done: records, total, countsOffsets: true, lag: Math.max(0, total - records) }));
  }

  #whileWaiting(doing: string, isWaitingForRegistry = false): string {
    return whileWaiting(doing, { isWaitingForRegistry, waitsFor: this.waitsFor });
  }

  #brokerCpuNow(): number | null {
    return this.#brokerPid === null ? null : (useOf(this.#brokerPid)?.cpuMs ?? null);
  }

  #committed(place: string, offset: bigint): void {
    this.#reached.set(place, offset);
    const end = this.#pending.get(place);
    if (end !== undefined && offset >= end) {
      this.#pending.delete(place);
    }
  }

  /** Asks after every message, and from time to time. Rejects with what a process failed with. */
  async #until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      let timer: NodeJS.Timeout | undefined;
      const changed = new Promise<void>((resolve) => {
        this.#changed = resolve;
        timer = setTimeout(resolve, lookEveryMs);
      });
      await Promise.race([changed, this.#failed]).finally(() => clearTimeout(timer));
    }
  }
}

function shares(counts: readonly (number | null)[]): string {
  const joined = counts.filter((count) => count !== null);
  return `${joined.length} of ${counts.length} processes have joined the group, with ${joined.join(", ") || "none"}`;
}

interface GroupFacts extends Pick<GroupMeasure, "outcome" | "unread" | "joinMs"> {
  readonly processes: number;
  /** Milliseconds since the epoch. Null if it ended by itself. */
  readonly brokenOffAtMs: number | null;
  readonly cpuMs: readonly number[];
  readonly brokerCpuMs: number | null;
}

function summarize(ends: readonly MemberEnd[], partitions: readonly number[], facts: GroupFacts): GroupMeasure {
  const elapsedMs = spanOf(ends, facts.brokenOffAtMs);
  const total = (of: (end: MemberEnd) => number): number => sum(ends.map(of));
  const records = total((end) => end.records);
  const cores = availableParallelism();
  const shareOfCores = (cpuMs: number): number => (elapsedMs === 0 ? 0 : cpuMs / (elapsedMs * cores));
  const { brokerCpuMs } = facts;
  return {
    outcome: facts.outcome,
    unread: facts.unread,
    joinMs: facts.joinMs,
    records,
    events: total((end) => end.events),
    errorRecords: total((end) => end.errorRecords),
    bytes: total((end) => end.bytes),
    elapsedMs,
    recordsPerSecond: perSecond(records, elapsedMs),
    megabytesPerSecond:
      perSecond(
        total((end) => end.bytes),
        elapsedMs,
      ) / 1e6,
    cores,
    clientCpuShare: shareOfCores(sum(facts.cpuMs)),
    broker: brokerCpuMs === null ? null : { cpuMs: brokerCpuMs, cpuShare: shareOfCores(brokerCpuMs) },
    processes: ends.map((end, i) => processMeasure(end, i + 1, partitions[i] ?? 0, records, facts.cpuMs[i] ?? 0)),
  };
}

function processMeasure(end: MemberEnd, number: number, partitions: number, allRecords: number, cpuMs: number): ProcessMeasure {
  const elapsedMs = spanOf([end]);
  const { records, events, errorRecords, bytes, maxRssBytes, formats, errors } = end;
  return {
    number,
    partitions,
    records,
    events,
    errorRecords,
    bytes,
    share: allRecords === 0 ? 0 : records / allRecords,
    elapsedMs,
    recordsPerSecond: perSecond(records, elapsedMs),
    cpuMs,
    maxRssBytes,
    formats,
    errors,
  };
}

function perSecond(amount: number, elapsedMs: number): number {
  return elapsedMs === 0 ? 0 : (amount / elapsedMs) * 1e3;
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((all, amount) => all + amount, 0);
}
