import type { OffsetCommit, PartitionAssignment } from "../driver.ts";
import { ConsumerError } from "../errors.ts";
import { classifyAtSink } from "../failure/classify.ts";
import { backOffMs, type RetryPolicy } from "../failure/retry-policy.ts";
import type { Logger } from "../observe/logger.ts";
import type { OpenWait, Waits } from "../observe/waits.ts";
import type { Sink } from "../sink.ts";
import { textOf } from "../user-code/user-value.ts";
import type { ResolvedStart } from "../start-position.ts";
import type { Fence } from "./fence.ts";

export interface SinkClaimParts {
  readonly sinks: readonly Sink[];
  readonly groupId: string;
  readonly from: ResolvedStart;
  /** If there are handlers, partitions start at the group's commit: handlers know no checkpoint. */
  readonly hasHandlers: boolean;
  readonly retry: RetryPolicy;
  /** Closed when the consumer stops. */
  readonly fence: Fence;
  /** The partition is this member's, and is not about to go. */
  readonly holds: (assignment: PartitionAssignment) => boolean;
  readonly random: () => number;
  readonly logger: Logger;
  readonly waits: Waits;
  /** Halts the consumer. */
  readonly fail: (error: Error) => void;
}

/** Claims partitions for the sinks, and knows where each sink goes on. */
export class SinkClaims {
  readonly #parts: SinkClaimParts;
  readonly #checkpoints = new Map<PartitionAssignment, Map<Sink, OffsetCommit>>();
  /** Claims that were sent to sinks and are not answered. */
  readonly #asked = new Set<Promise<unknown>>();

  constructor(parts: SinkClaimParts) {
    this.#parts = parts;
  }

  /**
   * Claims the partitions in every sink, and resolves with where they start. Partitions that are left out start at the group's commit.
   * Never rejects.
   */
  async startAt(assignments: readonly PartitionAssignment[]): Promise<readonly OffsetCommit[]> {
    for (const assignment of assignments.filter(this.#parts.holds)) {
      this.#checkpoints.set(assignment, this.#checkpoints.get(assignment) ?? new Map<Sink, OffsetCommit>());
    }
    for (const sink of this.#parts.sinks) {
      for (const checkpoint of await this.#claim(sink, assignments)) {
        this.#checkpoints.get(checkpoint.assignment)?.set(sink, checkpoint); // it may have been released meanwhile
      }
    }
    return assignments.map((assignment) => this.#startOf(assignment)).filter((start) => start !== null);
  }

  /** What the sink had applied when the partition was claimed. Null if it has no checkpoint, or one of an earlier topic of that name. */
  checkpointOf(sink: Sink, assignment: PartitionAssignment): bigint | null {
    const checkpoint = this.#checkpoints.get(assignment)?.get(sink);
    return checkpoint === undefined || isOfAnotherTopic(checkpoint) ? null : checkpoint.offset;
  }

  /** Whether the partition starts here by the sinks' checkpoints: each sink that has one has applied everything before. */
  isAppliedTo(assignment: PartitionAssignment, offset: bigint): boolean {
    const start = this.#startOf(assignment);
    return start !== null && !isOfAnotherTopic(start) && start.offset === offset;
  }

  /** The sinks that miss records if the partition starts here, which is above their checkpoints. */
  behind(assignment: PartitionAssignment, offset: bigint): readonly { readonly sink: string; readonly checkpoint: bigint }[] {
    return this.#parts.sinks.flatMap((sink) => {
      const checkpoint = this.checkpointOf(sink, assignment);
      return checkpoint !== null && checkpoint < offset ? [{ sink: sink.name, checkpoint }] : [];
    });
  }

  /**
   * Resolves when no claim is under way. A partition is given up only then. Otherwise the claim could reach the sink after the next
   * owner's: it would fence that owner off, and nobody would write any more.
   */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#asked);
  }

  release(assignments: readonly PartitionAssignment[]): void {
    for (const assignment of assignments) {
      this.#checkpoints.delete(assignment);
    }
  }

  /**
   * If a checkpoint is of an earlier topic of that name, that checkpoint: the driver decides what follows. Otherwise the lowest checkpoint.
   * The group's commit is never above any of them. So the group's commit is used if a sink has no checkpoint (it is new, or its first start
   * ended early) and if there are handlers, too.
   */
  #startOf(assignment: PartitionAssignment): OffsetCommit | null {
    const { sinks, hasHandlers, from } = this.#parts;
    const known = [...(this.#checkpoints.get(assignment)?.values() ?? [])];
    const [first] = known;
    const outdated = known.find(isOfAnotherTopic);
    if (outdated !== undefined) {
      return outdated;
    }
    if (first === undefined || hasHandlers || (known.length < sinks.length && from === "earliest")) {
      return null;
    }
    return known.reduce((lowest, checkpoint) => (checkpoint.offset < lowest.offset ? checkpoint : lowest), first);
  }

  #claim(sink: Sink, assignments: readonly PartitionAssignment[]): Promise<readonly OffsetCommit[]> {
    const { waits } = this.#parts;
    const host = sink.host === undefined ? {} : { host: sink.host };
    const place = placesOf(assignments);
    const wait = waits.open({ what: `the claim of partitions by the sink ${JSON.stringify(sink.name)}`, ...host, place });
    return this.#claimUntilHeld(sink, assignments, wait).finally(() => wait.end());
  }

  async #claimUntilHeld(sink: Sink, assignments: readonly PartitionAssignment[], wait: OpenWait): Promise<readonly OffsetCommit[]> {
    const { groupId, retry, fence, holds, random, logger, fail } = this.#parts;
    for (let failures = 0; !fence.isClosed; ) {
      await this.settled(); // the latest claim of this member must be the last to reach the sink
      if (fence.mustWait) {
        await fence.leased(); // this member may have been frozen: its claim would fence off the member that has the partition by now
        continue;
      }
      const held = assignments.filter(holds);
      if (held.length === 0) {
        break;
      }
      try {
        return await this.#ask(sink.claim(groupId, held));
      } catch (error) {
        failures++;
        const kind = classifyAtSink(error);
        const isPermanent = kind === "permanent" || kind === "poison";
        if (isPermanent || (failures >= retry.attempts && kind !== "outage")) {
          const why = textOf(error);
          const after = isPermanent ? "" : ` in ${failures} attempts`;
          const which = `the sink ${JSON.stringify(sink.name)}`;
          fail(new ConsumerError("sink-failed", `${which} could not claim its partitions${after}: ${why}`, { cause: error }));
          break;
        }
        wait.failed(error);
        logger.debug({ err: error, sink: sink.name, attempt: failures }, "a sink could not claim its partitions; the claim is retried");
        await fence.pause(backOffMs(retry, failures, random));
      }
    }
    return [];
  }

  #ask<T>(claim: Promise<T>): Promise<T> {
    const asked = claim.finally(() => this.#asked.delete(asked));
    this.#asked.add(asked);
    return asked;
  }
}

function placesOf([first, ...others]: readonly PartitionAssignment[]): string {
  const place = first === undefined ? "no partition" : `${first.topic}[${first.partition}]`;
  return others.length === 0 ? place : `${place} and ${others.length} more partitions`;
}

/** The topic was deleted and created again. If either id is unknown, the topics count as the same. */
function isOfAnotherTopic({ assignment, topicId }: OffsetCommit): boolean {
  const current = assignment.topicId ?? null;
  return (topicId ?? null) !== null && current !== null && topicId !== current;
}
