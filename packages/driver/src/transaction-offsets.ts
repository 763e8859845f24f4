import { setTimeout as delay } from "node:timers/promises";
import type { OffsetCommit, PartitionAssignment } from "@cdckit/consumer";
import type { Assignments, HeldPartition } from "./assignments.ts";
import { settledOrLate } from "./bounded.ts";
import type { BrokerQuestions } from "./broker-questions.ts";
import type { MakeDriverError } from "./errors.ts";
import { isOfAnotherTopic } from "./lost-range.ts";
import { placeOf } from "./place.ts";

/** What {@link TransactionOffsets} needs of a session. */
export interface TransactionOffsetsParts {
  /** Answers what the group has committed. */
  readonly brokers: Pick<BrokerQuestions, "committed">;
  /** The partitions that the member holds. */
  readonly assignments: Pick<Assignments<HeldPartition>, "isCurrent" | "doubt" | "undoubt" | "doubtedOf">;
  /** Makes the driver's own error. */
  readonly makeError: MakeDriverError;
  /** Nothing is waited for after it. */
  readonly ended: AbortSignal;
}

const visibleDeadlineMs = 5_000;
const visiblePauseMs = 5;

/** The offsets of a member's transactions: whether it may still commit them, whether it has, and when others see them. */
export class TransactionOffsets {
  readonly #parts: TransactionOffsetsParts;
  readonly #fenced = new WeakSet<PartitionAssignment>();

  constructor(parts: TransactionOffsetsParts) {
    this.#parts = parts;
  }

  /** Another member writes for these partitions now: no transaction is begun for these assignments any more. */
  fence(offsets: readonly OffsetCommit[]): void {
    offsets.forEach(({ assignment }) => this.#fenced.add(assignment));
  }

  /** Throws a `fenced` error if a partition is not this member's any more, or if there are no offsets. */
  refuseUnlessCurrent(offsets: readonly OffsetCommit[]): void {
    const gone = offsets.find(({ assignment }) => !this.#parts.assignments.isCurrent(assignment) || this.#fenced.has(assignment));
    if (gone !== undefined || offsets.length === 0) {
      const place = gone === undefined ? "no partition" : `${gone.assignment.topic}[${gone.assignment.partition}]`;
      throw this.#parts.makeError("fenced", `${place} is not this member's any more; nothing was written`);
    }
  }

  /** The commit of these offsets is about to be asked for. Without an answer, nobody knows whether the brokers have carried it out. */
  doubt(offsets: readonly OffsetCommit[]): void {
    this.#parts.assignments.doubt(offsets);
  }

  /**
   * Whether an earlier transaction of these offsets was carried out, whose commit was not answered: then their records are written, and must not
   * be written again. The producer of that transaction must be fenced off by now, or it could still be carried out after the question. Nothing is
   * asked if the last outcome is known. Throws a `fenced` error if the group has gone on by something else.
   */
  async areCarriedOut(offsets: readonly OffsetCommit[]): Promise<boolean> {
    const { brokers, assignments, makeError } = this.#parts;
    const doubted = offsets.flatMap(({ assignment, offset }) => {
      const end = assignments.doubtedOf(assignment);
      return end === null ? [] : [{ assignment, offset, end }];
    });
    if (doubted.length === 0) {
      return false;
    }
    const committed = await brokers.committed(doubted.map(({ assignment: { topic, partition } }) => ({ topic, partition })));
    const reached = doubted.filter(({ assignment, end }) => {
      const found = committed.get(placeOf(assignment.topic, assignment.partition));
      return found !== undefined && found.offset >= end && !isOfAnotherTopic(found, assignment);
    });
    if (reached.length === 0) {
      assignments.undoubt(doubted.map(({ assignment }) => assignment));
      return false;
    }
    // One transaction moves all of its partitions, or none. What is repeated may be a part of it, and nothing beyond.
    const isRepeated = ({ assignment, offset, end }: (typeof doubted)[number]): boolean =>
      offset <= end && committed.get(placeOf(assignment.topic, assignment.partition))?.offset === end;
    if (reached.length < offsets.length || !reached.every(isRepeated)) {
      const places = reached.map(({ assignment: { topic, partition } }) => `${topic}[${partition}]`).join(", ");
      throw makeError(
        "fenced",
        `the group has gone on in ${places}, and not by the transaction alone whose commit was not answered; nothing was written. Start again`,
      );
    }
    return true;
  }

  /**
   * The brokers answer a commit before its offsets are visible. A new owner of the partition could start before them, so this member keeps the
   * partition until they are, or for five seconds. Never rejects.
   */
  async untilVisible(offsets: readonly OffsetCommit[]): Promise<void> {
    const late = new AbortController(); // a question alone may take longer: drivers repeat it while a transaction is being ended
    await settledOrLate(this.#whenVisible(offsets, late.signal), visibleDeadlineMs, () => late.abort());
  }

  async #whenVisible(offsets: readonly OffsetCommit[], late: AbortSignal): Promise<void> {
    const { brokers, ended } = this.#parts;
    const places = offsets.map(({ assignment: { topic, partition } }) => ({ topic, partition }));
    while (!late.aborted && !ended.aborted) {
      const committed = await brokers.committed(places).catch(() => null);
      const isVisible = offsets.every(({ assignment, offset }) => {
        const found = committed?.get(placeOf(assignment.topic, assignment.partition));
        return found !== undefined && found.offset >= offset && !isOfAnotherTopic(found, assignment);
      });
      if (isVisible) {
        return;
      }
      await delay(visiblePauseMs);
    }
  }
}
