import type { DriverSession, PartitionAssignment } from "../driver.ts";
import { ConsumerError } from "../errors.ts";
import { check, checkMembers } from "../option-checks.ts";
import { isPartition, maxPartition } from "../partition-number.ts";
import { offsetOf } from "../start-position.ts";
import type { PartitionLedgers } from "./partition-ledgers.ts";

/** Where a partition is to go on: the offset of the record to handle next. */
export interface SeekPosition {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
}

/** What `seek()` was given. Throws a `ConsumerError` if that is no position. */
export function seekPositionOf(given: unknown): SeekPosition {
  check(typeof given === "object" && given !== null, "seek()", "{ topic, partition, offset }", given);
  checkMembers("seek()", given, ["topic", "partition", "offset"]);
  const { topic, partition, offset } = given as Readonly<Record<string, unknown>>; // checked above
  check(typeof topic === "string" && topic !== "", "seek() topic", "the name of a topic", topic);
  check(isPartition(partition), "seek() partition", `a number from 0 to ${maxPartition}`, partition);
  return { topic: topic as string, partition: partition as number, offset: offsetOf("seek() offset", offset) }; // checked above
}

export interface SeekParts {
  /** Undefined while the consumer is not running. */
  readonly session: DriverSession | undefined;
  readonly ledgers: PartitionLedgers;
  /** Handles what is in flight, commits, and releases the partition. Never rejects. */
  readonly letGo: (assignment: PartitionAssignment) => Promise<void>;
  /** Commits what the ledgers have. Never rejects: a commit that fails is tried again. */
  readonly commit: () => Promise<void>;
}

/**
 * Moves a partition that is held. What is in flight is handled first. Then the partition goes on as a new assignment, so that what is still
 * under way of the old one can neither be handled nor committed. The offset is committed at once, so that a restart goes on from there too.
 * If that commit fails, the partition has moved all the same, and the commit is tried again like any other.
 */
export async function seekTo(position: SeekPosition, parts: SeekParts): Promise<void> {
  const { session, ledgers, letGo, commit } = parts;
  const { topic, partition, offset } = position;
  const place = `${topic}[${partition}]`;
  if (session === undefined) {
    throw new ConsumerError(
      "wrong-phase",
      `seek() moves a partition of a running consumer; use the option from, or wait until health() says ready`,
    );
  }
  const { seek } = session;
  if (seek === undefined) {
    throw new ConsumerError(
      "unsupported-by-driver",
      "the driver cannot move a partition while it is consumed; reset the group's offset instead",
    );
  }
  const assignment = heldOf(ledgers, position);
  await refuseOutside(session, assignment, offset, place);
  if (!ledgers.holds(assignment)) {
    throw gone(place);
  }
  await letGo(assignment);
  const renewed = seek.call(session, assignment, offset);
  if (renewed === null) {
    throw gone(place);
  }
  ledgers.continueAt(renewed, offset);
  await commit();
}

function heldOf(ledgers: PartitionLedgers, { topic, partition }: SeekPosition): PartitionAssignment {
  for (const { assignment, isGoing } of ledgers.held()) {
    if (assignment.topic === topic && assignment.partition === partition && !isGoing) {
      return assignment;
    }
  }
  throw gone(`${topic}[${partition}]`);
}

/** Asked before anything is released: if the log does not have the offset, the partition stays as it is. */
async function refuseOutside(session: DriverSession, assignment: PartitionAssignment, offset: bigint, place: string): Promise<void> {
  const [range] = (await session.ranges?.([assignment])) ?? [];
  if (range !== undefined && (offset < range.start || offset > range.end)) {
    throw new ConsumerError(
      "seek-refused",
      `expected an offset that ${place} has, ${range.start} to ${range.end}, got ${offset}; nothing was moved`,
    );
  }
}

function gone(place: string): ConsumerError {
  return new ConsumerError(
    "seek-refused",
    `${place} is not assigned to this member, or is about to go; call seek() on the member whose health() shows the partition`,
  );
}
