import { type Channel, channel } from "node:diagnostics_channel";
import type { RecordCoordinates } from "@cdckit/decode";
import type { LostRange, OffsetCommit, PartitionAssignment } from "../driver.ts";
import { withJson } from "../json-form.ts";
import type { Phase } from "../lifecycle.ts";

/** What is published on each channel. `groupId` names the consumer. */
export interface ConsumerMessages {
  /** The consumer went from one phase of its life to the next. */
  readonly phase: { readonly groupId: string; readonly from: Phase; readonly to: Phase };
  /** The group gave partitions to this member. Nothing of them has been read yet. */
  readonly assigned: { readonly groupId: string; readonly assignments: readonly PartitionAssignment[] };
  /** Partitions left this member: `revoked` in a rebalance, `lost` if the group had given them away already. */
  readonly revoked: { readonly groupId: string; readonly assignments: readonly PartitionAssignment[]; readonly how: "revoked" | "lost" };
  /** A commit has ended, with or without success. */
  readonly commit: {
    /** The group of the consumer. */
    readonly groupId: string;
    /** What was to be committed, one entry for each partition. */
    readonly offsets: readonly OffsetCommit[];
    /** How long it took, in milliseconds. */
    readonly durationMs: number;
    /** Null if it succeeded. */
    readonly error: Error | null;
  };
  /** A handler has ended. */
  readonly process: {
    /** The group of the consumer. */
    readonly groupId: string;
    /** The topic of the events. */
    readonly topic: string;
    /** The partition of the events. */
    readonly partition: number;
    /** Of the first event. */
    readonly offset: bigint;
    /** How many events the handler got: 1, or the size of its batch. */
    readonly events: number;
    /** How long it took, in milliseconds. */
    readonly durationMs: number;
    /** What it threw. Null if it did not. */
    readonly error: unknown;
  };
  /** An attempt failed, and the next one comes after `delayMs` milliseconds. `attempt` counts those that have failed. */
  readonly retry: { readonly groupId: string; readonly at: RecordCoordinates; readonly attempt: number; readonly delayMs: number };
  /** A record was written to the dead-letter topic: it `failed`, or it was `parked` because an earlier record of its key had failed. */
  readonly "dead-letter": { readonly groupId: string; readonly at: RecordCoordinates; readonly why: "failed" | "parked" };
  /** Records that retention deleted before they were read, and that `failure.lostRange` skips. */
  readonly "lost-range": { readonly groupId: string; readonly lost: LostRange; readonly resumeOffset: bigint };
  /** A partition does not move although it has records, or the brokers do not say where its log ends. `reason` is a sentence. */
  readonly suspicion: { readonly groupId: string; readonly reason: string };
}

type Channels = { readonly [Name in keyof ConsumerMessages]: Channel };

/** Node's own channels, with the names `cdckit:consumer:*`. A publisher asks first whether somebody listens. */
export const channels: Channels = {
  phase: channel("cdckit:consumer:phase"),
  assigned: channel("cdckit:consumer:assigned"),
  revoked: channel("cdckit:consumer:revoked"),
  commit: channel("cdckit:consumer:commit"),
  process: channel("cdckit:consumer:process"),
  retry: channel("cdckit:consumer:retry"),
  "dead-letter": channel("cdckit:consumer:dead-letter"),
  "lost-range": channel("cdckit:consumer:lost-range"),
  suspicion: channel("cdckit:consumer:suspicion"),
};

/** Publishes what `message` makes, if somebody listens. */
export function publish<Name extends keyof ConsumerMessages>(name: Name, message: () => ConsumerMessages[Name]): void {
  const to = channels[name];
  if (to.hasSubscribers) {
    to.publish(withJson({ ...message() }));
  }
}
