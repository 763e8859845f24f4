import type {
  DriverSession,
  DriverSink,
  LogRange,
  OffsetCommit,
  OpenWait,
  OutgoingRecord,
  PartitionAssignment,
  Subscription,
} from "@cdckit/consumer";
import {
  Commits,
  PartitionStarter,
  type Place,
  placeOf,
  rangesOf,
  settledOrLate,
  sharedAbortController,
  type Start,
  TopicCheck,
  TopicWatch,
} from "@cdckit/driver";
import { type Held, heldPartitions, type HeldPartitions, placeAt } from "./assignments.ts";
import { BrokerOffsets } from "./broker-offsets.ts";
import { ClassicMember } from "./classic-member.ts";
import type { Cluster } from "./cluster.ts";
import { CommitRequests } from "./commit-requests.ts";
import { ConsumerMember } from "./consumer-member.ts";
import { makeError, PlatformaticDriverError } from "./errors.ts";
import { explainFailure } from "./explain-failure.ts";
import { GivingUp } from "./giving-up.ts";
import type { GroupMember } from "./group-member.ts";
import type { ResolvedPlatformaticOptions } from "./options.ts";
import { createReading, type Reading } from "./reading.ts";
import { Transactions } from "./transactions.ts";
import { Writer } from "./writer.ts";

export interface SessionParts {
  readonly cluster: Cluster;
  readonly subscription: Subscription;
  readonly sink: DriverSink;
  readonly tuning: ResolvedPlatformaticOptions["tuning"];
}

/** A membership in the group. */
export class PlatformaticSession implements DriverSession {
  readonly #parts: SessionParts;
  readonly #brokers: BrokerOffsets;
  readonly #assignments: HeldPartitions = heldPartitions();
  readonly #reading: Reading;
  readonly #givingUp: GivingUp;
  readonly #member: GroupMember;
  readonly #writer: Writer;
  readonly #transactions: Transactions;
  readonly #commits: Commits<Held>;
  readonly #starter: PartitionStarter<Held>;
  readonly #topicCheck: TopicCheck<Held>;
  #watch: TopicWatch | undefined;
  #topics: readonly string[] = [];
  /** The partitions that the group has given this member last. */
  #given: ReadonlySet<string> = new Set();
  /** Aborted when the session is closed, so that nothing that waits keeps the process alive. */
  readonly #over: AbortController = sharedAbortController();
  /** Aborted when the close has ended, or its deadline has passed. */
  readonly #ended: AbortController = sharedAbortController();
  /** Open while fetches are not answered. */
  #connecting: OpenWait | undefined;
  #closing: Promise<void> | undefined;
  #hasFailed = false;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    const { cluster, subscription, sink, tuning } = parts;
    const { groupId, logger } = subscription;
    const assignments = this.#assignments;
    const ended = this.#ended.signal;
    const fail = (error: unknown): void => this.#fail(error);
    const brokers = new BrokerOffsets(cluster, groupId);
    this.#brokers = brokers;
    const topicCheck = new TopicCheck<Held>({ brokers, assignments, logger, recreated: (held) => this.#starter.beginAgain(held) });
    this.#topicCheck = topicCheck;
    const answered = (failure: unknown): void => this.#answered(failure);
    const gone = (topics: readonly string[]): void => this.#topicsGone(topics);
    this.#reading = createReading({ ...parts, brokers, assignments, topicCheck, answered, fail, gone });
    this.#givingUp = new GivingUp({ sink, assignments, isOver: () => this.#isOver });
    const Member = tuning.groupProtocol === "consumer" ? ConsumerMember : ClassicMember;
    this.#member = new Member({
      cluster,
      groupId,
      tuning,
      logger,
      sink,
      topics: () => this.#topics,
      owned: () => assignments.current(),
      countPartitions: (asked) => this.#countPartitions(asked),
      assigned: (places) => this.#assigned(places),
      lost: () => this.#lost(),
      acknowledged: (validForMs, next) => this.#isOver || sink.acknowledged?.(validForMs, next),
      fail,
    });
    this.#writer = new Writer(cluster, ended);
    const member = this.#member;
    this.#transactions = new Transactions({ cluster, groupId, member, brokers, assignments, ended });
    const requests = new CommitRequests({ cluster, groupId, member, assignments, ended });
    this.#commits = new Commits({
      assignments,
      send: (offsets) => requests.send(offsets),
      transact: (records, offsets) => this.#transactions.transact(records, offsets),
      makeError,
    });
    this.#starter = new PartitionStarter({
      brokers,
      host: cluster.brokers,
      subscription,
      sink,
      assignments,
      start: (held, start) => this.#startAt(held, start),
      commit: (offsets) => this.#commits.commit(offsets),
      putBack: (offsets) => this.#commits.putBack(offsets),
      makeError,
      over: this.#over.signal,
      fail,
    });
  }

  /** The driver's questions to the brokers. */
  get brokers(): BrokerOffsets {
    return this.#brokers;
  }

  /** Joins the group and starts to consume. `topics`: those of the subscription, by name. */
  run(topics: readonly string[]): void {
    const { cluster, sink, subscription, tuning } = this.#parts;
    this.#topics = topics;
    this.#starter.beginSession(topics);
    this.#member.start();
    this.#reading.leaders.start();
    this.#watch = new TopicWatch({
      brokers: this.#brokers,
      subscription,
      sink,
      host: cluster.brokers,
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
    for (const held of this.#assignments.heldOf(assignments)) {
      held.isPaused = true;
    }
  }

  resume(assignments: readonly PartitionAssignment[]): void {
    for (const held of this.#assignments.heldOf(assignments)) {
      held.isPaused = false;
    }
    this.#reading.handOver.resume(assignments);
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

  ranges(assignments: readonly PartitionAssignment[]): Promise<readonly LogRange[]> {
    return rangesOf(this.#brokers, assignments);
  }

  reconnect(why: string): void {
    if (!this.#isOver) {
      this.#parts.cluster.drop();
      this.#parts.sink.reconnected?.(why);
    }
  }

  close(deadlineMs: number): Promise<void> {
    this.#closing ??= this.#close(deadlineMs);
    return this.#closing;
  }

  get #isOver(): boolean {
    return this.#closing !== undefined || this.#hasFailed;
  }

  /** The group has given this member these partitions. Those that it holds and are not among them, it has to give up. */
  #assigned(places: readonly Place[]): void {
    if (this.#isOver) {
      return;
    }
    this.#given = new Set(places.map(({ topic, partition }) => placeOf(topic, partition)));
    const going = this.#assignments.all().filter(({ assignment, isGoing }) => !isGoing && !this.#isGiven(assignment));
    this.#begin(places);
    this.#giveUp(going);
  }

  /**
   * By the classic protocol nobody takes the partitions of a deleted topic away: the leader of the group does not look at topics that others hold.
   * So this member joins again without them. By the other protocol the coordinator takes them.
   */
  #topicsGone(topics: readonly string[]): void {
    if (this.#parts.tuning.groupProtocol === "classic") {
      const going = this.#assignments.all().filter(({ assignment, isGoing }) => !isGoing && topics.includes(assignment.topic));
      const places = new Set(going.map(({ assignment: { topic, partition } }) => placeOf(topic, partition)));
      this.#given = new Set([...this.#given].filter((place) => !places.has(place)));
      this.#giveUp(going);
    }
  }

  #giveUp(going: readonly Held[]): void {
    if (going.length > 0) {
      this.#watch?.suspectMissing(); // their topic may be gone
      void this.#givingUp.some(going).then(() => this.#gone(going.map(({ assignment }) => assignment)));
    }
  }

  /** The group has removed this member: what it was given before counts no more. */
  #lost(): void {
    this.#given = new Set();
    this.#givingUp.all();
  }

  /** Partitions were given up. The group may have given some of them back meanwhile; the others go to other members with the next join. */
  #gone(places: readonly Place[]): void {
    if (this.#isOver) {
      return;
    }
    const back = places.filter((place) => this.#isGiven(place));
    this.#begin(back);
    if (back.length < places.length) {
      this.#member.rejoin();
    }
  }

  #isGiven({ topic, partition }: Place): boolean {
    return this.#given.has(placeOf(topic, partition));
  }

  #begin(places: readonly Place[]): void {
    const added = places.filter(({ topic, partition }) => this.#assignments.at(topic, partition) === undefined);
    if (added.length > 0) {
      this.#starter.begin(this.#assignments.add(added));
    }
  }

  #startAt(held: Held, { offset, leaderEpoch }: Start): void {
    placeAt(held, offset, leaderEpoch ?? -1);
    held.isStarting = false;
    this.#reading.fetcher.wake();
  }

  /** New topics match the subscription. The group keeps what it has. */
  #widen(topics: readonly string[]): void {
    if (!this.#isOver) {
      this.#topics = [...this.#topics, ...topics];
      this.#member.rejoin();
    }
  }

  async #countPartitions(topics: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const counts = new Map(topics.map((topic) => [topic, 0]));
    for (const { topic } of await this.#brokers.partitionsOf(topics)) {
      counts.set(topic, (counts.get(topic) ?? 0) + 1);
    }
    return counts;
  }

  #answered(failure: unknown): void {
    const { sink, cluster, subscription } = this.#parts;
    if (failure === null) {
      this.#connecting?.end();
      this.#connecting = undefined;
    } else if (!this.#isOver) {
      this.#connecting ??= sink.waiting?.({ what: "the connection to the brokers", host: cluster.brokers });
      this.#connecting?.failed(explainFailure(failure, cluster.brokers, subscription));
    }
  }

  #fail(error: unknown): void {
    if (!this.#isOver) {
      this.#hasFailed = true;
      this.#assignments.endReading();
      this.#stopReading();
      this.#starter.commitStarts(error); // before the commits of the consumer, which are of what it has handled
      const { sink, cluster, subscription } = this.#parts;
      sink.failed(explainFailure(error, cluster.brokers, subscription));
    }
  }

  #stopReading(): void {
    this.#reading.fetcher.stop();
    this.#reading.leaders.stop();
    this.#watch?.stop();
    this.#topicCheck.stop();
    this.#connecting?.end();
  }

  async #close(deadlineMs: number): Promise<void> {
    await Promise.resolve(); // so that `#closing` is set first
    const deadline = performance.now() + deadlineMs;
    const { cluster, subscription } = this.#parts;
    this.#assignments.endReading();
    this.#stopReading();
    await this.#starter.untilStartsCommitted(deadlineMs / 2);
    this.#member.stop();
    this.#over.abort();
    const leftMs = Math.max(0, deadline - performance.now());
    const released = Promise.all([this.#writer.close(), this.#transactions.close(), this.#member.leave(leftMs)]);
    await settledOrLate(released, leftMs, () =>
      subscription.logger.warn({ deadlineMs }, "the group was not left in time; the connections are ended"),
    );
    this.#ended.abort(new PlatformaticDriverError("client-crashed", "the session was closed before the brokers answered"));
    cluster.close();
  }
}
