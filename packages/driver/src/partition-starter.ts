import { setTimeout as delay } from "node:timers/promises";
import type { DriverSink, LostRange, OffsetCommit, OpenWait, PartitionAssignment, Subscription } from "@cdckit/consumer";
import type { Assignments, HeldPartition, OwnAssignment } from "./assignments.ts";
import { bounded, settledOrLate } from "./bounded.ts";
import type { BrokerQuestions, Tried } from "./broker-questions.ts";
import { CommitNotice } from "./commit-notice.ts";
import { DriverError, type MakeDriverError } from "./errors.ts";
import { isOfAnotherTopic, lostRangeError } from "./lost-range.ts";
import { passingMs, placeText } from "./partition-waits.ts";
import { placeOf } from "./place.ts";
import { type FoundStarts, type LostStart, resolveStarts, type Start } from "./starts.ts";
import { isError } from "./is-error.ts";

/** So long without an answer of the brokers, a start fails the session. */
const startDeadlineMs = 60_000;
const startPauseMs = 500;
/** A partition may be without a leader for hours, and each question about it is also a claim of sinks. */
const maxStartPauseMs = 5_000;
const maxCauses = 8;
/** So long the commit of a start may hold up its partition. */
const startCommitDeadlineMs = 5_000;

/** What starting partitions needs of a driver. */
export interface PartitionStarterParts<Held extends HeldPartition> {
  /** Answers where logs begin and end, what is committed, and which ids topics have. */
  readonly brokers: BrokerQuestions;
  /** The brokers' addresses, for the report on a start that is waited for. */
  readonly host: string;
  /** What the consumer asked for: `from`, `startAt` and `lostRange` decide the starts. */
  readonly subscription: Subscription;
  /** Gets the assignments, the starts, the ranges that are skipped, and what is waited for. */
  readonly sink: DriverSink;
  /** The partitions that the member holds. What has left them is not started. */
  readonly assignments: Assignments<Held>;
  /** Called with new partitions before the consumer knows them, in the same turn. */
  readonly begun?: (held: readonly Held[]) => void;
  /** Lets the client fetch the partition. */
  readonly start: (held: Held, start: Start) => void;
  /** Commits offsets, apart from those that are below the group's. */
  readonly commit: (offsets: readonly OffsetCommit[]) => Promise<void>;
  /** Commits offsets that may be below the group's, and of partitions that are still starting. */
  readonly putBack: (offsets: readonly OffsetCommit[]) => Promise<void>;
  /** Makes an error of the driver's own class. */
  readonly makeError: MakeDriverError;
  /** Aborted when the session is closed. */
  readonly over: AbortSignal;
  /** Ends the session: no broker has answered for a minute where partitions start, or it is a lost range at which the consumer halts. */
  readonly fail: (error: unknown) => void;
}

/** Starts partitions: reports them to the consumer, finds out where they start, and lets the client fetch them. */
export class PartitionStarter<Held extends HeldPartition> {
  readonly #parts: PartitionStarterParts<Held>;
  readonly #commitNotice: CommitNotice;
  #startsCommitted: Promise<unknown> = Promise.resolve();
  /** The partitions that there were when the session began, by `placeOf`; null if that is not known, or does not matter. */
  #existing: Promise<ReadonlySet<string> | null> = Promise.resolve(null);

  constructor(parts: PartitionStarterParts<Held>) {
    this.#parts = parts;
    this.#commitNotice = new CommitNotice(parts.subscription);
  }

  /**
   * The session begins, with these topics. From now on, everything that is written to a new partition is to be read: `from: "latest"` is the end
   * of those that there are now.
   */
  beginSession(topics: readonly string[]): void {
    const { brokers, subscription } = this.#parts;
    if (subscription.from === "latest") {
      this.#existing = brokers.partitionsOf(topics).then(
        (places) => new Set(places.map(({ topic, partition }) => placeOf(topic, partition))),
        (error: unknown) => {
          subscription.logger.warn({ err: error }, "the partitions could not be listed; new ones start at their ends, too");
          return null;
        },
      );
    }
  }

  /** Partitions that were just assigned. `moveTo`: where they start, whatever is committed. */
  begin(added: readonly OwnAssignment[], moveTo: bigint | null = null): void {
    const { assignments, begun, sink } = this.#parts;
    const helds = assignments.heldOf(added);
    begun?.(helds);
    const start = this.#startOf(added, moveTo);
    for (const held of helds) {
      held.start = start;
    }
    sink.assigned(added);
  }

  /** Goes on with partitions whose topic was recreated while they were read, as new assignments: the old ones are lost. */
  beginAgain(going: readonly Held[]): void {
    const { assignments, sink } = this.#parts;
    const lost = going.map(({ assignment }) => assignment);
    const renewed = assignments.add(lost);
    void sink.revoked(lost, "lost");
    this.begin(renewed);
  }

  /** Goes on with a partition at another offset, as a new assignment; null if the old one is not current. */
  move(assignment: PartitionAssignment, offset: bigint): PartitionAssignment | null {
    const { assignments, sink } = this.#parts;
    const held = assignments.held(assignment);
    if (held === undefined || held.isGoing || held.isOver) {
      return null;
    }
    const { isStarting } = held;
    const { topicId } = held.assignment;
    const [renewed = null] = assignments.add([assignment]);
    if (renewed !== null && isStarting && topicId === null) {
      this.begin([renewed], offset); // the id of its topic is not known yet, and its commit must name it
    } else if (renewed !== null) {
      renewed.topicId = topicId;
      sink.assigned([renewed]);
      this.#startAt({ assignment: renewed, offset, skipped: null });
    }
    return renewed;
  }

  /**
   * Never rejects. A new assignment begins in the next turn, when the consumer knows it. A partition of which the start is not known, as without a
   * leader, holds up no other.
   */
  async #startOf(added: readonly OwnAssignment[], moveTo: bigint | null): Promise<void> {
    await Promise.resolve();
    const { sink, host } = this.#parts;
    for (let rest = added; rest.length > 0; ) {
      const wait = sink.waiting?.({ what: "the start offset", host, place: placeText(rest) });
      rest = await this.#startKnown(rest, moveTo, wait);
      wait?.end();
    }
  }

  /** Starts what can start, as soon as that is one of them, and returns the others. */
  async #startKnown(added: readonly OwnAssignment[], moveTo: bigint | null, wait: OpenWait | undefined): Promise<readonly OwnAssignment[]> {
    const { over, fail } = this.#parts;
    const beginMs = performance.now();
    let answeredMs = beginMs;
    const sinceMs = (time: number): number => performance.now() - time;
    const tried = (failure: unknown): void => {
      if (sinceMs(beginMs) >= passingMs) {
        wait?.failed(this.#explained(failure));
      }
    };
    for (let pauseMs = startPauseMs; ; pauseMs = Math.min(2 * pauseMs, maxStartPauseMs)) {
      // Partitions that were given up or moved meanwhile are left out, so that a range that is lost there does not fail this session.
      const current = this.#current(added);
      if (current.length === 0) {
        return [];
      }
      try {
        const found = await this.#resolve(current, moveTo, tried);
        if ("lost" in found) {
          await this.#halt(found);
          continue; // if the partition was given up or moved meanwhile, the others start
        }
        const { starts, unknown } = found;
        const known = moveTo === null ? await this.#commitNewStarts(starts) : starts;
        known.forEach((start) => this.#startAt(start, moveTo === null && start.committed === null));
        if (starts.length > 0) {
          return [...unknown.keys()];
        }
        answeredMs = performance.now();
        this.#unknown([...unknown.values()][0], tried);
      } catch (error) {
        if (this.#current(added).length === 0) {
          return [];
        }
        if (sinceMs(answeredMs) > startDeadlineMs) {
          fail(error);
          return [];
        }
        this.#unknown(error, tried);
      }
      await delay(pauseMs, undefined, { signal: over }).catch(() => {});
    }
  }

  /**
   * The starts that the group has no commit of. If `from` names a time, the start depends on when it was asked for: a member that takes the
   * partition over before its first commit would start later, and pass over what this one has not handled. So such a start is committed before
   * anything is read. Returns the starts as the group has them then: a commit that this member does not know of would be another member's.
   */
  async #commitNewStarts(starts: readonly Start[]): Promise<readonly Start[]> {
    const { subscription, putBack, makeError, over } = this.#parts;
    this.#commitNotice.started(starts);
    const uncommitted = starts.filter(({ committed }) => committed === null);
    if (uncommitted.length === 0 || !dependsOnTime(subscription.from)) {
      return starts;
    }
    const partitions = placeText(uncommitted.map(({ assignment }) => assignment));
    const late = (): Error => makeError("brokers-unreachable", `no answer within ${startCommitDeadlineMs} ms`);
    try {
      await bounded(putBack(uncommitted), startCommitDeadlineMs, late, over);
      return starts.map((start) => (start.committed === null ? { ...start, committed: start.offset } : start));
    } catch (error) {
      if (!over.aborted) {
        subscription.logger.warn(
          { err: error, partitions },
          "the starts of partitions could not be committed; who takes them over starts later",
        );
      }
      return starts;
    }
  }

  #unknown(why: unknown, tried: Tried): void {
    tried(why);
    this.#parts.subscription.logger.debug(
      { err: why },
      "the offsets at which partitions start could not be found out; the brokers are asked again",
    );
  }

  /**
   * The session has failed. Retention deletes records of several partitions at once, and one of them has failed the session. Another one that the
   * group has no commit of would start by `from` the next time, whatever it has lost by then. So its start is committed.
   *
   * Kafka deletes the commits of a topic with it. Without topic ids, that a commit is missing may be all that shows a recreated topic, so that
   * nothing is committed after another failure.
   */
  commitStarts(failure: unknown): void {
    const { lost = null } = (failure ?? {}) as { readonly lost?: LostRange | null };
    if (lost === null || lost.recreated !== undefined || lost.firstMissing >= lost.firstAvailable) {
      return;
    }
    const { assignments, commit, subscription } = this.#parts;
    const commits = assignments.all().map(async ({ assignment, uncommittedStart, doubted }) => {
      if (uncommittedStart !== null && doubted === null) {
        const { topic, partition } = assignment;
        await commit([{ assignment, offset: uncommittedStart }]).catch(() => {
          subscription.logger.warn({ topic, partition }, "the start of a partition without a commit could not be committed");
        });
      }
    });
    this.#startsCommitted = Promise.all(commits);
  }

  /** Resolves when what `commitStarts` began has been answered, at the latest after `deadlineMs`. Until then the partitions must be held. */
  async untilStartsCommitted(deadlineMs: number): Promise<void> {
    await settledOrLate(this.#startsCommitted, deadlineMs, () => {});
  }

  #current(added: readonly OwnAssignment[]): readonly OwnAssignment[] {
    return this.#parts.assignments.heldOf(added).flatMap(({ assignment, isOver }) => (isOver ? [] : [assignment]));
  }

  async #resolve(added: readonly OwnAssignment[], moveTo: bigint | null, tried: Tried): Promise<FoundStarts | LostStart> {
    const { brokers, subscription, assignments } = this.#parts;
    const startAt: Subscription["startAt"] = async (asked) => asked.map((assignment) => ({ assignment, offset: moveTo ?? 0n }));
    const asked = moveTo === null ? subscription : { ...subscription, startAt };
    return resolveStarts(brokers, asked, added, { assignments, existing: await this.#existing }, tried);
  }

  /** Health reports show messages of typed errors only: others may hold an application's data. */
  #explained(failure: unknown): unknown {
    return failure instanceof DriverError ? failure : this.#parts.makeError("partition-unavailable", innermostReason(failure));
  }

  #startAt(start: Start, isUncommitted = false): void {
    const { assignments, sink } = this.#parts;
    const { assignment, offset, skipped } = start;
    const held = assignments.held(assignment);
    if (held !== undefined && !held.isOver) {
      held.uncommittedStart = isUncommitted ? offset : null;
      if (skipped !== null) {
        sink.skipped?.(assignment, skipped, offset);
      }
      sink.startsAt?.(assignment, offset);
      this.#parts.start(held, start);
    }
  }

  /** The session fails, unless the partition was given up or moved meanwhile. */
  async #halt(found: LostStart): Promise<void> {
    const { assignments, makeError, subscription, fail } = this.#parts;
    const isOurs = (): boolean => this.#current([found.assignment]).length > 0;
    if (isOurs()) {
      await this.#holdBack(found);
    }
    if (isOurs()) {
      assignments.endReading(); // nothing is tried again, and nothing more is read
      fail(lostRangeError(makeError, found.lost, subscription.groupId, found.keptBy));
    }
  }

  /**
   * A recreated topic halts this member, and the next member must halt too. Kafka has deleted the group's commit with the old topic. So the
   * start of the new topic is committed with the id of the old one. A client without topic ids starts there, and skips nothing. A commit in the
   * new topic, or one without an id, stays: somebody has decided there, and it is a sink's checkpoint that names the old topic.
   */
  async #holdBack({ assignment, lost: { topic, partition, firstAvailable, recreated }, commit }: LostStart): Promise<void> {
    const { putBack, subscription } = this.#parts;
    if (recreated !== undefined && (commit === null || isOfAnotherTopic(commit, assignment))) {
      await putBack([{ assignment, offset: firstAvailable, topicId: recreated.from }]).catch(() => {
        subscription.logger.warn({ topic, partition }, "the start of a recreated topic could not be committed");
      });
    }
  }
}

/** What the innermost error says. The outer ones say only that something has failed. */
function innermostReason(error: unknown, depth = 0): string {
  const { cause, errors, message = String(error) } = (error ?? {}) as Partial<AggregateError>;
  const inner: unknown = cause ?? errors?.[0];
  return isError(inner) && depth < maxCauses ? innermostReason(inner, depth + 1) : message.replace(/\.?\s*$/, "");
}

function dependsOnTime(from: Subscription["from"]): boolean {
  return from === "latest" || (typeof from === "object" && "timestamp" in from);
}
