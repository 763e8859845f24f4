import type { DriverSession, LogRange, OffsetCommit, OutgoingRecord, PartitionAssignment } from "@cdckit/consumer";
import {
  PartitionStarter,
  PartitionWaits,
  type Place,
  type GroupAndTopics,
  rangesOf,
  RepeatedLines,
  settledOrLate,
  sharedAbortController,
  TopicWatch,
} from "@cdckit/driver";
import type { EachBatchPayload } from "kafkajs";
import { type Held, HeldPartitions } from "./assignments.ts";
import { AwaitedJoin } from "./awaited-join.ts";
import { isOfCertificate } from "./certificate-fault.ts";
import { GroupCommits } from "./commits.ts";
import { DueJoin } from "./due-join.ts";
import { KafkaJsDriverError, makeError, unreadable } from "./errors.ts";
import { causesOf, explainFailure } from "./explain-failure.ts";
import { GivingUp } from "./giving-up.ts";
import { GroupLease } from "./group-lease.ts";
import { HandOver } from "./hand-over.ts";
import { Heartbeats } from "./heartbeat.ts";
import { type CommitInGeneration, joinsAgain, type JoinRequest } from "./join-gate.ts";
import { PartitionControl } from "./partition-control.ts";
import { PartitionReader } from "./partition-reader.ts";
import { Restart } from "./restart.ts";
import { TopicRecheck } from "./topic-recheck.ts";
import type { SessionParts } from "./session-parts.ts";
import { Transactions } from "./transactions.ts";
import { Writer } from "./writer.ts";

/** A membership in the group. Each work-around for a defect of kafkajs has a comment that names the defect. */
export class KafkaJsSession implements DriverSession {
  readonly #parts: SessionParts;
  readonly #assignments: HeldPartitions = new HeldPartitions();
  readonly #control: PartitionControl;
  readonly #handOver: HandOver;
  readonly #heartbeats: Heartbeats;
  readonly #givingUp: GivingUp;
  readonly #writer: Writer;
  readonly #transactions: Transactions;
  readonly #commits: GroupCommits;
  readonly #starter: PartitionStarter<Held>;
  readonly #reader: PartitionReader;
  readonly #lease: GroupLease;
  readonly #watch: TopicWatch;
  readonly #topicCheck: TopicRecheck;
  /** Topics that are left out. */
  #missing: ReadonlySet<string> = new Set();
  readonly #dueJoin: DueJoin;
  /** Brokers with a fetch under way. */
  readonly #fetching = new Set<number>();
  /** Aborted when the session is closed, so that nothing that waits keeps kafkajs or the process alive. */
  readonly #over: AbortController = sharedAbortController();
  /** Aborted when the close has ended, or its deadline has passed. */
  readonly #ended: AbortController = sharedAbortController();
  readonly #restart: Restart = new Restart({
    start: () => this.#startKafkaJs(),
    failed: (error) => this.#fail(explainFailure(error, this.#parts.brokers, this.#reading)),
    over: this.#over.signal,
  });
  readonly #awaitedJoin: AwaitedJoin;
  /** Crashes since the group was joined: as long as it lasts, kafkajs crashes of the same again and again, three times a second. */
  #crashes: RepeatedLines = new RepeatedLines();
  #closing: Promise<void> | undefined;
  #hasFailed = false;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    const { makeProducer, brokerOffsets } = parts;
    this.#control = new PartitionControl(parts.consumer, this.#assignments);
    const { maxWaitMs, heartbeatIntervalMs, maxBytes, sessionTimeoutMs } = parts.tuning;
    this.#lease = new GroupLease({ sessionTimeoutMs, acknowledged: (validForMs, by) => this.#acknowledged(validForMs, by) });
    this.#heartbeats = new Heartbeats({
      intervalMs: heartbeatIntervalMs,
      over: this.#over.signal,
      lost: () => void this.#givingUp.all("lost"),
      kept: () => this.#lease.extend(),
    });
    this.#givingUp = new GivingUp({
      sink: parts.sink,
      assignments: this.#assignments,
      control: this.#control,
      heartbeats: this.#heartbeats,
      over: this.#over.signal,
      isOver: () => this.isOver,
    });
    this.#handOver = new HandOver({
      sink: parts.sink,
      assignments: this.#assignments,
      control: this.#control,
      // As long as kafkajs takes to fetch a resumed partition. With less patience, a slow partition would be idle in between.
      patienceMs: Math.min(maxWaitMs, heartbeatIntervalMs),
      maxAheadBytes: maxBytes,
      failed: (error) => this.#fail(unreadable(error)),
    });
    const ended = this.#ended.signal;
    const { groupId, logger } = parts.subscription;
    this.#awaitedJoin = new AwaitedJoin({ sink: parts.sink, groupId, brokers: parts.brokers });
    this.#writer = new Writer(makeProducer, ended);
    this.#dueJoin = new DueJoin({ sink: parts.sink, host: parts.brokers });
    const fences = this.#dueJoin;
    this.#transactions = new Transactions({ groupId, makeProducer, brokerOffsets, assignments: this.#assignments, fences, ended });
    this.#commits = new GroupCommits({
      assignments: this.#assignments,
      transactions: this.#transactions,
      refused: () => void this.#givingUp.all("lost"),
    });
    this.#topicCheck = new TopicRecheck({
      brokers: brokerOffsets,
      groupId,
      assignments: this.#assignments,
      logger,
      recreated: (held) => this.#starter.beginAgain(held),
      failed: (error) => this.#fail(error),
    });
    this.#starter = this.#makeStarter();
    this.#reader = this.#makeReader();
    parts.kept.paced = (asked, throttleMs) => this.#reader.paced(asked, throttleMs);
    this.#watch = this.#makeWatch();
  }

  #makeWatch(): TopicWatch {
    const { brokerOffsets, subscription, sink, topics, tuning, brokers } = this.#parts;
    return new TopicWatch({
      brokers: brokerOffsets,
      subscription,
      sink,
      host: brokers,
      known: topics,
      intervalMs: tuning.metadataMaxAgeMs,
      makeError,
      found: (found) => this.#widen(found),
      readAllBut: (missing) => this.#readAllBut(missing),
    });
  }

  #makeReader(): PartitionReader {
    const { brokerOffsets, subscription, sink, kept, tuning, brokers } = this.#parts;
    return new PartitionReader({
      brokers: brokerOffsets,
      subscription,
      sink,
      assignments: this.#assignments,
      control: this.#control,
      handOver: this.#handOver,
      heartbeats: this.#heartbeats,
      topicCheck: this.#topicCheck,
      kept,
      decompression: tuning.decompression,
      waits: new PartitionWaits({ sink, what: "a fetch", host: brokers }),
      quietMs: 2 * tuning.maxWaitMs + 1_000,
      fail: (error) => this.#fail(error),
    });
  }

  #makeStarter(): PartitionStarter<Held> {
    const { brokerOffsets, subscription, sink, brokers } = this.#parts;
    return new PartitionStarter({
      brokers: brokerOffsets,
      host: brokers,
      subscription,
      sink,
      assignments: this.#assignments,
      begun: (helds) => helds.forEach((held) => this.#control.apply(held)), // kafkajs fetches in the next turn
      start: (held, start) => this.#control.start(held, start),
      commit: (offsets) => this.#commits.commit(offsets),
      putBack: (offsets) => this.#commits.putBack(offsets),
      makeError,
      over: this.#over.signal,
      fail: (error) => this.#fail(explainFailure(error, brokers, this.#reading)),
    });
  }

  /** Starts consuming. */
  async run(): Promise<void> {
    this.#listen();
    this.#starter.beginSession(this.#parts.topics);
    await this.#subscribe(this.#parts.topics);
    await this.#startKafkaJs();
    this.#watch.start();
  }

  commit(offsets: readonly OffsetCommit[]): Promise<void> {
    return this.#commits.commit(offsets);
  }

  pause(assignments: readonly PartitionAssignment[]): void {
    this.#control.setPaused(assignments, true);
  }

  resume(assignments: readonly PartitionAssignment[]): void {
    this.#control.setPaused(assignments, false);
    this.#handOver.resume(assignments);
  }

  seek(assignment: PartitionAssignment, offset: bigint): PartitionAssignment | null {
    return this.isOver ? null : this.#starter.move(assignment, offset);
  }

  send(records: readonly OutgoingRecord[]): Promise<void> {
    return this.#writer.send(records);
  }

  transact(records: readonly OutgoingRecord[], offsets: readonly OffsetCommit[]): Promise<void> {
    return this.#commits.transact(records, offsets);
  }

  async ranges(assignments: readonly PartitionAssignment[]): Promise<readonly LogRange[]> {
    await this.#topicCheck.look();
    return rangesOf(
      this.#parts.brokerOffsets,
      assignments.filter((assignment) => this.#assignments.isCurrent(assignment)),
    );
  }

  reconnect(why: string): void {
    if (!this.isOver) {
      this.#parts.reconnect(why);
    }
  }

  close(deadlineMs: number): Promise<void> {
    this.#closing ??= this.#close(deadlineMs);
    return this.#closing;
  }

  async #close(deadlineMs: number): Promise<void> {
    const deadline = performance.now() + deadlineMs;
    if (this.#hasFailed) {
      await this.#starter.untilStartsCommitted(deadlineMs / 2); // the group must hear of the leave, too, or it waits for the session to run out
    }
    this.#assignments.clear();
    this.#parts.kept.clear();
    this.#stopWatching();
    this.#over.abort();
    const { consumer, endFetches, destroySockets, brokerOffsets } = this.#parts;
    const { logger } = this.#parts.subscription;
    const disconnected = consumer.disconnect().catch((error: unknown) => {
      logger.warn({ err: error }, "kafkajs failed while it disconnected");
    });
    endFetches(); // kafkajs was told to stop, and asks for nothing more
    const closed = [this.#writer.close(deadlineMs), this.#transactions.close(deadlineMs), brokerOffsets.close()];
    const released = Promise.all([disconnected, ...closed]);
    await settledOrLate(released, Math.max(0, deadline - performance.now()), () =>
      logger.warn({ deadlineMs }, "kafkajs did not disconnect in time; its sockets are ended"),
    );
    this.#ended.abort(new KafkaJsDriverError("client-crashed", "the session was closed before the brokers answered"));
    // Even if kafkajs has disconnected: it ignores a stop while it joins, and would connect again.
    destroySockets();
  }

  /** Resolves when the group may be joined. Its coordinator is connected. */
  beforeJoin(request: JoinRequest): Promise<void> {
    this.#awaitedJoin.asked();
    return this.#givingUp.beforeJoin(request);
  }

  /**
   * Resolves when there is something to fetch. If kafkajs finds all partitions paused, as they are until it is known where they start, it
   * sleeps for `maxWaitMs`, and cannot be woken. It beats between two fetches, so it does not wait here for longer than a beat may take.
   */
  async beforeFetch(): Promise<void> {
    const helds = this.#assignments.all();
    const why = this.#dueJoin.take();
    if (why !== null && helds.length > 0) {
      throw joinsAgain(why);
    }
    if (helds.length > 0 && helds.every(({ isStarting }) => isStarting)) {
      const { maxWaitMs, heartbeatIntervalMs } = this.#parts.tuning;
      await this.#assignments.untilStarted(Math.min(maxWaitMs, heartbeatIntervalMs));
    }
  }

  /** kafkajs has asked for an offset that is out of range, and nothing was committed for it. */
  outOfRange(place: Place): void {
    if (this.#commits.refusal !== null) {
      throw this.#commits.refusal; // kafkajs joins again; until then, it would ask again and again
    }
    if (!this.isOver) {
      this.#reader.outOfRange(place);
    }
  }

  /** kafkajs reads no topic, because one of them does not exist. */
  topicUnknown(): void {
    this.#watch.suspectMissing();
  }

  /** kafkajs asks the group to forget this member. From now on, another member may get the partitions. */
  leaving(): void {
    void this.#givingUp.all("lost");
  }

  /** The group has answered a join. */
  useGeneration(commit: CommitInGeneration): void {
    if (!this.isOver) {
      this.#commits.useGeneration(commit);
    } // the partitions that it still has were assigned in a former generation, and the group must refuse their commits
  }

  /** The member is leaving the group, and must not join again. */
  get isClosing(): boolean {
    return this.#closing !== undefined;
  }

  /** The session is closed or has failed, or its start was given up: nothing more is read, and kafkajs need not join again. */
  get isOver(): boolean {
    return this.#closing !== undefined || this.#hasFailed || this.#parts.givenUp.aborted;
  }

  async #subscribe(topics: readonly string[]): Promise<void> {
    const { consumer } = this.#parts;
    // This session says where partitions start. Where kafkajs does not know that, it fetches from the group's commit, or without one from the start
    // of the log: either is noticed with the next batch. From the end of the log, it would be noticed only when something new is written.
    await consumer.subscribe({ topics: [...topics], fromBeginning: true });
  }

  async #startKafkaJs(): Promise<void> {
    const { consumer, tuning } = this.#parts;
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: tuning.partitionsConsumedConcurrently,
      eachBatch: (payload) => this.#eachBatch(payload),
    });
  }

  /** kafkajs accepts new topics only while it is stopped. So all partitions are given up, and the group is joined again. */
  async #widen(topics: readonly string[]): Promise<void> {
    await this.#givingUp.all("revoked");
    if (!this.isOver) {
      const stopped = this.#parts.consumer.stop();
      this.#parts.endFetches();
      await stopped;
      try {
        await this.#subscribe(topics);
      } finally {
        await this.#startKafkaJs(); // also if a topic has gone meanwhile: the others are read on
      }
    }
  }

  /** Only a join takes partitions away. */
  #readAllBut(missing: ReadonlySet<string>): void {
    this.#parts.askedTopics.leaveOut(missing);
    const isDeleted = (topic: string): boolean => missing.has(topic) && !this.#missing.has(topic);
    if (this.#assignments.all().some(({ assignment }) => isDeleted(assignment.topic))) {
      this.#dueJoin.topicsDeleted();
    }
    this.#missing = missing;
  }

  #fail(error: Error): void {
    if (this.isOver) {
      return;
    }
    this.#hasFailed = true;
    this.#assignments.endReading();
    this.#stopWatching();
    this.#starter.commitStarts(error); // before the commits of the consumer, which are of what it has handled
    this.#parts.sink.failed(error); // whatever follows
    this.#control.holdAll();
  }

  #stopWatching(): void {
    this.#watch.stop();
    this.#topicCheck.stop();
  }

  #listen(): void {
    const { consumer } = this.#parts;
    const { GROUP_JOIN, REBALANCING, STOP, CRASH, FETCH_START, FETCH, HEARTBEAT, REQUEST } = consumer.events;
    consumer.on(REQUEST, ({ payload }) => this.#lease.answered(payload));
    consumer.on(HEARTBEAT, () => this.#lease.extend());
    consumer.on(GROUP_JOIN, ({ payload }) => this.#joined(payload.memberAssignment));
    consumer.on(REBALANCING, () => void this.#givingUp.all("revoked"));
    consumer.on(STOP, () => this.#stopped());
    consumer.on(CRASH, ({ payload }) => this.#crashed(payload.error, payload.restart));
    consumer.on(FETCH_START, ({ payload }) => this.#fetches(payload));
    consumer.on(FETCH, ({ payload }) => void this.#fetching.delete(payload.nodeId));
  }

  /**
   * If a fetch starts while the last one to the same broker has not ended, the last one has thrown. kafkajs keeps its positions then, even if
   * the topic was recreated meanwhile.
   */
  #fetches({ nodeId }: { readonly nodeId: number }): void {
    if (this.#fetching.has(nodeId)) {
      this.#assignments.recheckTopic();
    }
    this.#fetching.add(nodeId);
  }

  #acknowledged(validForMs: number, host: string): void {
    if (!this.isOver) {
      const { maxWaitMs, heartbeatIntervalMs } = this.#parts.tuning;
      // kafkajs beats between two fetches, and each may wait at the broker.
      this.#parts.sink.acknowledged?.(validForMs, { withinMs: heartbeatIntervalMs + maxWaitMs, host });
    }
  }

  #joined(memberAssignment: Readonly<Record<string, readonly number[]>>): void {
    if (this.isClosing) {
      // The sockets of the application's own client are not ended by a stop, so a join that was under way may still succeed.
      this.#parts.consumer.disconnect().catch(() => {});
      return;
    }
    this.#control.joined();
    if (this.isOver) {
      this.#control.refuse(memberAssignment);
      return;
    }
    this.#awaitedJoin.joined();
    this.#crashes = new RepeatedLines();
    this.#restart.joined();
    void this.#givingUp.all("lost"); // if they were not given up before the join
    const assigned = this.#assignments.renew(memberAssignment);
    this.#dueJoin.joined(assigned);
    this.#commits.joined();
    this.#lease.extend();
    this.#starter.begin(assigned);
    void this.#transactions.letOldGo(); // no later transaction may ever come
  }

  /** kafkajs has no group any more. After a crash it says so at once, and of the crash only when its connections are closed. */
  #stopped(): void {
    this.#control.left();
    void this.#givingUp.all("lost");
  }

  get #reading(): GroupAndTopics {
    const { subscription, kept } = this.#parts;
    return { groupId: subscription.groupId, topics: kept.refused.size > 0 ? [...kept.refused] : subscription.topics };
  }

  #crashed(error: Error, restarts: boolean): void {
    if (this.isOver) {
      return;
    }
    void this.#givingUp.all("lost");
    const explained = explainFailure(error, this.#parts.brokers, this.#reading);
    // kafkajs takes a certificate that is refused for a connection that may come later. It would show the same one for ever. A function for a
    // token that has failed may give one later: that is a wait, of the same code.
    if (!isOfCertificate(causesOf(error)) && (restarts || this.#restart.after(error))) {
      this.#awaitedJoin.failed(explained);
      const leftOut = this.#crashes.leftOutBefore(explained.message);
      const fields = leftOut === null || leftOut === 0 ? { err: explained } : { err: explained, leftOut };
      this.#parts.subscription.logger[leftOut === null ? "debug" : "warn"](fields, "kafkajs crashed, and starts again");
    } else {
      this.#fail(explained);
    }
  }

  async #eachBatch(payload: EachBatchPayload): Promise<void> {
    if (this.#commits.refusal !== null) {
      throw this.#commits.refusal; // kafkajs joins again
    }
    this.#heartbeats.beat = payload.heartbeat;
    await this.#reader.take(payload);
  }
}
