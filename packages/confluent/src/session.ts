import type {
  DriverSession,
  DriverSink,
  LogRange,
  OffsetCommit,
  OutgoingRecord,
  PartitionAssignment,
  Subscription,
} from "@cdckit/consumer";
import {
  Commits,
  isRead,
  PartitionStarter,
  placeOf,
  rangesOf,
  settledOrLate,
  sharedAbortController,
  TopicCheck,
  TopicWatch,
} from "@cdckit/driver";
import { type Held, heldPartitions, type HeldPartitions } from "./assignments.ts";
import type { BrokerOffsets } from "./broker-offsets.ts";
import type { ClientLog } from "./client-log.ts";
import { CommitRequests } from "./commit-requests.ts";
import { ConnectionWait } from "./connection-wait.ts";
import { ConsumeLoop, type Taken } from "./consume-loop.ts";
import { ConfluentDriverError, makeError } from "./errors.ts";
import { explainFailure } from "./explain-failure.ts";
import { GivingUp } from "./giving-up.ts";
import { GroupLease } from "./group-lease.ts";
import { HandOver } from "./hand-over.ts";
import { LeaderWaits } from "./leader-waits.ts";
import {
  answerOf,
  type ClientError,
  codes,
  type LowLevelConsumer,
  type TopicPartition,
  type TopicPartitionOffset,
} from "./low-level-client.ts";
import type { ResolvedConfluentOptions } from "./options.ts";
import type { MakeProducer } from "./own-producer.ts";
import { PartitionControl } from "./partition-control.ts";
import { PartitionReader } from "./partition-reader.ts";
import { QuotaWaits } from "./quota-waits.ts";
import { ReplacedConnections } from "./replaced-connections.ts";
import { ReturnedTopics } from "./returned-topics.ts";
import { statisticsIntervalMs } from "./properties.ts";
import { readReport, type Report } from "./statistics.ts";
import { Transactions } from "./transactions.ts";
import { UnreadableBatches } from "./unreadable-batches.ts";
import { Writer } from "./writer.ts";

export interface SessionParts {
  readonly consumer: LowLevelConsumer;
  readonly subscription: Subscription;
  readonly sink: DriverSink;
  readonly brokerOffsets: BrokerOffsets;
  readonly makeProducer: MakeProducer;
  readonly tuning: ResolvedConfluentOptions["tuning"];
  /** The brokers' addresses, for messages. */
  readonly brokers: string;
  readonly log: ClientLog;
}

/** After so many reports with a partition that is not fetched, it is no passing state. */
const reportsUntilCertain = 2;
/** The client goes on after other errors by itself. */
const finalCodes: ReadonlySet<number> = new Set([
  codes.fatal,
  codes.fenced,
  codes.fencedInstance,
  codes.topicAuthorization,
  codes.groupAuthorization,
  codes.authentication,
  codes.saslAuthentication,
  // librdkafka would ask the group again every second, and the consumer look like one that was given no partition.
  codes.inconsistentProtocol,
  codes.invalidSessionTimeout,
  codes.groupMaxSize,
]);

/** A membership in the group. */
export class ConfluentSession implements DriverSession {
  readonly #parts: SessionParts;
  readonly #assignments: HeldPartitions = heldPartitions();
  readonly #loop: ConsumeLoop;
  readonly #control: PartitionControl;
  readonly #handOver: HandOver;
  readonly #givingUp: GivingUp;
  readonly #writer: Writer;
  readonly #transactions: Transactions;
  readonly #requests: CommitRequests;
  readonly #commits: Commits<Held>;
  readonly #starter: PartitionStarter<Held>;
  readonly #reader: PartitionReader;
  readonly #lease: GroupLease;
  readonly #replacedConnections: ReplacedConnections;
  readonly #returnedTopics: ReturnedTopics;
  readonly #unreadableBatches: UnreadableBatches = new UnreadableBatches();
  readonly #leaderWaits: LeaderWaits;
  readonly quotas: QuotaWaits;
  #watch: TopicWatch | undefined;
  readonly #topicCheck: TopicCheck<Held>;
  #topics: readonly string[] = [];
  /** Aborted when the session is closed, so that nothing that waits keeps the process alive. */
  readonly #over: AbortController = sharedAbortController();
  /** Aborted when the close has ended, or its deadline has passed. */
  readonly #ended: AbortController = sharedAbortController();
  readonly #connectionWait: ConnectionWait;
  #closing: Promise<void> | undefined;
  #failure: { readonly error: unknown } | null = null;
  #isRunning = false;
  #giveUp: (error: unknown) => void = () => {};
  /** Rejects if the client gives up before the session runs. Asked for offsets of a group that it may not read, it answers late, and says why here. */
  readonly givenUp: Promise<never> = new Promise<never>((_, reject) => {
    this.#giveUp = reject;
  });

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.givenUp.catch(() => {}); // nobody may wait for it: a start that was refused leaves its client to itself until that has given up connecting
    const { consumer, makeProducer, brokerOffsets, brokers, subscription, sink, tuning } = parts;
    const { groupId, logger } = subscription;
    const assignments = this.#assignments;
    const ended = this.#ended.signal;
    const fail = (error: unknown): void => this.#fail(error);
    this.#loop = new ConsumeLoop({ consumer, maxRecords: tuning.maxRecords, take: (taken) => this.#take(taken) });
    this.#control = new PartitionControl({ consumer, assignments, loop: this.#loop, logger });
    this.#handOver = new HandOver({ sink, assignments, control: this.#control, maxAheadBytes: tuning.maxBytesPerPartition });
    this.#lease = new GroupLease({
      sessionTimeoutMs: tuning.sessionTimeoutMs,
      acknowledged: (validForMs) => this.#acknowledged(validForMs),
    });
    this.#replacedConnections = new ReplacedConnections((why) => sink.reconnected?.(why));
    this.#connectionWait = new ConnectionWait({ ...parts, fail });
    this.#leaderWaits = new LeaderWaits({ ...parts, assignments });
    this.quotas = new QuotaWaits(sink, brokers, assignments);
    this.#givingUp = new GivingUp({ sink, assignments, control: this.#control, isOver: () => this.#isOver });
    this.#writer = new Writer(makeProducer, ended);
    this.#transactions = new Transactions({ groupId, consumer, makeProducer, brokerOffsets, assignments, ended });
    const refused = (): void => this.#givingUp.all();
    this.#requests = new CommitRequests({ consumer, assignments, refused, ended });
    this.#commits = new Commits({
      assignments,
      send: (offsets) => this.#requests.send(offsets),
      transact: (records, offsets) => this.#transactions.transact(records, offsets),
      makeError,
    });
    this.#topicCheck = new TopicCheck({ brokers: brokerOffsets, assignments, logger, recreated: (held) => this.#starter.beginAgain(held) });
    this.#returnedTopics = new ReturnedTopics({
      brokers: brokerOffsets,
      assignments,
      topics: () => this.#topics,
      rejoin: () => this.#rejoin(),
      logger,
      over: this.#over.signal,
    });
    const reading = { brokers: brokerOffsets, subscription, sink, assignments, fail };
    this.#starter = new PartitionStarter({
      ...reading,
      host: brokers,
      start: (held, { offset }) => this.#control.place(held, offset),
      commit: (offsets) => this.#commits.commit(offsets),
      putBack: (offsets) => this.#commits.putBack(offsets),
      makeError,
      over: this.#over.signal,
    });
    this.#reader = new PartitionReader({
      ...reading,
      consumer,
      control: this.#control,
      handOver: this.#handOver,
      topicCheck: this.#topicCheck,
      quotas: this.quotas,
    });
  }

  /** Hears what the connected client says from now on. */
  listen(): void {
    this.#loop.start();
  }

  /** Joins the group and starts to consume. `topics`: those of the subscription, by name. Throws if the client has given up. */
  run(topics: readonly string[]): void {
    if (this.#failure !== null) {
      throw this.#failure.error;
    }
    const { brokerOffsets, brokers, consumer, sink, subscription, tuning } = this.#parts;
    this.#isRunning = true;
    this.#topics = topics;
    this.#starter.beginSession(topics);
    consumer.subscribe(topics);
    this.#watch = new TopicWatch({
      brokers: brokerOffsets,
      subscription,
      sink,
      host: brokers,
      known: topics,
      intervalMs: tuning.metadataMaxAgeMs,
      makeError,
      found: async (later) => this.#widen(later),
    });
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
    return this.#isOver ? null : this.#starter.move(assignment, offset);
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

  close(deadlineMs: number): Promise<void> {
    this.#closing ??= this.#close(deadlineMs);
    return this.#closing;
  }

  /** The group assigns partitions, or takes them. The client waits for an answer. */
  rebalanced({ code }: Pick<ClientError, "code">, partitions: readonly TopicPartition[]): void {
    if (code === codes.assignPartitions) {
      this.#control.accept();
      if (!this.#isOver && partitions.length > 0) {
        this.#starter.begin(this.#assignments.add(partitions));
      }
      return;
    }
    const held = partitions.flatMap(({ topic, partition }) => this.#assignments.at(topic, partition) ?? []);
    this.#watch?.suspectMissing(); // a topic of theirs may be gone
    void this.#givingUp.some(held, this.#isLost() ? "lost" : "revoked");
  }

  /** The client's answer to a commit. */
  committed(error: ClientError | undefined, offsets: readonly TopicPartitionOffset[] | undefined): void {
    this.#requests.answered(error, offsets);
  }

  /** The client has something to be taken. */
  wake(): void {
    this.#loop.wake();
  }

  /** A report of librdkafka. */
  reported(text: string): void {
    const report = this.#isOver ? null : readReport(text);
    if (report !== null) {
      this.quotas.take(report.sources);
      this.#lease.take(report);
      this.#control.retry();
      this.#replacedConnections.take(report);
      this.#connectionWait.take(report);
      this.#watchFetches(report);
      this.#leaderWaits.take(report);
    }
  }

  get #isOver(): boolean {
    return this.#closing !== undefined || this.#failure !== null;
  }

  #isLost(): boolean {
    try {
      return this.#parts.consumer.assignmentLost();
    } catch {
      return true; // the client is being closed
    }
  }

  #take({ messages, ends, error }: Taken): Promise<void> | undefined {
    if (error !== null) {
      this.#failedFetch(error);
    }
    if (messages.length > 0) {
      this.#topicCheck.followBatch();
    }
    if (messages.length === 0 || !this.#topicCheck.isDue) {
      this.#reader.take(messages, ends);
      return undefined;
    }
    return this.#topicCheck.look().then(() => this.#reader.take(messages, ends));
  }

  #failedFetch(error: ClientError): void {
    const { subscription } = this.#parts;
    if (error.code === codes.offsetReset) {
      void this.#reader.investigate(this.#assignments.all(), false);
    } else if (finalCodes.has(error.code)) {
      this.#fail(error);
    } else if (error.code !== codes.state) {
      if (error.code === codes.unknownTopicOrPartition || error.code === codes.unknownTopic) {
        void this.#returnedTopics.watch();
      }
      const unreadable = this.#unreadableBatches.take(error, performance.now());
      if (unreadable !== null) {
        this.#fail(unreadable);
        return;
      }
      subscription.logger.warn({ err: error }, "librdkafka reports an error, and goes on by itself");
    }
  }

  #rejoin(): void {
    if (!this.#isOver) {
      this.#parts.consumer.unsubscribe();
      this.#parts.consumer.subscribe(this.#topics);
    }
  }

  /** New topics match the subscription. The group keeps what it has. */
  #widen(topics: readonly string[]): void {
    if (!this.#isOver) {
      this.#topics = [...this.#topics, ...topics];
      this.#parts.consumer.subscribe(this.#topics);
    }
  }

  #acknowledged(validForMs: number): void {
    if (!this.#isOver) {
      const { brokers, tuning, sink } = this.#parts;
      const { groupProtocol, heartbeatIntervalMs, sessionTimeoutMs } = tuning;
      // With the protocol "consumer", the brokers decide how often, and librdkafka does not say what.
      const beatMs = groupProtocol === "classic" ? heartbeatIntervalMs : Math.max(heartbeatIntervalMs, sessionTimeoutMs / 3);
      // It says in its next report, and not at once, that a heartbeat was answered.
      sink.acknowledged?.(validForMs, { withinMs: beatMs + statisticsIntervalMs(heartbeatIntervalMs), host: brokers });
    }
  }

  /** An error of one partition is lost if it comes together with records of others. The client stops to fetch it all the same. */
  #watchFetches({ stopped }: Report): void {
    const places = new Set(stopped.map(({ topic, partition }) => placeOf(topic, partition)));
    const certain = this.#assignments.all().filter((held) => {
      const isStopped = held.isPlaced && isRead(held) && places.has(placeOf(held.assignment.topic, held.assignment.partition));
      held.stoppedReports = isStopped ? held.stoppedReports + 1 : 0;
      return held.stoppedReports >= reportsUntilCertain;
    });
    void this.#reader.investigate(certain, true);
  }

  #fail(error: unknown): void {
    if (!this.#isOver) {
      this.#failure = { error };
      this.#assignments.endReading();
      this.#stopWatching();
      this.#starter.commitStarts(error); // before the commits of the consumer, which are of what it has handled
      void this.#report(error);
    }
  }

  /** Why librdkafka has given up stands in its log only. */
  async #report(error: unknown): Promise<void> {
    const { brokers, log, sink, subscription, brokerOffsets } = this.#parts;
    const { code } = (error ?? {}) as Partial<ClientError>;
    if (code === codes.fatal && log.fatal === null) {
      await log.untilFatal();
    }
    // The client does not name the topic.
    const refused = code === codes.topicAuthorization ? await brokerOffsets.unreadable(this.#topics).catch(() => []) : [];
    const reading = { groupId: subscription.groupId, topics: refused.length > 0 ? refused : subscription.topics };
    if (!this.#isRunning) {
      this.#giveUp(error);
    } else if (this.#closing === undefined) {
      sink.failed(explainFailure(error, brokers, log, reading));
    }
  }

  #stopWatching(): void {
    this.#watch?.stop();
    this.#topicCheck.stop();
    this.#connectionWait.end();
  }

  /**
   * librdkafka leaves a classic group after it has given its partitions up. A member that has none it ends without a word (seen with 2.15.1), and the
   * next rebalance waits for it until its session is over. A static member does not leave.
   */
  #leaveIfIdle(): void {
    const { consumer, subscription, tuning } = this.#parts;
    const leaves = tuning.groupProtocol === "classic" && tuning.groupInstanceId === undefined;
    if (this.#isRunning && leaves && this.#assignments.all().length === 0) {
      try {
        consumer.unsubscribe();
      } catch (error) {
        subscription.logger.debug({ err: error }, "the group was not left; the session of this member will expire");
      }
    }
  }

  async #close(deadlineMs: number): Promise<void> {
    await Promise.resolve(); // so that `#closing` is set when the client asks for its partitions
    const deadline = performance.now() + deadlineMs;
    const { consumer, brokerOffsets, subscription } = this.#parts;
    this.#assignments.endReading();
    this.#stopWatching();
    await this.#starter.untilStartsCommitted(deadlineMs / 2);
    this.#over.abort();
    const leftMs = Math.max(0, deadline - performance.now());
    const released = Promise.all([
      brokerOffsets.close(),
      this.#writer.close(leftMs),
      this.#transactions.close(leftMs),
      this.#loop.stop(),
      this.#control.close(),
    ])
      .then(() => this.#leaveIfIdle())
      .then(() => answerOf<unknown>((done) => consumer.disconnect(done)))
      .then(() => consumer.removeAllListeners())
      .catch((error: unknown) => subscription.logger.warn({ err: error }, "librdkafka failed while it disconnected"));
    await settledOrLate(released, leftMs, () =>
      subscription.logger.warn(
        { deadlineMs },
        "librdkafka did not disconnect in time; it keeps the process alive until the brokers answer, so call process.exit() after run()",
      ),
    );
    this.#ended.abort(new ConfluentDriverError("client-crashed", "the session was closed before the brokers answered"));
  }
}
