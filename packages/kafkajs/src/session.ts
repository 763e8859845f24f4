import { setTimeout as delay } from "node:timers/promises";
import type { DriverSession, LogRange, LostRange, OffsetCommit, OpenWait, OutgoingRecord, PartitionAssignment } from "@cdckit/consumer";
import type { ConsumerEndBatchProcessEvent, EachBatchPayload } from "kafkajs";
import { Assignments, type Held, type OwnAssignment } from "./assignments.ts";
import { isLeap, isNext } from "./batch-place.ts";
import { Commits } from "./commits.ts";
import { KafkaJsDriverError } from "./errors.ts";
import { explainFailure } from "./explain-failure.ts";
import { GivingUp } from "./giving-up.ts";
import { GroupLease } from "./group-lease.ts";
import { HandOver } from "./hand-over.ts";
import type { JoinRequest } from "./join-gate.ts";
import { noteLandmarks } from "./landmarks.ts";
import { holdBack, missingOf, rangesOf } from "./log-guard.ts";
import { resumeOffset, lostRangeError } from "./lost-range.ts";
import { MessageBatch } from "./message-batch.ts";
import { PartitionControl } from "./partition-control.ts";
import { resolveStarts, type Start } from "./starts.ts";
import { TopicCheck } from "./topic-check.ts";
import { TopicWatch } from "./topic-watch.ts";
import type { SessionParts } from "./session-parts.ts";
import { Transactions } from "./transactions.ts";
import { Writer } from "./writer.ts";

/** How long a member that has just joined tries to find out where it starts. */
const startDeadlineMs = 60_000;
const startPauseMs = 500;

/** A membership in the group. kafkajs' defects that it works around are told where the work-around is. */
export class KafkaJsSession implements DriverSession {
  readonly #parts: SessionParts;
  readonly #assignments: Assignments = new Assignments();
  readonly #control: PartitionControl;
  readonly #handOver: HandOver;
  readonly #givingUp: GivingUp;
  readonly #writer: Writer;
  readonly #transactions: Transactions;
  readonly #commits: Commits;
  readonly #lease: GroupLease;
  readonly #watch: TopicWatch;
  readonly #topicCheck: TopicCheck;
  /** Brokers that a fetch is under way to. */
  readonly #fetching = new Set<number>();
  /** Aborted when the session is closed: what still waits then keeps neither kafkajs nor the process. */
  readonly #over: AbortController = new AbortController();
  /** Aborted when the time of the close is up. */
  readonly #ended: AbortController = new AbortController();
  /** kafkajs has crashed, and has not joined again. */
  #rejoining: OpenWait | undefined;
  #closing: Promise<void> | undefined;
  #hasFailed = false;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    const { makeProducer, brokerOffsets } = parts;
    this.#control = new PartitionControl(parts.consumer, this.#assignments);
    const { maxWaitMs, heartbeatIntervalMs, maxBytes, sessionTimeoutMs } = parts.tuning;
    this.#lease = new GroupLease({ sessionTimeoutMs, acknowledged: (validForMs) => this.#acknowledged(validForMs) });
    this.#givingUp = new GivingUp({
      sink: parts.sink,
      assignments: this.#assignments,
      heartbeatIntervalMs,
      over: this.#over.signal,
      isOver: () => this.#isOver,
      kept: () => this.#lease.extend(),
    });
    this.#handOver = new HandOver({
      sink: parts.sink,
      assignments: this.#assignments,
      control: this.#control,
      // No shorter than kafkajs takes to look at a partition that is resumed: a slow one would be idle meanwhile.
      patienceMs: Math.min(maxWaitMs, heartbeatIntervalMs),
      maxAheadBytes: maxBytes,
    });
    const ended = this.#ended.signal;
    const { groupId, logger } = parts.subscription;
    this.#writer = new Writer(makeProducer, ended);
    this.#transactions = new Transactions({ groupId, makeProducer, brokerOffsets, assignments: this.#assignments, ended });
    this.#commits = new Commits({
      assignments: this.#assignments,
      transactions: this.#transactions,
      commitNow: ({ topics }) =>
        parts.consumer.commitOffsets(topics.flatMap(({ topic, partitions }) => partitions.map((one) => ({ topic, ...one })))),
      refused: () => void this.#givingUp.all("lost"),
    });
    this.#topicCheck = new TopicCheck({
      brokerOffsets,
      groupId,
      assignments: this.#assignments,
      logger,
      recreated: (held) => this.#renew(held),
      failed: (error) => this.#fail(error),
    });
    this.#watch = new TopicWatch({
      brokerOffsets,
      wanted: parts.subscription.topics,
      known: parts.topics,
      intervalMs: parts.tuning.metadataMaxAgeMs,
      logger,
      found: (topics) => this.#widen(topics),
    });
  }

  /** Starts consuming. */
  async run(): Promise<void> {
    this.#listen();
    await this.#consume(this.#parts.topics);
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
    return this.#isOver ? null : this.#control.move(assignment, offset, (renewed) => this.#parts.sink.assigned([renewed]));
  }

  send(records: readonly OutgoingRecord[]): Promise<void> {
    return this.#writer.send(records);
  }

  transact(records: readonly OutgoingRecord[], offsets: readonly OffsetCommit[]): Promise<void> {
    return this.#commits.transact(records, offsets);
  }

  async ranges(assignments: readonly PartitionAssignment[]): Promise<readonly LogRange[]> {
    const { brokerOffsets, subscription } = this.#parts;
    await this.#topicCheck.look();
    const asked = assignments.filter((assignment) => this.#assignments.isCurrent(assignment));
    return rangesOf(brokerOffsets, subscription.groupId, asked);
  }

  reconnect(why: string): void {
    if (!this.#isOver) {
      this.#parts.reconnect(why);
    }
  }

  close(deadlineMs: number): Promise<void> {
    this.#closing ??= this.#close(deadlineMs);
    return this.#closing;
  }

  async #close(deadlineMs: number): Promise<void> {
    this.#assignments.clear();
    this.#stopWatching();
    this.#over.abort();
    const { consumer, destroySockets, brokerOffsets } = this.#parts;
    const { logger } = this.#parts.subscription;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        logger.warn({ deadlineMs }, "kafkajs did not disconnect in time; its sockets are ended");
        resolve();
      }, deadlineMs);
    });
    const disconnected = consumer.disconnect().catch((error: unknown) => {
      logger.warn({ err: error }, "kafkajs failed while it disconnected");
    });
    const closed = [this.#writer.close(deadlineMs), this.#transactions.close(deadlineMs), brokerOffsets.close()];
    const released = Promise.all([disconnected, ...closed]);
    await Promise.race([released, late]);
    clearTimeout(timer);
    this.#ended.abort(new KafkaJsDriverError("client-crashed", "the session was closed before the brokers answered"));
    // Also where it did disconnect: kafkajs skips a stop while it joins, and would connect again to join.
    destroySockets();
  }

  /** Resolves when the group may be joined. */
  beforeJoin(request: JoinRequest): Promise<void> {
    return this.#givingUp.beforeJoin(request);
  }

  /** The member is on its way out, and not to come back. */
  get isClosing(): boolean {
    return this.#closing !== undefined;
  }

  get #isOver(): boolean {
    return this.#closing !== undefined || this.#hasFailed;
  }

  async #consume(topics: readonly string[]): Promise<void> {
    const { consumer, tuning } = this.#parts;
    // Where to start is said by this session. From the beginning is where kafkajs then moves to when an offset is out of range, and where
    // it is noticed: from the end, nobody would see it before something new is written.
    await consumer.subscribe({ topics: [...topics], fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: tuning.partitionsConsumedConcurrently,
      eachBatch: (payload) => this.#eachBatch(payload),
    });
  }

  /** kafkajs takes topics only while it does not run: everything is given up, and the group joined anew. */
  async #widen(topics: readonly string[]): Promise<void> {
    await this.#givingUp.all("revoked");
    if (!this.#isOver) {
      await this.#parts.consumer.stop();
      await this.#consume(topics);
    }
  }

  #fail(error: Error): void {
    if (!this.#isOver) {
      this.#hasFailed = true;
      this.#stopWatching();
      this.#parts.sink.failed(error);
    }
  }

  #stopWatching(): void {
    this.#watch.stop();
    this.#topicCheck.stop();
  }

  #listen(): void {
    const { consumer } = this.#parts;
    const { GROUP_JOIN, REBALANCING, CRASH, END_BATCH_PROCESS, FETCH_START, FETCH, HEARTBEAT, REQUEST } = consumer.events;
    consumer.on(REQUEST, ({ payload }) => this.#lease.answered(payload));
    consumer.on(HEARTBEAT, () => this.#lease.extend());
    consumer.on(GROUP_JOIN, ({ payload }) => this.#joined(payload.memberAssignment));
    consumer.on(REBALANCING, () => void this.#givingUp.all("revoked"));
    consumer.on(CRASH, ({ payload }) => this.#crashed(payload.error, payload.restart));
    consumer.on(END_BATCH_PROCESS, ({ payload }) => this.#passed(payload));
    consumer.on(FETCH_START, ({ payload }) => this.#fetches(payload));
    consumer.on(FETCH, ({ payload }) => void this.#fetching.delete(payload.nodeId));
  }

  /**
   * A fetch that starts while the last one to that broker has not ended: the last one has thrown. kafkajs keeps its positions then, also
   * where the topic was recreated in the meantime.
   */
  #fetches({ nodeId }: { readonly nodeId: number }): void {
    if (this.#fetching.has(nodeId)) {
      this.#assignments.recheckTopic();
    }
    this.#fetching.add(nodeId);
  }

  #acknowledged(validForMs: number): void {
    if (!this.#isOver) {
      this.#parts.sink.acknowledged?.(validForMs);
    }
  }

  #joined(memberAssignment: Readonly<Record<string, readonly number[]>>): void {
    if (this.isClosing) {
      // With a client of the application's own, whose sockets are not ours to end, a join may still come through after the stop.
      this.#parts.consumer.disconnect().catch(() => {});
    }
    if (this.#isOver) {
      return;
    }
    this.#rejoining?.end();
    this.#rejoining = undefined;
    void this.#givingUp.all("lost"); // where nobody asked before the join
    this.#commits.joined();
    this.#lease.extend();
    this.#assigned(this.#assignments.renew(memberAssignment, true));
  }

  #assigned(assignments: readonly OwnAssignment[]): void {
    // In this turn, before kafkajs fetches.
    for (const assignment of assignments) {
      this.#control.apply(assignment);
    }
    this.#parts.sink.assigned(assignments);
    if (assignments.length > 0) {
      void this.#start(assignments);
    }
  }

  /** Finds out where the partitions start, and lets them go. */
  async #start(assignments: readonly OwnAssignment[]): Promise<void> {
    const { brokerOffsets, subscription, brokers } = this.#parts;
    for (const deadline = performance.now() + startDeadlineMs; ; ) {
      try {
        const { starts, lost, keptBy } = await resolveStarts(brokerOffsets, subscription, assignments, this.#assignments);
        await holdBack(lost, (commit) => this.#commits.putBack(commit), subscription.logger);
        this.#startAt(assignments, starts, lost === null ? null : lostRangeError(lost, subscription.groupId, keptBy));
        return;
      } catch (error) {
        if (this.#isOver || !assignments.some((assignment) => this.#assignments.isCurrent(assignment))) {
          return;
        }
        if (performance.now() > deadline) {
          this.#fail(explainFailure(error, brokers));
          return;
        }
        subscription.logger.warn({ err: error }, "where the partitions start could not be found out; asking again");
      }
      await delay(startPauseMs, undefined, { signal: this.#over.signal }).catch(() => {});
    }
  }

  #startAt(assignments: readonly PartitionAssignment[], starts: readonly Start[], error: KafkaJsDriverError | null): void {
    if (this.#isOver || !assignments.some((assignment) => this.#assignments.isCurrent(assignment))) {
      return;
    }
    if (error !== null) {
      this.#fail(error);
      return;
    }
    for (const start of starts) {
      if (start.skipped !== null && this.#assignments.isCurrent(start.assignment)) {
        this.#parts.sink.skipped?.(start.assignment, start.skipped, start.offset);
      }
      this.#control.start(start);
    }
  }

  /** Partitions of a topic that was recreated while they were read: what they go on with is a new assignment. */
  #renew(going: readonly Held[]): void {
    if (this.#isOver) {
      return;
    }
    const lost = going.map(({ assignment }) => assignment);
    const renewed = this.#assignments.renewSome(going);
    void this.#parts.sink.revoked(lost, "lost");
    this.#assigned(renewed);
  }

  #crashed(error: Error, restarts: boolean): void {
    if (this.#isOver) {
      return;
    }
    void this.#givingUp.all("lost");
    const explained = explainFailure(error, this.#parts.brokers);
    if (restarts) {
      const what =
        explained.code === "brokers-unreachable" ? "the connection to the brokers" : `the group ${this.#parts.subscription.groupId}`;
      this.#rejoining ??= this.#parts.sink.waiting?.({ what, host: this.#parts.brokers });
      this.#rejoining?.failed(explained);
      this.#parts.subscription.logger.warn({ err: explained }, "kafkajs lost its connection, and connects again");
    } else {
      this.#fail(explained);
    }
  }

  /** Batches that held nothing but control records and aborted ones, which eachBatch never sees; it sees to the others itself. */
  #passed({ topic, partition, batchSize, firstOffset, lastOffset, highWatermark }: ConsumerEndBatchProcessEvent["payload"]): void {
    const assignment = this.#assignments.of(topic, partition);
    const held = assignment === undefined ? undefined : this.#assignments.held(assignment);
    if (batchSize > 0 || assignment === undefined || held === undefined || held.isStarting || this.#isOver) {
      return;
    }
    const batch = new MessageBatch({ topic, partition, highWatermark, messages: [], lastOffset: () => lastOffset }, assignment);
    const first = firstOffset === null ? null : BigInt(firstOffset);
    if (held.gapCheck === undefined && !isLeap(held, first)) {
      this.#pass(batch, held, first);
      return;
    }
    const gapCheck = (held.gapCheck ?? Promise.resolve())
      .then(() => this.#passLeap(batch, held, first))
      .finally(() => {
        held.gapCheck = held.gapCheck === gapCheck ? undefined : held.gapCheck;
      });
    held.gapCheck = gapCheck;
  }

  #pass(batch: MessageBatch, held: Held, first: bigint | null): void {
    if (first === null || held.expected === null || first >= held.expected) {
      held.expected = batch.nextOffset;
      void this.#handOver.take(batch, held);
    } // else it was fetched before the last seek
  }

  /** Compaction leaves gaps, and retention makes kafkajs leap over what it took: only the log tells which it was. It never rejects. */
  async #passLeap(batch: MessageBatch, held: Held, first: bigint | null): Promise<void> {
    const { brokerOffsets, subscription } = this.#parts;
    try {
      const lost = isLeap(held, first) && !(await this.#topicCheck.isRecreated(held)) ? await missingOf(brokerOffsets, held) : null;
      if (this.#assignments.held(held.assignment) !== held || this.#isOver) {
        return;
      }
      if (lost === null) {
        this.#pass(batch, held, first);
      } else {
        await this.#lose(held, lost);
      }
    } catch (error) {
      subscription.logger.warn({ err: error }, "what lies in front of a batch could not be found out; it is fetched again");
    }
  }

  async #eachBatch(payload: EachBatchPayload): Promise<void> {
    const { batch } = payload;
    if (this.#commits.refusal !== null) {
      throw this.#commits.refusal; // kafkajs joins again
    }
    const assignment = this.#assignments.of(batch.topic, batch.partition);
    const held = assignment === undefined ? undefined : this.#assignments.held(assignment);
    // After a rebalance was announced, kafkajs still hands over the rest of the fetch, and after a seek an outdated one.
    if (assignment === undefined || held === undefined || held.isStarting || this.#isOver || payload.isStale()) {
      return;
    }
    if ((held.needsRecheck || this.#topicCheck.isDue) && (await this.#topicCheck.isRecreated(held))) {
      return;
    }
    this.#commits.useGenerationOf(payload);
    this.#givingUp.heartbeat = payload.heartbeat;
    await held.gapCheck;
    if (this.#assignments.held(assignment) !== held || this.#isOver) {
      return;
    }
    if (!isNext(batch, held)) {
      await this.#investigate(held);
      return;
    }
    const next = new MessageBatch(batch, assignment);
    if (this.#handOver.hasRoom(held, next.byteLength)) {
      // Only here: what was looked into, or left, is fetched again, and would not be missed if it counted as passed.
      payload.resolveOffset(batch.lastOffset());
      held.expected = next.nextOffset;
      noteLandmarks(assignment, batch.messages);
      await this.#handOver.take(next, held);
    }
  }

  /**
   * A batch that was not fetched where the last one ended. kafkajs answers an offset that is out of range by moving the group to the start
   * or the end of the log, without an error; the offset that it then asks for tells. Where the log has what is expected, it is a stray.
   */
  async #investigate(held: Held): Promise<void> {
    if (await this.#topicCheck.isRecreated(held)) {
      return;
    }
    const lost = await missingOf(this.#parts.brokerOffsets, held);
    if (this.#assignments.held(held.assignment) !== held || this.#isOver) {
      return;
    }
    if (lost === null) {
      this.#control.seek(held.assignment, held.expected ?? 0n);
    } else {
      await this.#lose(held, lost);
    }
  }

  /** Goes on behind what is gone where the user has chosen to, and ends the session where not. */
  async #lose(held: Held, lost: LostRange): Promise<void> {
    const { subscription } = this.#parts;
    const { assignment } = held;
    // kafkajs has committed the new position already: without this, the next start would not notice.
    await this.#commits.putBack({ assignment, offset: held.handledTo ?? 0n }).catch(() => {
      subscription.logger.warn({ ...lost }, "the group's offset could not be put back");
    });
    const position = resumeOffset(lost, subscription.lostRange);
    if (position === null) {
      this.#fail(lostRangeError(lost, subscription.groupId, subscription.startAt === undefined ? "group" : "sink"));
    } else if (this.#assignments.held(assignment) === held && !this.#isOver) {
      held.expected = position;
      this.#parts.sink.skipped?.(assignment, lost, position);
      this.#control.seek(assignment, position);
    }
  }
}
