import { setTimeout as delay } from "node:timers/promises";
import type { OffsetCommit } from "@cdckit/consumer";
import { commitMetadata } from "@cdckit/driver";
import { epochBefore, type HeldPartitions } from "./assignments.ts";
import type { Cluster } from "./cluster.ts";
import { PlatformaticDriverError } from "./errors.ts";
import { isUnanswered } from "./explain-failure.ts";
import type { GroupMember, Identity } from "./group-member.ts";
import { listIn } from "./list-in.ts";
import { codes, codesOf, hasCodeOf } from "./low-level-client.ts";
import { coordinatorMoves } from "./requests.ts";

export interface CommitRequestParts {
  readonly cluster: Cluster;
  readonly groupId: string;
  readonly member: GroupMember;
  readonly assignments: HeldPartitions;
  /** Nothing is waited for after it. */
  readonly ended: AbortSignal;
}

const deadlineMs = 30_000;
const pauseMs = 100;
/** The coordinator does not know the member as the one that it was when it sent the commit. */
const refusals: ReadonlySet<number> = new Set([
  codes.unknownMember,
  codes.illegalGeneration,
  codes.fencedMemberEpoch,
  codes.staleMemberEpoch,
]);

/** Commits offsets as a member of the group. */
export class CommitRequests {
  readonly #parts: CommitRequestParts;

  constructor(parts: CommitRequestParts) {
    this.#parts = parts;
  }

  /**
   * The caller waits for each commit before the next. In a rebalance the coordinator refuses commits for a moment. The commit is then sent again
   * as a member of the new generation, for what this member still holds.
   */
  async send(offsets: readonly OffsetCommit[]): Promise<void> {
    const { cluster, groupId, ended, assignments } = this.#parts;
    for (const deadline = performance.now() + deadlineMs; ; ) {
      const member = this.#parts.member;
      const as = member.identity;
      const current = offsets.filter(
        ({ assignment: { topic, partition, epoch } }) => assignments.at(topic, partition)?.assignment.epoch === epoch,
      );
      if (current.length === 0) {
        throw new PlatformaticDriverError("commit-failed", "the partitions are not this member's any more; nothing was committed");
      }
      try {
        const at = await cluster.coordinator("group", groupId);
        const values = [groupId, as.generation, as.memberId, member.instanceId, toTopics(current, assignments)];
        await cluster.ask(at, "member", "OffsetCommit", values);
        return;
      } catch (error) {
        ended.throwIfAborted();
        if (!mayBeSentAgain(this.#parts, error, as) || performance.now() > deadline) {
          throw commitFailed(error);
        }
      }
      await delay(pauseMs, undefined, { signal: ended });
      await member.settled();
    }
  }
}

/** Whether offsets that this member has sent may be sent again after this failure, plain or in a transaction. If the group refuses it, the member hears so. */
export function mayBeSentAgain(
  { cluster, groupId, member }: Pick<CommitRequestParts, "cluster" | "groupId" | "member">,
  error: unknown,
  as: Identity,
): boolean {
  const found = codesOf(error);
  if (hasCodeOf(error, refusals)) {
    const isOld = as !== member.identity || member.isJoining;
    member.removed(as, found);
    return isOld;
  }
  if (found.length === 0 && !isUnanswered(error)) {
    return false;
  }
  if (found.every((code) => coordinatorMoves.has(code))) {
    cluster.forget("group", groupId); // also without an answer
    return true;
  }
  return found.every((code) => code === codes.rebalanceInProgress);
}

/** Offsets as requests have them, each with the leader epoch of the record before it, and with the id of its topic as metadata. */
export function toTopics(offsets: readonly OffsetCommit[], assignments: Pick<HeldPartitions, "held">): readonly object[] {
  const topics = new Map<string, object[]>();
  for (const { assignment, offset } of offsets) {
    const held = assignments.held(assignment);
    listIn(topics, assignment.topic).push({
      partitionIndex: assignment.partition,
      committedOffset: offset,
      committedLeaderEpoch: held === undefined ? -1 : epochBefore(held, offset),
      committedMetadata: commitMetadata(assignment, offset) ?? "",
    });
  }
  return [...topics].map(([name, partitions]) => ({ name, partitions }));
}

function commitFailed(error: unknown): PlatformaticDriverError {
  if (error instanceof PlatformaticDriverError) {
    return error;
  }
  const inner = (error as { readonly errors?: readonly { readonly message?: string }[] }).errors?.[0] ?? error;
  const { message = String(error) } = inner as { readonly message?: string };
  return new PlatformaticDriverError("commit-failed", `the group refused a commit: ${message}`, { cause: error });
}
