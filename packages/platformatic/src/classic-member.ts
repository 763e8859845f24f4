import { setTimeout as delay } from "node:timers/promises";
import type { OpenWait } from "@cdckit/consumer";
import { brokerText, type HostAndPort, type Place, settledOrLate } from "@cdckit/driver";
import { askAgain } from "./ask-again.ts";
import { assignPartitions, strategyName } from "./cooperative-sticky.ts";
import { isUnanswered, mayPass } from "./explain-failure.ts";
import { fencedInstance, type GroupMember, type GroupMemberParts, type Identity } from "./group-member.ts";
import { readAssignment, readSubscription, writeAssignment, writeSubscription } from "./group-protocol.ts";
import { codes, codesOf, responseOf } from "./low-level-client.ts";
import { type Moment, msSince, thisMoment } from "./moment.ts";
import { coordinatorMoves, type JoinAnswer, type SyncAnswer } from "./requests.ts";

const nobody: Identity = Object.freeze({ memberId: "", generation: -1 });
const protocolType = "consumer";
const retryPauseMs = 200;
/** The answer to a join may overtake one heartbeat of the generation before it. If it has overtaken so many, it was lost. */
const maxOldBeats = 2;
/** A topic that had no partitions when they were divided was deleted, and may be created again at once. The group stands still until it is found. */
const absentTopicPauseMs = 1_000;
const removals: ReadonlySet<number> = new Set([codes.unknownMember, codes.illegalGeneration]);
/** What passes by itself when the group is joined again. */
const rejoins: ReadonlySet<number> = new Set([codes.rebalanceInProgress, codes.memberIdRequired, ...removals, ...coordinatorMoves]);

/**
 * A membership in the group by the classic protocol, with cooperative rebalances. The client's own consumer does not wait in a rebalance until a
 * partition is let go of, so this one joins, divides partitions and sends heartbeats by requests of its own.
 *
 * A rebalance does not wait for the consumer either: this member joins at once, and names what it holds, also what it is about to give up. A
 * partition that the group takes away is given to another member only after this one has joined again without it.
 */
export class ClassicMember implements GroupMember {
  readonly #parts: GroupMemberParts;
  #identity: Identity = nobody;
  /** The group is being joined. */
  #isJoining = false;
  /** The coordinator that was asked last to let this member join. */
  #joinsAt: HostAndPort | undefined;
  #mustRejoin = false;
  /** How many heartbeats of the generation before were refused since the group was asked to join. */
  #oldBeats = 0;
  #wake: () => void = () => {};
  #settled: (() => void)[] = [];
  #beating: NodeJS.Timeout | undefined;
  #looking: NodeJS.Timeout | undefined;
  #isLeader = false;
  /** How many partitions the topics of the group had when they were divided. */
  #counts: ReadonlyMap<string, number> = new Map();
  /** Open while the group is joined. */
  #waiting: OpenWait | undefined;
  /** Open from a heartbeat that has failed until one is answered. A join has a wait of its own. */
  #beatWaiting: OpenWait | undefined;
  readonly #stopped: AbortController = new AbortController();

  constructor(parts: GroupMemberParts) {
    this.#parts = parts;
  }

  get identity(): Identity {
    return this.#identity;
  }

  get isJoining(): boolean {
    return this.#isJoining;
  }

  get instanceId(): string | null {
    return this.#parts.tuning.groupInstanceId ?? null;
  }

  start(): void {
    void this.#run();
    this.#scheduleBeat();
    this.#watchCounts();
  }

  rejoin(): void {
    this.#mustRejoin = true;
    this.#wake();
  }

  settled(): Promise<void> {
    const isSettled = !this.#isJoining && !this.#mustRejoin;
    return isSettled || this.#isStopped ? Promise.resolve() : new Promise((resolve) => this.#settled.push(resolve));
  }

  removed(as: Identity, why: readonly number[]): void {
    if (as === this.#identity && !this.#isJoining && !this.#isStopped) {
      this.#forget(why);
      this.rejoin();
    }
  }

  stop(): void {
    this.#stopped.abort();
    clearTimeout(this.#beating);
    clearTimeout(this.#looking);
    this.#waiting?.end();
    this.#beatWaiting?.end();
    this.#wake();
    this.#settle();
  }

  /** A static member does not leave: it may come back. */
  async leave(deadlineMs: number): Promise<void> {
    const { cluster, groupId } = this.#parts;
    const { memberId } = this.#identity;
    if (memberId === "" || this.instanceId !== null) {
      return;
    }
    const members = [{ memberId, groupInstanceId: null, reason: "the consumer was stopped" }];
    const left = cluster
      .coordinator("group", groupId)
      .then((at) => cluster.ask(at, "member", "LeaveGroup", [groupId, members]))
      .catch((error: unknown) => this.#parts.logger.debug({ err: error }, "the group was not left; its session will expire"));
    await settledOrLate(left, deadlineMs, () => {});
  }

  get #isStopped(): boolean {
    return this.#stopped.signal.aborted;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      this.#mustRejoin = false;
      this.#isJoining = true;
      this.#oldBeats = 0;
      this.#wait();
      try {
        const places = await this.#join();
        this.#isJoining = false;
        this.#waiting?.end();
        this.#waiting = undefined;
        if (!this.#isStopped) {
          this.#parts.assigned(places);
        }
      } catch (error) {
        if (this.#isStopped) {
          break;
        }
        if (!this.#isPassing(error)) {
          this.stop();
          this.#parts.fail(
            codesOf(error).includes(codes.fencedInstance) ? fencedInstance(this.#parts.groupId, this.instanceId, error) : error,
          );
          break;
        }
        await this.#failed(error);
        continue;
      }
      if (!this.#mustRejoin) {
        this.#settle();
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
    this.#isJoining = false;
  }

  /** The group lets a member wait until all others have joined again, which no request would show that fails. */
  #wait(): void {
    const { cluster, groupId, sink } = this.#parts;
    this.#waiting ??= sink.waiting?.({ what: `the group ${groupId}`, host: cluster.brokers });
  }

  #settle(): void {
    for (const resolve of this.#settled.splice(0)) {
      resolve();
    }
  }

  /** Joins, divides the partitions if this member leads the group, and returns its own. */
  async #join(): Promise<readonly Place[]> {
    const { groupId } = this.#parts;
    const { memberId, generationId, leader, members, skipAssignment } = await this.#askToJoin();
    this.#identity = Object.freeze({ memberId: memberId ?? "", generation: generationId });
    this.#isLeader = leader === memberId;
    const assignments = this.#isLeader ? await this.#divide(members, skipAssignment) : [];
    const values = [groupId, generationId, memberId, this.instanceId, protocolType, strategyName, assignments];
    return readAssignment((await this.#sync(values)).assignment);
  }

  /**
   * The group holds the answer back until its leader has divided the partitions. Meanwhile, and if the answer was lost, the group takes heartbeats. So
   * it is asked again, and joined again only if it says so: each join begins another rebalance, and a leader of another client may divide late.
   */
  #sync(values: readonly unknown[]): Promise<SyncAnswer> {
    const { cluster, groupId, tuning } = this.#parts;
    const ask = async (): Promise<SyncAnswer> => {
      const sentAt = thisMoment();
      const at = await this.#joinAt();
      const synced = await cluster.ask<SyncAnswer>(at, "sync", "SyncGroup", values);
      this.#acknowledge(sentAt, at);
      return synced;
    };
    return askAgain(ask, {
      mayPass: isUnanswered,
      deadline: performance.now() + tuning.rebalanceTimeoutMs + tuning.sessionTimeoutMs,
      pauseMs: retryPauseMs,
      ended: this.#stopped.signal,
      failed: (error) => {
        cluster.forget("group", groupId);
        this.#waiting?.failed(error);
      },
    });
  }

  async #joinAt(): Promise<HostAndPort> {
    const { cluster, groupId } = this.#parts;
    this.#joinsAt = await cluster.coordinator("group", groupId);
    return this.#joinsAt;
  }

  /** The group holds the answer back until all members have asked. Who has no id yet is given one at once, on a connection whose answers come soon. */
  async #askToJoin(): Promise<JoinAnswer> {
    const { cluster, groupId, tuning, topics, owned } = this.#parts;
    const at = await this.#joinAt();
    const { memberId, generation } = this.#identity;
    const metadata = writeSubscription({ topics: topics(), owned: owned(), generation });
    const { sessionTimeoutMs, rebalanceTimeoutMs } = tuning;
    const protocols = [{ name: strategyName, metadata }];
    const values = [groupId, sessionTimeoutMs, rebalanceTimeoutMs, memberId, this.instanceId, protocolType, protocols, ""];
    return memberId === "" && this.instanceId === null
      ? cluster.ask(at, "member", "JoinGroup", values)
      : cluster.ask(at, "join", "JoinGroup", values, rebalanceTimeoutMs + sessionTimeoutMs);
  }

  /**
   * `isDivided`: a static leader has come back, and the group keeps what each member has. The leader alone sees when topics get more partitions, so
   * it learns how many they have all the same.
   */
  async #divide(members: JoinAnswer["members"], isDivided: boolean): Promise<readonly object[]> {
    const subscriptions = new Map(members.map(({ memberId, metadata }) => [memberId, readSubscription(metadata ?? Buffer.alloc(0))]));
    const wanted = new Set([...subscriptions.values()].flatMap(({ topics }) => topics));
    this.#counts = await this.#parts.countPartitions([...wanted]);
    const absent = this.#absentTopics();
    if (absent.length > 0) {
      this.#parts.logger.warn({ topics: absent }, "topics of the group have no partitions; they are looked for every second");
    }
    this.#watchCounts();
    if (isDivided) {
      return [];
    }
    return [...assignPartitions(subscriptions, this.#counts)].map(([memberId, places]) => ({
      memberId,
      assignment: writeAssignment(places),
    }));
  }

  /** Whether joining again may help. */
  #isPassing(error: unknown): boolean {
    return mayPass(error, rejoins);
  }

  async #failed(error: unknown): Promise<void> {
    const { cluster, groupId, logger } = this.#parts;
    const found = codesOf(error);
    if (found.includes(codes.memberIdRequired)) {
      const { memberId } = responseOf<JoinAnswer>(error) ?? {};
      this.#identity = Object.freeze({ memberId: memberId ?? "", generation: -1 });
      return;
    }
    if (found.some((code) => removals.has(code))) {
      this.#forget(found);
      return;
    }
    if (found.includes(codes.rebalanceInProgress)) {
      return;
    }
    cluster.forget("group", groupId);
    logger.debug({ err: error }, "the group could not be joined; it is tried again");
    this.#waiting?.failed(error);
    await delay(retryPauseMs, undefined, { signal: this.#stopped.signal }).catch(() => {});
  }

  /** With a generation that is over, the group still knows the member by its id, and would wait for it if it came back under another one. */
  #forget(why: readonly number[]): void {
    this.#identity = why.includes(codes.unknownMember) ? nobody : Object.freeze({ ...this.#identity, generation: -1 });
    this.#isLeader = false;
    this.#parts.lost();
  }

  #scheduleBeat(): void {
    if (!this.#isStopped) {
      this.#beating = setTimeout(() => void this.#beat().finally(() => this.#scheduleBeat()), this.#parts.tuning.heartbeatIntervalMs);
    }
  }

  /** Heartbeats go on while the group is joined: a join may wait long for other members. Never rejects. */
  async #beat(): Promise<void> {
    const { cluster, groupId } = this.#parts;
    const as = this.#identity;
    if (as.generation < 0) {
      return;
    }
    const sentAt = thisMoment();
    let at: HostAndPort | null = null;
    try {
      at = await cluster.coordinator("group", groupId);
      await cluster.ask(at, "member", "Heartbeat", [groupId, as.generation, as.memberId, this.instanceId]);
      this.#acknowledge(sentAt, at);
    } catch (error) {
      this.#beatFailed(error, as, { sentAt, at });
    }
  }

  #beatFailed(error: unknown, as: Identity, { sentAt, at }: { readonly sentAt: Moment; readonly at: HostAndPort | null }): void {
    const { cluster, groupId, logger, sink, fail } = this.#parts;
    const found = codesOf(error);
    if (this.#isStopped) {
      return;
    }
    if (found.includes(codes.rebalanceInProgress)) {
      this.#acknowledge(sentAt, at); // the coordinator has begun a new session with this heartbeat, too
      if (!this.#isJoining && as === this.#identity) {
        this.rejoin();
      }
    } else if (this.#isJoining && found.includes(codes.unknownMember)) {
      if (as.memberId === this.#identity.memberId) {
        this.#forget(found); // whatever its generation is: the join, too, names a member that is gone
        this.#endJoin();
      }
    } else if (this.#isJoining && as === this.#identity && found.includes(codes.illegalGeneration)) {
      this.#oldBeats++;
      if (this.#oldBeats >= maxOldBeats) {
        this.#endJoin();
      }
    } else if (found.some((code) => removals.has(code))) {
      this.removed(as, found); // an answer about an earlier generation says nothing
    } else if (found.includes(codes.fencedInstance)) {
      this.stop();
      fail(fencedInstance(groupId, this.instanceId, error));
    } else if (!this.#isPassing(error)) {
      this.stop();
      fail(error);
    } else {
      cluster.forget("group", groupId);
      if (!this.#isJoining) {
        this.#beatWaiting ??= sink.waiting?.({ what: `the group ${groupId}`, host: cluster.brokers });
        this.#beatWaiting?.failed(error);
      }
      if (found.length === 0) {
        this.#endJoin();
      }
      logger.debug({ err: error }, "a heartbeat was not acknowledged; the coordinator is looked for again");
    }
  }

  /** A join may wait for minutes, also on a connection that is dead. It is asked for again. */
  #endJoin(): void {
    if (this.#isJoining && this.#joinsAt !== undefined) {
      this.#parts.cluster.unlink(this.#joinsAt, "join");
      this.#parts.cluster.unlink(this.#joinsAt, "sync");
    }
  }

  /** The time at which the request was sent counts: a process that was frozen reads an old answer. */
  #acknowledge(sentAt: Moment, at: HostAndPort | null): void {
    const { acknowledged, tuning, cluster } = this.#parts;
    this.#beatWaiting?.end();
    this.#beatWaiting = undefined;
    if (!this.#isStopped) {
      const host = at === null ? cluster.brokers : brokerText(at);
      acknowledged(tuning.sessionTimeoutMs - msSince(sentAt), { withinMs: tuning.heartbeatIntervalMs, host });
    }
  }

  /**
   * The leader looks from time to time how many partitions topics have, and often while one of them has none. A topic has fewer if it was created
   * again. One that is away is not divided anew: its members keep what they have until it is there again.
   */
  #watchCounts(): void {
    clearTimeout(this.#looking);
    if (!this.#isStopped) {
      const { metadataMaxAgeMs } = this.#parts.tuning;
      const isAbsent = this.#isLeader && this.#absentTopics().length > 0;
      const pauseMs = isAbsent ? Math.min(absentTopicPauseMs, metadataMaxAgeMs) : metadataMaxAgeMs;
      this.#looking = setTimeout(() => void this.#look().finally(() => this.#watchCounts()), pauseMs);
    }
  }

  #absentTopics(): readonly string[] {
    return [...this.#counts].filter(([, count]) => count === 0).map(([topic]) => topic);
  }

  async #look(): Promise<void> {
    if (!this.#isLeader || this.#isJoining) {
      return;
    }
    const before = this.#counts;
    const counts = await this.#parts.countPartitions([...before.keys()]).catch(() => before);
    const hasChanged = [...counts].some(([topic, count]) => count > 0 && count !== before.get(topic));
    if (hasChanged && before === this.#counts && !this.#isStopped) {
      this.rejoin();
    }
  }
}
