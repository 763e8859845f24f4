import type { DriverSink, Logger, NextAcknowledgement } from "@cdckit/consumer";
import type { OwnAssignment, Place } from "@cdckit/driver";
import type { Cluster } from "./cluster.ts";
import { PlatformaticDriverError } from "./errors.ts";
import type { ResolvedPlatformaticOptions } from "./options.ts";

/** What a membership needs of its session. */
export interface GroupMemberParts {
  readonly cluster: Cluster;
  readonly groupId: string;
  readonly tuning: ResolvedPlatformaticOptions["tuning"];
  readonly logger: Logger;
  readonly sink: DriverSink;
  /** The topics of the subscription, by name. */
  readonly topics: () => readonly string[];
  /** The partitions that are held, also those that are about to be given up: the group must give none of them to anybody else. */
  readonly owned: () => readonly OwnAssignment[];
  /** How many partitions each of these topics has. */
  readonly countPartitions: (topics: readonly string[]) => Promise<ReadonlyMap<string, number>>;
  /** The group has given this member these partitions, and no others. */
  readonly assigned: (places: readonly Place[]) => void;
  /** The group has removed this member: whatever it holds is lost. */
  readonly lost: () => void;
  /** The group keeps this member for so long from now on. */
  readonly acknowledged: (validForMs: number, next: NextAcknowledgement) => void;
  readonly fail: (error: unknown) => void;
}

/** Who this member is to the group. */
export interface Identity {
  readonly memberId: string;
  /** The generation of the classic protocol, or the member's epoch of the consumer protocol. Not above 0 before the first join. */
  readonly generation: number;
}

/** A membership in the group, by one of Kafka's two protocols. */
export interface GroupMember {
  /** The same object as long as nothing of it changes. */
  readonly identity: Identity;
  /** The identity may change with an answer that is awaited. */
  readonly isJoining: boolean;
  readonly instanceId: string | null;
  start(): void;
  /** Tells the group as soon as possible that what this member holds, or what it wants, has changed. */
  rejoin(): void;
  /** Resolves when the identity is certain, or when the member is stopped. */
  settled(): Promise<void>;
  /** A broker has refused a request of this member with these codes. */
  removed(as: Identity, why: readonly number[]): void;
  /** Ends heartbeats and joins. */
  stop(): void;
  /** Leaves the group, so that its partitions go to others. Never rejects. */
  leave(deadlineMs: number): Promise<void>;
}

/** The error of a member whose `groupInstanceId` another one has. */
export function fencedInstance(groupId: string, instanceId: string | null, cause: unknown): PlatformaticDriverError {
  const detail = `another member of group ${groupId} has the same groupInstanceId (${instanceId}) and has taken this one's place. Give each member an id of its own`;
  return new PlatformaticDriverError("fenced", detail, { cause });
}

/** The same by the protocol of KIP-848, where the member that is there keeps its place for as long as it lives. */
export function takenInstance(groupId: string, instanceId: string | null, cause: unknown): PlatformaticDriverError {
  const detail = `another member of group ${groupId} has the same groupInstanceId (${instanceId}), and the group did not let this one in: the other one lives, because its session would have ended by now. Stop it, or give each member an id of its own`;
  return new PlatformaticDriverError("fenced", detail, { cause });
}
