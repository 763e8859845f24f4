import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { OpenWait } from "@cdckit/consumer";
import { brokerText, type HostAndPort, type Place, placeOf, settledOrLate } from "@cdckit/driver";
import {
  classicGroup,
  groupSessionTimeoutMs,
  heartbeatValues,
  joinEpoch,
  leaveEpoch,
  notSupported,
  staticLeaveEpoch,
} from "./consumer-protocol.ts";
import { isUnanswered } from "./explain-failure.ts";
import { fencedInstance, type GroupMember, type GroupMemberParts, type Identity, takenInstance } from "./group-member.ts";
import { listIn } from "./list-in.ts";
import { codes, codesOf } from "./low-level-client.ts";
import { type Moment, msSince, thisMoment } from "./moment.ts";
import { coordinatorMoves, type GroupHeartbeatAnswer } from "./requests.ts";
import { topicIdHex, topicIdText } from "./topic-id-text.ts";

type AssignedTopics = NonNullable<GroupHeartbeatAnswer["assignment"]>["topicPartitions"];

const retryPauseMs = 200;
/** How much longer than its session the group may keep a static member that is gone. */
const releaseSlackMs = 2_000;
const removals: ReadonlySet<number> = new Set([codes.unknownMember, codes.fencedMemberEpoch]);
/** What passes by itself. */
const passing: ReadonlySet<number> = new Set([...coordinatorMoves, ...removals, codes.staleMemberEpoch]);

/**
 * A membership in the group by the protocol of KIP-848. The coordinator assigns: each heartbeat says what this member holds, and each answer what
 * it shall hold. The coordinator gives a partition to another member only after a heartbeat without it. That heartbeat is sent when the consumer
 * has let go of the partition and has committed; until then heartbeats go on that still name it.
 *
 * Each heartbeat is complete: topics, partitions and timeouts. So an answer that was lost is given again with the next one, and a coordinator that
 * has moved needs no special case.
 */
export class ConsumerMember implements GroupMember {
  readonly #parts: GroupMemberParts;
  /** The member keeps its id when the group has removed it: it joins again with epoch 0. */
  #identity: Identity = Object.freeze({ memberId: randomUUID(), generation: joinEpoch });
  /** From the moment at which a heartbeat is sent until one is answered. Its answer may bring another epoch. */
  #isPending = true;
  /** A heartbeat is due before the interval is over. */
  #isDue = false;
  #hasAsked = false;
  #wake: () => void = () => {};
  #settled: (() => void)[] = [];
  #intervalMs = retryPauseMs;
  #sessionTimeoutMs: number;
  #unreleasedSinceMs: number | null = null;
  #waiting: OpenWait | undefined;
  /** The names of topics by their ids, and the ids of the partitions that were assigned last. */
  readonly #names = new Map<string, string>();
  #ids: ReadonlyMap<string, string> = new Map();
  readonly #stopped: AbortController = new AbortController();

  constructor(parts: GroupMemberParts) {
    this.#parts = parts;
    this.#sessionTimeoutMs = parts.tuning.sessionTimeoutMs;
  }

  get identity(): Identity {
    return this.#identity;
  }

  get isJoining(): boolean {
    return this.#isPending;
  }

  get instanceId(): string | null {
    return this.#parts.tuning.groupInstanceId ?? null;
  }

  start(): void {
    void this.#run();
  }

  rejoin(): void {
    this.#isDue = true;
    this.#wake();
  }

  settled(): Promise<void> {
    return !this.#isPending || this.#isStopped ? Promise.resolve() : new Promise((resolve) => this.#settled.push(resolve));
  }

  /** An epoch that is old says nothing: the next heartbeat is answered with the current one. */
  removed(as: Identity, why: readonly number[]): void {
    if (as === this.#identity && !this.#isPending && !this.#isStopped) {
      if (why.some((code) => removals.has(code))) {
        this.#forget();
      }
      this.rejoin();
    }
  }

  stop(): void {
    this.#stopped.abort();
    this.#waiting?.end();
    this.#wake();
    this.#settle();
  }

  async leave(deadlineMs: number): Promise<void> {
    if (!this.#hasAsked) {
      return;
    }
    const { cluster, groupId, logger } = this.#parts;
    const epoch = this.instanceId === null ? leaveEpoch : staticLeaveEpoch;
    const values = heartbeatValues({ groupId, memberId: this.#identity.memberId, epoch, instanceId: this.instanceId });
    const left = cluster
      .coordinator("group", groupId)
      .then((at) => cluster.ask(at, "member", "ConsumerGroupHeartbeat", values))
      .catch((error: unknown) => logger.debug({ err: error }, "the group was not left; its session will expire"));
    await settledOrLate(left, deadlineMs, () => {});
  }

  get #isStopped(): boolean {
    return this.#stopped.signal.aborted;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      this.#isDue = false;
      this.#isPending = true;
      try {
        await this.#beat();
      } catch (error) {
        await this.#failed(error);
        continue;
      }
      this.#unreleasedSinceMs = null;
      this.#waiting?.end();
      this.#waiting = undefined;
      this.#isPending = false;
      this.#settle();
      await this.#untilDue();
    }
  }

  #settle(): void {
    for (const resolve of this.#settled.splice(0)) {
      resolve();
    }
  }

  async #untilDue(): Promise<void> {
    if (this.#isDue || this.#isStopped) {
      return;
    }
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, this.#intervalMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #beat(): Promise<void> {
    const { cluster, groupId, tuning, topics } = this.#parts;
    const { memberId, generation: epoch } = this.#identity;
    if (epoch === joinEpoch) {
      await this.#learnSessionTimeout();
    }
    const sentAt = thisMoment();
    const at = await cluster.coordinator("group", groupId);
    if (this.#isStopped) {
      return;
    }
    this.#hasAsked = true;
    const values = heartbeatValues({
      groupId,
      memberId,
      epoch,
      instanceId: this.instanceId,
      rack: tuning.rackId ?? null,
      rebalanceTimeoutMs: tuning.rebalanceTimeoutMs,
      topics: topics(),
      owned: epoch === joinEpoch ? [] : this.#owned(),
    });
    const answer = await cluster.ask<GroupHeartbeatAnswer>(at, "member", "ConsumerGroupHeartbeat", values);
    if (this.#isStopped) {
      return;
    }
    const { memberEpoch, heartbeatIntervalMs, assignment } = answer;
    if (memberEpoch !== epoch) {
      this.#identity = Object.freeze({ memberId, generation: memberEpoch });
    }
    this.#intervalMs = Math.max(1, heartbeatIntervalMs);
    this.#acknowledge(sentAt, at);
    if (assignment !== null) {
      await this.#take(assignment.topicPartitions);
    }
  }

  /** The brokers decide about the session timeout. A user may lack the right to read it. */
  async #learnSessionTimeout(): Promise<void> {
    const { cluster, groupId, tuning, logger } = this.#parts;
    try {
      this.#sessionTimeoutMs = (await groupSessionTimeoutMs(cluster, groupId)) ?? tuning.sessionTimeoutMs;
    } catch (error) {
      logger.debug(
        { err: error, sessionTimeoutMs: tuning.sessionTimeoutMs },
        "the group's session timeout could not be read; the option counts",
      );
    }
  }

  /** What this member holds, by the ids of the topics. A partition whose start is under way has the id with which it was assigned. */
  #owned(): readonly { readonly topicId: string; readonly partitions: readonly number[] }[] {
    const topics = new Map<string, number[]>();
    for (const { topic, partition, topicId } of this.#parts.owned()) {
      const id = topicId ?? this.#ids.get(placeOf(topic, partition));
      if (id !== undefined) {
        listIn(topics, id).push(partition);
      }
    }
    return [...topics].map(([id, partitions]) => ({ topicId: topicIdHex(id), partitions }));
  }

  async #take(topics: AssignedTopics): Promise<void> {
    const assigned = topics.map(({ topicId, partitions }) => ({ id: topicIdText(topicId) ?? "", partitions }));
    if (assigned.some(({ id }) => !this.#names.has(id))) {
      await this.#learnNames();
    }
    const ids = new Map<string, string>();
    const places: Place[] = [];
    for (const { id, partitions } of assigned) {
      const topic = this.#names.get(id); // unknown if no broker that was asked knows the topic yet: the next answer names it again
      for (const partition of topic === undefined ? [] : partitions) {
        places.push({ topic: topic as string, partition });
        ids.set(placeOf(topic as string, partition), id);
      }
    }
    if (!this.#isStopped) {
      this.#ids = ids;
      this.#parts.assigned(places);
    }
  }

  async #learnNames(): Promise<void> {
    const { topics } = await this.#parts.cluster.metadata(this.#parts.topics());
    for (const { name, topicId } of topics) {
      const id = topicIdText(topicId);
      if (name !== null && id !== null) {
        this.#names.set(id, name);
      }
    }
  }

  /** Waits for a moment if another heartbeat may help. If not, the session fails. Never rejects. */
  async #failed(error: unknown): Promise<void> {
    const { cluster, groupId, logger, sink, fail } = this.#parts;
    if (this.#isStopped) {
      return;
    }
    const fatal = this.#fatal(error);
    if (fatal !== null) {
      this.stop();
      fail(fatal);
      return;
    }
    const found = codesOf(error);
    if (this.#isRemoval(found)) {
      this.#forget();
    } else if (!found.includes(codes.unreleasedInstance)) {
      cluster.forget("group", groupId);
    }
    logger.debug({ err: error }, "a heartbeat was not acknowledged; it is sent again");
    this.#waiting ??= sink.waiting?.({ what: `the group ${groupId}`, host: cluster.brokers });
    this.#waiting?.failed(error);
    await delay(retryPauseMs, undefined, { signal: this.#stopped.signal }).catch(() => {});
  }

  /** What the session fails with; null if another heartbeat may help. */
  #fatal(error: unknown): unknown {
    const { cluster, groupId } = this.#parts;
    const found = codesOf(error);
    if (found.length === 0) {
      return isUnanswered(error) ? null : error;
    }
    if (found.includes(codes.unsupportedVersion)) {
      return notSupported(cluster.brokers, error);
    }
    if (found.includes(codes.groupIdNotFound) && this.#identity.generation === joinEpoch) {
      return classicGroup(groupId, error);
    }
    if (found.includes(codes.fencedInstance)) {
      return fencedInstance(groupId, this.instanceId, error);
    }
    if (found.includes(codes.unreleasedInstance) && !this.#mayBeReleased()) {
      return takenInstance(groupId, this.instanceId, error);
    }
    const isPassing = this.#isRemoval(found) || found.every((code) => passing.has(code) || code === codes.unreleasedInstance);
    return isPassing ? null : error;
  }

  /** A static member that has crashed holds its place until its session is over. One that lives holds it for longer. */
  #mayBeReleased(): boolean {
    this.#unreleasedSinceMs ??= performance.now();
    return performance.now() - this.#unreleasedSinceMs < this.#sessionTimeoutMs + releaseSlackMs;
  }

  /** The group does not know this member any more. One without members may have been deleted. */
  #isRemoval(found: readonly number[]): boolean {
    return found.some((code) => removals.has(code) || code === codes.groupIdNotFound);
  }

  #forget(): void {
    this.#identity = Object.freeze({ ...this.#identity, generation: joinEpoch });
    this.#parts.lost();
  }

  /** The time at which the request was sent counts: a process that was frozen reads an old answer. */
  #acknowledge(sentAt: Moment, at: HostAndPort): void {
    const next = { withinMs: this.#intervalMs, host: brokerText(at) };
    this.#parts.acknowledged(this.#sessionTimeoutMs - msSince(sentAt), next);
  }
}
