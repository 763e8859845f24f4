import {
  deadLetterOf,
  type DriverSession,
  type DriverSink,
  type FetchedBatch,
  type KafkaDriver,
  type LostRange,
  type OpenWait,
  type OffsetCommit,
  type OutgoingRecord,
  type PartitionAssignment,
  type Logger,
  silentLogger,
  type Subscription,
  type WaitFor,
} from "@cdckit/consumer";
import type { KafkaRecord } from "@cdckit/decode";
import { BenchError, sentenceOf } from "../bench-error.ts";
import type { PartitionExtent } from "../load/cluster.ts";
import { recordsOf } from "../load/record-feed.ts";
import { requireWhole } from "../load/whole-reading.ts";
import { DriverWaits } from "../measure/driver-waits.ts";
import { unreadOf } from "../measure/fetch-meter.ts";
import type { RedrivePlan, RedriveDecision } from "./redrive-plan.ts";
import type { RedriveTally } from "./redrive-tally.ts";

/** What goes to the brokers together: well below what they take at once. */
const maxSendRecords = 500;
const maxSendBytes = 262_144;
const closeDeadlineMs = 5_000;
const lookEveryMs = 200;
/** A redrive that is killed holds its partitions so long. It beats while it writes, so a short session costs it nothing. */
export const redriveSessionMs = 10_000;
/** Nothing comes for so long of what is held: the last offsets are transaction markers, or brokers hand nothing over. */
const maxIdleMs = 10_000;
/**
 * So long what another member holds is waited for. It may be a redrive that was killed: the group keeps giving it partitions until its session
 * runs out, which a join that waits for others can put off by another session.
 */
const maxForeignMs = 3 * redriveSessionMs;

/** A partition of the dead-letter topic, and how far its group has come. */
export interface DeadLetterPartition extends PartitionExtent {
  /** Null if the group has nothing committed. */
  readonly committed: bigint | null;
}

/** How many offsets a redrive goes through. A group may be past the end of a partition whose topic was made anew: none of that one. */
export function offsetsLeftOf(partitions: readonly DeadLetterPartition[]): number {
  return partitions.reduce((sum, { startOffset, endOffset, committed }) => {
    const from = committed === null || committed < startOffset ? startOffset : committed;
    return sum + Math.max(0, Number(endOffset - from));
  }, 0);
}

export interface RedriveRunOptions {
  readonly driver: KafkaDriver;
  readonly groupId: string;
  readonly topic: string;
  readonly partitions: readonly DeadLetterPartition[];
  readonly plan: RedrivePlan;
  readonly tally: RedriveTally;
  readonly limit: number;
  /** Nothing is written, and nothing committed. */
  readonly isDryRun: boolean;
  /** Reads from the start what decides about later records; what the group has committed is not written again. */
  readonly fromStart: boolean;
  readonly interrupt: AbortSignal;
  /** What the driver logs to. @default nothing is logged */
  readonly logger?: Logger;
  /**
   * How long nothing may come before the run ends, in milliseconds.
   * @default 10 s, and three sessions; meant for tests
   */
  readonly maxIdleMs?: number;
  readonly maxForeignMs?: number;
  /** Rejects if a topic that is taken for missing is one that the user may not see: its records must not be passed over. */
  readonly requireSeen: (topic: string) => Promise<void>;
  /** Told after every record that is done with. */
  readonly decided: () => void;
}

interface Decided {
  readonly decision: RedriveDecision;
  readonly dead: KafkaRecord;
}

/** Reads a dead-letter topic to its present end, writes each record back, and commits what is written. */
export class RedriveRun implements DriverSink {
  readonly #options: RedriveRunOptions;
  readonly #pending: Map<number, bigint>;
  /** Up to where each partition is done: by what the group has committed, and by this run, which a partition comes back to after a rebalance. */
  readonly #done: Map<number, bigint>;
  /** Up to where it is known of each partition what retention took. */
  readonly #countedTo: Map<number, bigint> = new Map();
  /** Up to where each partition was read, by this run. */
  readonly #reached: Map<number, bigint>;
  /** Partitions of which something was written, or was to be. */
  readonly #begun = new Set<number>();
  readonly #waits = new DriverWaits();
  readonly #held = new Set<PartitionAssignment>();
  readonly #ended: Promise<void>;
  readonly #connected: Promise<DriverSession>;
  #resolveEnded: () => void = () => {};
  #rejectEnded: (error: Error) => void = () => {};
  #resolveConnected: (session: DriverSession) => void = () => {};
  /** One chunk at a time: the order of the partitions is that of the writes. */
  #line: Promise<void> = Promise.resolve();
  #isOver = false;
  #lastSignMs = 0;
  /** Batches that wait, or are being written: that takes as long as it takes. */
  #atWork = 0;

  constructor(options: RedriveRunOptions) {
    this.#options = options;
    const { partitions, fromStart } = options;
    this.#done = new Map(partitions.map(({ partition, committed }) => [partition, committed ?? 0n]));
    for (const { partition, startOffset, committed } of partitions) {
      this.#countGone(partition, committed ?? startOffset, startOffset);
    }
    this.#reached = new Map(
      partitions.map(({ partition, startOffset, committed }) => {
        const goesOn = !fromStart && committed !== null && committed > startOffset;
        return [partition, goesOn ? committed : startOffset];
      }),
    );
    const unread = partitions.filter(({ startOffset, endOffset, committed }) => endOffset > startOffset && endOffset > (committed ?? 0n));
    this.#pending = new Map(unread.map(({ partition, endOffset }) => [partition, endOffset]));
    this.#connected = new Promise((resolve) => {
      this.#resolveConnected = resolve;
    });
    this.#ended = new Promise((resolve, reject) => {
      this.#resolveEnded = resolve;
      this.#rejectEnded = reject;
    });
    this.#ended.catch(() => {}); // run() awaits it, perhaps later
  }

  /** Rejects if records that were there at its begin have not come. */
  async run(): Promise<void> {
    const { driver, groupId, topic, interrupt, logger = silentLogger } = this.#options;
    // What retention took since the last redrive is gone: the records that are there are redriven all the same.
    const subscription = { groupId, topics: [topic], from: "earliest", lostRange: "earliest", logger, signal: interrupt } as const;
    const session = await driver.connect({ ...subscription, ...this.#startAt() }, this).catch((error: unknown) => {
      if (interrupt.aborted) {
        return null; // it gave up because it was told to
      }
      throw error;
    });
    if (session === null) {
      return;
    }
    this.#resolveConnected(session);
    const over = (): void => this.#over();
    interrupt.addEventListener("abort", over);
    const looking = setInterval(() => this.#endIfIdle(), lookEveryMs);
    try {
      if (interrupt.aborted) {
        over();
      }
      await this.#ended;
      await this.#line;
    } finally {
      this.#over();
      clearInterval(looking);
      interrupt.removeEventListener("abort", over);
      await session.close(closeDeadlineMs);
    }
  }

  assigned(assignments: readonly PartitionAssignment[]): void {
    this.#lastSignMs = performance.now();
    for (const assignment of assignments) {
      this.#held.add(assignment);
    }
  }

  /** What another member has done meanwhile need not come. */
  startsAt({ partition }: PartitionAssignment, offset: bigint): void {
    this.#reached.set(partition, offset);
    this.#finishBehindBatches(partition, offset);
  }

  /** What is being written is acknowledged and committed before the partitions go. */
  async revoked(assignments: readonly PartitionAssignment[]): Promise<void> {
    for (const assignment of assignments) {
      this.#held.delete(assignment);
    }
    await this.#line.catch(() => {});
  }

  batch(batch: FetchedBatch): Promise<void> | undefined {
    if (this.#isOver) {
      return undefined;
    }
    this.#atWork++;
    const handled = this.#line
      .then(() => this.#redrive(batch))
      .finally(() => {
        this.#atWork--;
        this.#lastSignMs = performance.now();
      });
    this.#line = handled;
    return handled.catch((error: unknown) => this.failed(error as Error));
  }

  skipped({ partition }: PartitionAssignment, { firstMissing, firstAvailable, recreated }: LostRange, resumeOffset: bigint): void {
    if (recreated !== undefined) {
      this.#done.set(partition, resumeOffset); // what the group has committed was of the topic before
      return;
    }
    this.#countGone(partition, firstMissing, firstAvailable);
    this.#reached.set(partition, resumeOffset);
    this.#finishBehindBatches(partition, resumeOffset);
  }

  waiting(wait: WaitFor): OpenWait {
    return this.#waits.watch(wait, undefined);
  }

  failed(error: Error): void {
    this.#isOver = true;
    this.#rejectEnded(error);
  }

  #startAt(): Pick<Subscription, "startAt"> {
    if (!this.#options.fromStart) {
      return {};
    }
    const starts = new Map(this.#options.partitions.map(({ partition, startOffset }) => [partition, startOffset]));
    const startOf = (assignment: PartitionAssignment): OffsetCommit => ({ assignment, offset: starts.get(assignment.partition) ?? 0n });
    return { startAt: async (assignments) => assignments.map(startOf) };
  }

  async #redrive(batch: FetchedBatch): Promise<void> {
    const session = await this.#connected;
    const { partition } = batch;
    const end = this.#pending.get(partition);
    if (end === undefined) {
      return;
    }
    for (const chunk of chunksOf(this.#decide(batch, end), { isFirst: !this.#begun.has(partition) })) {
      this.#begun.add(partition);
      await this.#write(session, batch.assignment, chunk);
    }
    if (this.#mayWrite(batch.assignment)) {
      this.#reached.set(partition, batch.nextOffset);
    }
    if (batch.nextOffset >= end && this.#mayWrite(batch.assignment)) {
      await this.#commit(session, batch.assignment, end);
      this.#finish(partition);
    }
  }

  /** After the batches that were handed over: a run that is over writes none of them. */
  #finishBehindBatches(partition: number, offset: bigint): void {
    this.#line = this.#line.then(() => {
      if (offset >= (this.#pending.get(partition) ?? offset + 1n)) {
        this.#finish(partition);
      }
    });
    this.#line.catch(() => {}); // batch() tells of it
  }

  #finish(partition: number): void {
    this.#pending.delete(partition);
    if (this.#pending.size === 0) {
      this.#over();
    }
  }

  /** What the group has committed, and what was counted before, is not counted. */
  #countGone(partition: number, from: bigint, to: bigint): void {
    const before = [from, this.#done.get(partition) ?? 0n, this.#countedTo.get(partition) ?? 0n].reduce((a, b) => (a > b ? a : b));
    if (to > before) {
      this.#options.tally.gone += Number(to - before);
      this.#countedTo.set(partition, to);
    }
  }

  /**
   * Whether records may be written: asked before each of them is decided. The partition may be revoked while a chunk is written; what was
   * decided after that, and dropped, would count toward the limit, and the plan would remember it, although it is read again.
   */
  #mayWrite(assignment: PartitionAssignment): boolean {
    return !this.#isOver && this.#held.has(assignment);
  }

  /** A chunk is decided and begun without a pause, so everything that is decided is written. */
  *#decide(batch: FetchedBatch, end: bigint): Generator<Decided, void, void> {
    const { plan, limit, tally } = this.#options;
    const done = this.#done.get(batch.partition) ?? 0n;
    let left = limit - tally.redriven;
    for (const dead of recordsOf(batch)) {
      if (dead.offset >= end || left <= 0 || !this.#mayWrite(batch.assignment)) {
        return;
      }
      const decision = plan.decide(dead);
      if (dead.offset >= done) {
        left -= decision.kind === "send" ? 1 : 0;
        yield { decision, dead };
      }
    }
  }

  /**
   * If records cannot be written together, one of them may be to blame, as one that is larger than its topic allows: brokers take those beside it.
   * So each is written alone, up to that one, which is the first of the next run and is written alone there, too: no run repeats the others again.
   */
  async #write(session: DriverSession, assignment: PartitionAssignment, chunk: readonly Decided[]): Promise<void> {
    await this.#requireSeen(chunk);
    const records = chunk.flatMap(({ decision }) => (decision.kind === "send" ? [decision.record] : []));
    if (!this.#options.isDryRun && records.length > 0) {
      try {
        await send(session, records);
      } catch (error) {
        if (chunk.length === 1) {
          throw failureAt(chunk[0]?.dead, error);
        }
        return this.#writeOneByOne(session, assignment, chunk);
      }
    }
    await this.#written(session, assignment, chunk);
  }

  async #writeOneByOne(session: DriverSession, assignment: PartitionAssignment, chunk: readonly Decided[]): Promise<void> {
    for (const one of chunk) {
      if (this.#isOver) {
        return;
      }
      await this.#write(session, assignment, [one]);
    }
  }

  async #written(session: DriverSession, assignment: PartitionAssignment, chunk: readonly Decided[]): Promise<void> {
    const { tally, limit, decided } = this.#options;
    const last = chunk.at(-1);
    if (last !== undefined) {
      await this.#commit(session, assignment, last.dead.offset + 1n);
    }
    for (const { decision, dead } of chunk) {
      tally.count(decision, dead);
      decided();
    }
    if (tally.redriven >= limit) {
      this.#over();
    }
  }

  async #requireSeen(chunk: readonly Decided[]): Promise<void> {
    const missing = chunk.filter(({ decision }) => decision.kind === "leave" && decision.reason === "topic-missing");
    for (const topic of new Set(missing.map(({ dead }) => deadLetterOf(dead)?.topic ?? ""))) {
      await this.#options.requireSeen(topic);
    }
  }

  async #commit(session: DriverSession, assignment: PartitionAssignment, offset: bigint): Promise<void> {
    if (!this.#options.isDryRun) {
      await session.commit([{ assignment, offset }]);
    }
    this.#done.set(assignment.partition, offset);
  }

  #endIfIdle(): void {
    const { maxIdleMs: idleMs = maxIdleMs, maxForeignMs: foreignMs = maxForeignMs } = this.#options;
    const held = new Set([...this.#held].map(({ partition }) => partition));
    const holdsAll = [...this.#pending.keys()].every((partition) => held.has(partition));
    if (this.#lastSignMs > 0 && this.#atWork === 0 && performance.now() - this.#lastSignMs > (holdsAll ? idleMs : foreignMs)) {
      try {
        this.#requireRead(held);
        this.#over();
      } catch (error) {
        this.failed(error as Error);
      }
    }
  }

  /** What has not come looks like the end of the topic, and the rest of it would count as all. */
  #requireRead(held: ReadonlySet<number>): void {
    const { topic, groupId } = this.#options;
    const foreign = new Map([...this.#pending].filter(([partition]) => !held.has(partition)));
    if (unreadOf(foreign, this.#reached) > 0) {
      const places = `${topic}[${[...foreign.keys()].join(", ")}]`;
      throw new BenchError(
        "too-few-messages",
        `group ${groupId} gave ${places} to another member, and its records are not in this result. If another redrive is under way, wait for it and try again.`,
      );
    }
    requireWhole([topic], { unread: unreadOf(this.#pending, this.#reached), waitsFor: this.#waits.longest });
    for (const [partition, end] of this.#pending) {
      this.#options.tally.unseen += Number(end - (this.#reached.get(partition) ?? 0n));
    }
  }

  #over(): void {
    this.#isOver = true;
    this.#resolveEnded();
  }
}

async function send(session: DriverSession, records: readonly OutgoingRecord[]): Promise<void> {
  if (session.send === undefined) {
    throw new BenchError("usage", "this driver cannot write.");
  }
  await session.send(records);
}

/** With the place of the dead letter that could not be written: whoever corrects what is wrong has to look at it. */
function failureAt(dead: KafkaRecord | undefined, error: unknown): unknown {
  if (dead === undefined || !(error instanceof Error) || (error as { readonly code?: unknown }).code !== "send-failed") {
    return error;
  }
  const detail = `the dead letter at ${dead.topic}[${dead.partition}]@${dead.offset} was not written: ${sentenceOf(error.message)}`;
  return new BenchError("connection", detail, { cause: error });
}

/** `isFirst`: the first record goes alone, because it may be the one at which the last run has failed. */
function* chunksOf(decided: Iterable<Decided>, { isFirst }: { readonly isFirst: boolean }): Generator<readonly Decided[], void, void> {
  let chunk: Decided[] = [];
  let bytes = 0;
  let maxRecords = isFirst ? 1 : maxSendRecords;
  for (const one of decided) {
    chunk.push(one);
    bytes += (one.dead.key?.length ?? 0) + (one.dead.value?.length ?? 0);
    if (chunk.length >= maxRecords || bytes >= maxSendBytes) {
      yield chunk;
      chunk = [];
      bytes = 0;
      maxRecords = maxSendRecords;
    }
  }
  if (chunk.length > 0) {
    yield chunk;
  }
}
