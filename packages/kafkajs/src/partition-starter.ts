import { setTimeout as delay } from "node:timers/promises";
import type { DriverSink, PartitionAssignment, Subscription } from "@cdckit/consumer";
import type { Assignments, OwnAssignment } from "./assignments.ts";
import type { BrokerOffsets } from "./broker-offsets.ts";
import type { Commits } from "./commits.ts";
import { explainFailure } from "./explain-failure.ts";
import { holdBack } from "./log-guard.ts";
import { lostRangeError } from "./lost-range.ts";
import type { PartitionControl } from "./partition-control.ts";
import { type LostStart, resolveStarts, type Start } from "./starts.ts";

/** How long a member tries to find out where its partitions start. */
const startDeadlineMs = 60_000;
const startPauseMs = 500;

export interface PartitionStarterParts {
  readonly brokerOffsets: BrokerOffsets;
  readonly subscription: Subscription;
  readonly sink: DriverSink;
  readonly assignments: Assignments;
  readonly control: PartitionControl;
  readonly commits: Commits;
  /** The brokers' addresses, for messages. */
  readonly brokers: string;
  /** Aborted when the session is closed. */
  readonly over: AbortSignal;
  readonly fail: (error: Error) => void;
}

/** Starts partitions: reports them to the consumer, finds out where they start, and lets kafkajs fetch them. */
export class PartitionStarter {
  readonly #parts: PartitionStarterParts;

  constructor(parts: PartitionStarterParts) {
    this.#parts = parts;
  }

  /** Partitions that were just assigned. `moveTo`: where they start, whatever is committed. */
  begin(assignments: readonly OwnAssignment[], moveTo: bigint | null = null): void {
    const { control, sink } = this.#parts;
    // In this turn, because kafkajs fetches in the next one.
    for (const assignment of assignments) {
      control.apply(assignment);
    }
    const start = this.#startOf(assignments, moveTo);
    for (const held of this.#parts.assignments.heldOf(assignments)) {
      held.start = start;
    }
    sink.assigned(assignments);
  }

  /** Goes on with a partition at another offset, as a new assignment; null if the old one is not current. */
  move(assignment: PartitionAssignment, offset: bigint): PartitionAssignment | null {
    const { assignments, control, sink } = this.#parts;
    const held = assignments.held(assignment);
    if (held === undefined || held.isGoing || held.isOver) {
      return null;
    }
    const [renewed = null] = assignments.renewSome([held]);
    if (renewed !== null && held.isStarting) {
      this.begin([renewed], offset); // the id of its topic is not known yet, and its commit must name it
    } else if (renewed !== null) {
      renewed.topicId = held.assignment.topicId;
      sink.assigned([renewed]);
      control.start({ assignment: renewed, offset, committed: null, skipped: null });
    }
    return renewed;
  }

  /** Never rejects. A new assignment begins in the next turn, when the consumer knows it. */
  async #startOf(assignments: readonly OwnAssignment[], moveTo: bigint | null): Promise<void> {
    const { brokers, over, subscription, fail } = this.#parts;
    await Promise.resolve();
    for (const deadline = performance.now() + startDeadlineMs; ; ) {
      // Partitions that were given up or moved meanwhile are left out, so that a range that is lost there does not fail this session.
      const current = this.#current(assignments);
      if (current.length === 0) {
        return;
      }
      try {
        const found = await this.#resolve(current, moveTo);
        if ("length" in found) {
          this.#startAt(found);
          return;
        }
        if (this.#current([found.assignment]).length > 0) {
          await this.#halt(found);
          return;
        }
        continue;
      } catch (error) {
        if (this.#current(assignments).length === 0) {
          return;
        }
        if (performance.now() > deadline) {
          fail(explainFailure(error, brokers));
          return;
        }
        subscription.logger.warn(
          { err: error },
          "the offsets at which partitions start could not be found out; the brokers are asked again",
        );
      }
      await delay(startPauseMs, undefined, { signal: over }).catch(() => {});
    }
  }

  #current(assignments: readonly OwnAssignment[]): readonly OwnAssignment[] {
    return this.#parts.assignments.heldOf(assignments).flatMap(({ assignment, isOver }) => (isOver ? [] : [assignment]));
  }

  #resolve(assignments: readonly OwnAssignment[], moveTo: bigint | null): Promise<readonly Start[] | LostStart> {
    const { brokerOffsets, subscription } = this.#parts;
    const startAt: Subscription["startAt"] = async (asked) => asked.map((assignment) => ({ assignment, offset: moveTo ?? 0n }));
    return resolveStarts(
      brokerOffsets,
      moveTo === null ? subscription : { ...subscription, startAt },
      assignments,
      this.#parts.assignments,
    );
  }

  #startAt(starts: readonly Start[]): void {
    const { assignments, control, sink } = this.#parts;
    for (const start of starts) {
      const held = assignments.held(start.assignment);
      if (held !== undefined && !held.isOver) {
        if (start.skipped !== null) {
          sink.skipped?.(start.assignment, start.skipped, start.offset);
        }
        control.start(start);
      }
    }
  }

  async #halt({ assignment, lost, keptBy }: LostStart): Promise<void> {
    const { commits, subscription, fail } = this.#parts;
    await holdBack(assignment, lost, (commit) => commits.putBack(commit), subscription.logger);
    if (this.#current([assignment]).length > 0) {
      fail(lostRangeError(lost, subscription.groupId, keptBy));
    }
  }
}
