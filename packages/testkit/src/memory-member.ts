import type {
  Clock,
  DriverSession,
  DriverSink,
  LogRange,
  LostRange,
  OffsetCommit,
  OpenWait,
  OutgoingRecord,
  PartitionAssignment,
  Subscription,
} from "@cdckit/consumer";
import type { AppendedRecord, MemoryBroker } from "./memory-broker.ts";
import { resumeOffset, lostRangeAt, lostRangeError, MemoryBrokerError, type Position } from "./memory-error.ts";
import type { BrokerOperation } from "./memory-faults.ts";
import { type FetchPosition, MemoryFetcher } from "./memory-fetcher.ts";
import type { MemoryGroup } from "./memory-group.ts";

export interface MemberParts {
  readonly broker: MemoryBroker;
  /** The client's own. */
  readonly clock: Clock;
  readonly subscription: Subscription;
  readonly sink: DriverSink;
  readonly maxBatchRecords: number;
  readonly partitionsConsumedConcurrently: number;
}

/** One member of a group: what it holds, and what it asks the broker for. */
export class MemoryMember implements DriverSession {
  readonly #parts: MemberParts;
  readonly #group: MemoryGroup;
  readonly #fetcher: MemoryFetcher;
  readonly #held = new Map<PartitionAssignment, FetchPosition>();
  /** Of the partitions that this member has held, which topic they were of, and how far it had come. */
  readonly #heldBefore = new Map<string, Position>();
  /** What the consumer is asked to let go of, and has not. */
  readonly #draining = new Set<PartitionAssignment>();
  /** Where the last transaction of an assignment has ended, until its answer is there. */
  readonly #doubted = new Map<PartitionAssignment, bigint>();
  /** Requests on one connection are answered in the order in which they were sent. */
  readonly #coordinator: RequestLine = new RequestLine();
  readonly #writer: RequestLine = new RequestLine();
  /** How many partitions each topic had when this member was made. */
  readonly #partitionsAtFirst: ReadonlyMap<string, number>;
  /** Topics of the subscription that were deleted. */
  readonly #missing = new Map<string, OpenWait | undefined>();
  #cancelBeat: () => void = () => {};
  #closing: Promise<void> | undefined;
  #hasFailed = false;

  constructor(parts: MemberParts) {
    this.#parts = parts;
    this.#group = parts.broker.group(parts.subscription.groupId);
    this.#partitionsAtFirst = new Map(parts.broker.topics().map((topic) => [topic, parts.broker.partitions(topic)]));
    this.#fetcher = new MemoryFetcher({
      ...parts,
      groupId: parts.subscription.groupId,
      positions: this.#held,
      failed: (error) => this.fail(error),
      missed: (assignment, lost) => this.#missed(assignment, lost),
    });
  }

  /** Sends heartbeats until it is closed, if members have sessions. The join counts as the first acknowledgement. */
  beatUntilClosed(): void {
    const { sessionTimeoutMs } = this.#parts.broker;
    if (sessionTimeoutMs !== Infinity) {
      this.#parts.sink.acknowledged?.(sessionTimeoutMs);
      this.#beatLater();
    }
  }

  /** Hands over batches until it is closed. */
  fetchUntilClosed(): Promise<void> {
    return this.#fetcher.run();
  }

  subscribes(topic: string): boolean {
    return this.#parts.subscription.topics.some((wanted) => (typeof wanted === "string" ? wanted === topic : topic.search(wanted) !== -1));
  }

  assignments(): readonly PartitionAssignment[] {
    return [...this.#held.keys()];
  }

  assign(assignments: readonly PartitionAssignment[]): void {
    if (assignments.length === 0 || this.#isOver) {
      return;
    }
    for (const assignment of assignments) {
      this.#held.set(assignment, { assignment, offset: null, reached: null, uncommittedStart: null, isPaused: false, isBusy: false });
    }
    this.#parts.sink.assigned(assignments);
    const { startAt } = this.#parts.subscription;
    if (startAt === undefined) {
      this.#start(assignments, []);
    } else {
      void startAt(assignments).then((starts) => this.#start(assignments, starts));
    }
  }

  /** Resolves when the consumer is done with them; they are held until `drop`. */
  async revoke(assignments: readonly PartitionAssignment[]): Promise<void> {
    if (assignments.length > 0 && !this.#isOver) {
      this.pause(assignments);
      for (const assignment of assignments) {
        this.#draining.add(assignment);
      }
      await this.#parts.sink.revoked(assignments, "revoked");
      for (const assignment of assignments) {
        this.#draining.delete(assignment);
      }
    }
  }

  /** The group has gone on without this member: what it lets go of just then is another member's too, and its drain must not go on. */
  loseAll(): Promise<void> {
    return this.lose([...new Set([...this.assignments(), ...this.#draining])]);
  }

  async lose(assignments: readonly PartitionAssignment[]): Promise<void> {
    this.drop(assignments);
    if (assignments.length > 0 && !this.#isOver) {
      await this.#parts.sink.revoked(assignments, "lost");
    }
  }

  drop(assignments: readonly PartitionAssignment[]): void {
    for (const assignment of assignments) {
      const { topic, partition, topicId } = assignment;
      const offset = this.#held.get(assignment)?.offset ?? null;
      if (offset !== null) {
        this.#heldBefore.set(placeOf(assignment), { topic, partition, topicId, offset });
      }
      this.#held.delete(assignment);
    }
  }

  /** Reports topics of the subscription that were deleted, until they are there again. */
  noteTopics(existing: readonly string[]): void {
    const { subscription, sink } = this.#parts;
    for (const topic of subscription.topics.filter((wanted) => typeof wanted === "string")) {
      if (existing.includes(topic)) {
        this.#missing.get(topic)?.end();
        this.#missing.delete(topic);
      } else if (!this.#missing.has(topic) && !this.#isOver) {
        const cause = new MemoryBrokerError("topic-missing", `there is no topic ${topic} any more`);
        this.#missing.set(topic, sink.waiting?.({ what: "the topic", place: topic, cause }));
      }
    }
  }

  /** There may be something to fetch. */
  wake(): void {
    this.#fetcher.wake();
  }

  /** The driver's end, as when a client gives up. */
  fail(error: Error): void {
    if (!this.#isOver) {
      this.#hasFailed = true;
      this.#fetcher.stop();
      this.#parts.sink.failed(error);
    }
  }

  commit(offsets: readonly OffsetCommit[]): Promise<void> {
    return this.#coordinator.send(() => this.#request("commit", () => this.#commitNow(offsets)));
  }

  send(records: readonly OutgoingRecord[]): Promise<void> {
    return this.#writer.send(() =>
      this.#request("send", () => {
        for (const record of records) {
          this.#parts.broker.append(record.topic, this.#appended(record));
        }
      }),
    );
  }

  transact(records: readonly OutgoingRecord[], offsets: readonly OffsetCommit[]): Promise<void> {
    const transact = async (): Promise<void> => {
      await this.#request("transact", () => this.#transactNow(records, offsets));
      for (const { assignment, offset } of offsets) {
        if (offset >= (this.#doubted.get(assignment) ?? 0n)) {
          this.#doubted.delete(assignment);
        }
      }
    };
    // In line with commits too: one that was asked for earlier must not come later.
    return this.#coordinator.send(() => this.#writer.send(transact));
  }

  ranges(assignments: readonly PartitionAssignment[]): Promise<readonly LogRange[]> {
    return this.#request("ranges", () =>
      assignments.flatMap((assignment) => {
        const { topic, partition, topicId } = assignment;
        if (!this.#parts.broker.hasPartition(topic, partition) || topicId !== this.#parts.broker.topicId(topic)) {
          return []; // its next fetch tells
        }
        const { start, stableEnd } = this.#parts.broker.log(topic, partition);
        const committed = this.#parts.broker.committed(this.#parts.subscription.groupId, topic, partition);
        return [{ assignment, start, end: stableEnd, committed }];
      }),
    );
  }

  seek(assignment: PartitionAssignment, offset: bigint): PartitionAssignment | null {
    const isCurrent = this.#held.has(assignment) && !this.#draining.has(assignment) && !this.#isOver;
    const renewed = isCurrent ? this.#group.renewFor(this, assignment) : null;
    if (renewed !== null) {
      this.drop([assignment]);
      this.#held.set(renewed, { assignment: renewed, offset, reached: null, uncommittedStart: null, isPaused: false, isBusy: false });
      this.#parts.sink.assigned([renewed]);
      this.#parts.sink.startsAt?.(renewed, offset);
      this.wake();
    }
    return renewed;
  }

  pause(assignments: readonly PartitionAssignment[]): void {
    this.#setPaused(assignments, true);
  }

  resume(assignments: readonly PartitionAssignment[]): void {
    this.#setPaused(assignments, false);
    this.wake();
  }

  close(deadlineMs: number): Promise<void> {
    this.#closing ??= this.#leave(deadlineMs);
    return this.#closing;
  }

  /** Where a partition goes on without anybody else's word, or what is gone there. */
  startOf(topic: string, partition: number): bigint | LostRange {
    const { broker, subscription } = this.#parts;
    const committed = broker.commitOf(subscription.groupId, topic, partition);
    if (committed !== null) {
      return lostRangeAt(broker, committed) ?? committed.offset;
    }
    // The commits of a topic go with it: what this member itself has read of it is then all that tells.
    const before = this.#heldBefore.get(placeOf({ topic, partition }));
    if (before !== undefined && before.topicId !== broker.topicId(topic)) {
      return lostRangeAt(broker, before) ?? before.offset;
    }
    const log = broker.log(topic, partition);
    const { from } = subscription;
    if (typeof from === "string") {
      const isNew = partition >= (this.#partitionsAtFirst.get(topic) ?? 0);
      return from === "earliest" || isNew ? log.start : log.stableEnd;
    }
    if ("timestamp" in from) {
      return log.offsetAt(from.timestamp);
    }
    const offset = from.offsets[topic]?.[partition];
    return offset === undefined ? log.start : (lostRangeAt(broker, { topic, partition, offset, topicId: broker.topicId(topic) }) ?? offset);
  }

  #beatLater(): void {
    this.#cancelBeat = this.#parts.clock.after(this.#parts.broker.sessionTimeoutMs / 3, () => {
      if (!this.#isOver) {
        void this.#beat();
        this.#beatLater();
      }
    });
  }

  async #beat(): Promise<void> {
    const { broker, clock, sink } = this.#parts;
    const sentAtMs = clock.nowMs();
    // A beat that fails on its way is followed by the next one.
    const isMember = await this.#request("heartbeat", () => this.#group.hear(this)).catch(() => null);
    if (isMember === true && !this.#isOver) {
      sink.acknowledged?.(broker.sessionTimeoutMs - (clock.nowMs() - sentAtMs));
    } else if (isMember === false) {
      await this.#group.readmit(this);
    }
  }

  get #isOver(): boolean {
    return this.#hasFailed || this.#closing !== undefined;
  }

  #request<T>(operation: BrokerOperation, work: () => T): Promise<T> {
    return this.#parts.broker.faults.perform({ operation, groupId: this.#group.groupId }, work);
  }

  #start(assignments: readonly PartitionAssignment[], starts: readonly OffsetCommit[]): void {
    const given = new Map(starts.map((start) => [start.assignment, start]));
    for (const assignment of assignments) {
      const position = this.#held.get(assignment);
      if (position !== undefined && this.#parts.broker.hasPartition(assignment.topic, assignment.partition)) {
        const own = given.get(assignment);
        const start = own === undefined ? this.startOf(assignment.topic, assignment.partition) : this.#checked(own);
        position.offset = typeof start === "bigint" ? start : this.#skipTo(assignment, start);
        if (position.offset === null) {
          return;
        }
        const isCommitted = this.#parts.broker.commitOf(this.#group.groupId, assignment.topic, assignment.partition) !== null;
        position.uncommittedStart = isCommitted ? null : position.offset;
        if (!isCommitted && this.#startDependsOnTime() && this.#group.owns(this, assignment)) {
          this.#commitNow([{ assignment, offset: position.offset }]); // who takes the partition over would start later
        }
        this.#parts.sink.startsAt?.(assignment, position.offset);
      }
    }
    this.wake();
  }

  #startDependsOnTime(): boolean {
    const { from } = this.#parts.subscription;
    return from === "latest" || (typeof from === "object" && "timestamp" in from);
  }

  #checked({ assignment: { topic, partition }, offset, topicId }: OffsetCommit): bigint | LostRange {
    return lostRangeAt(this.#parts.broker, { topic, partition, offset, topicId }) ?? offset;
  }

  /** What was to be fetched next is gone. Where the partition goes on; null if the member has failed, or goes on with a new assignment. */
  #missed(assignment: PartitionAssignment, lost: LostRange): bigint | null {
    const { topic, partition, topicId } = assignment;
    this.#heldBefore.set(placeOf(assignment), { topic, partition, topicId, offset: lost.firstMissing });
    if (lost.recreated === undefined || resumeOffset(lost, this.#parts.subscription.lostRange) === null) {
      return this.#skipTo(assignment, lost);
    }
    void this.#group.renew(this, assignment);
    return null;
  }

  /** The offset at which the partition goes on, as the subscription says; null if the member has failed. */
  #skipTo(assignment: PartitionAssignment, lost: LostRange): bigint | null {
    const { subscription, sink } = this.#parts;
    const position = resumeOffset(lost, subscription.lostRange);
    if (position === null) {
      this.#commitStarts(lost);
      this.fail(lostRangeError(lost));
    } else {
      sink.skipped?.(assignment, lost, position);
    }
    return position;
  }

  /** Retention has taken records: what it takes of other partitions must not be passed over because the group has no commit of them. */
  #commitStarts({ recreated, firstMissing, firstAvailable }: LostRange): void {
    if (recreated === undefined && firstMissing < firstAvailable) {
      const starts = [...this.#held.values()].flatMap(({ assignment, uncommittedStart, reached }) =>
        uncommittedStart !== null && reached === null && this.#group.owns(this, assignment)
          ? [{ assignment, offset: uncommittedStart }]
          : [],
      );
      this.#commitNow(starts);
    }
  }

  #commitNow(offsets: readonly OffsetCommit[]): void {
    const { groupId } = this.#group;
    for (const { assignment, offset } of offsets) {
      const position = this.#held.get(assignment);
      if (position !== undefined && (position.reached === null || offset > position.reached)) {
        this.#refuseZombie(assignment);
        position.reached = offset;
        const { topic, partition, topicId } = assignment;
        this.#parts.broker.commit({ groupId, topic, partition, offset, topicId: topicId ?? null });
      }
    }
  }

  #transactNow(records: readonly OutgoingRecord[], offsets: readonly OffsetCommit[]): void {
    for (const { assignment } of offsets) {
      this.#refuseZombie(assignment);
    }
    if (offsets.every((entry) => this.#isCarriedOut(entry))) {
      return;
    }
    const transaction = this.#parts.broker.transaction();
    for (const record of records) {
      transaction.append(record.topic, this.#appended(record));
    }
    transaction.commit();
    this.#commitNow(offsets);
    for (const { assignment, offset } of offsets) {
      this.#doubted.set(assignment, offset);
    }
  }

  /** The group is where a transaction has ended whose answer was lost: what it wrote must not be written again. */
  #isCarriedOut({ assignment, offset }: OffsetCommit): boolean {
    const { topic, partition } = assignment;
    const end = this.#doubted.get(assignment);
    return end !== undefined && offset <= end && this.#parts.broker.committed(this.#group.groupId, topic, partition) === end;
  }

  #refuseZombie(assignment: PartitionAssignment): void {
    if (!this.#group.owns(this, assignment)) {
      void this.#group.readmit(this);
      const { topic, partition } = assignment;
      throw new MemoryBrokerError(
        "fenced",
        `group ${this.#group.groupId} has gone on without this member, ${topic}[${partition}] is not its own`,
      );
    }
  }

  #appended({ key, value, headers, partition, timestamp }: OutgoingRecord): AppendedRecord {
    const time = timestamp ?? BigInt(Math.trunc(this.#parts.broker.clock.wallMs()));
    return { key, value, headers, timestamp: time, ...(partition === undefined ? {} : { partition }) };
  }

  #setPaused(assignments: readonly PartitionAssignment[], isPaused: boolean): void {
    for (const assignment of assignments) {
      const position = this.#held.get(assignment);
      if (position !== undefined) {
        position.isPaused = isPaused;
      }
    }
  }

  async #leave(deadlineMs: number): Promise<void> {
    this.drop(this.assignments());
    this.#fetcher.stop();
    this.#cancelBeat();
    let cancel = (): void => {};
    const late = new Promise<void>((resolve) => {
      cancel = this.#parts.broker.clock.after(deadlineMs, resolve);
    });
    await Promise.race([this.#group.leave(this), late]);
    cancel();
  }
}

function placeOf({ topic, partition }: { readonly topic: string; readonly partition: number }): string {
  return `${topic}\0${partition}`;
}

/** One request after the other; what fails does not hold up the next. */
class RequestLine {
  #last: Promise<unknown> = Promise.resolve();

  send<T>(request: () => Promise<T>): Promise<T> {
    const answer = this.#last.then(request);
    this.#last = answer.catch(() => {});
    return answer;
  }
}
