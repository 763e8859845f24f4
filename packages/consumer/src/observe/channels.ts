import { type Channel, channel } from "node:diagnostics_channel";
import type { RecordCoordinates } from "@cdckit/decode";
import type { LostRange, OffsetCommit, PartitionAssignment } from "../driver.ts";
import { withJson } from "../json-form.ts";
import type { Phase } from "../lifecycle.ts";

/** What is published on each channel. `groupId` names the consumer. */
export interface ConsumerMessages {
  readonly phase: { readonly groupId: string; readonly from: Phase; readonly to: Phase };
  readonly assigned: { readonly groupId: string; readonly assignments: readonly PartitionAssignment[] };
  readonly revoked: { readonly groupId: string; readonly assignments: readonly PartitionAssignment[]; readonly how: "revoked" | "lost" };
  readonly commit: {
    readonly groupId: string;
    readonly offsets: readonly OffsetCommit[];
    readonly durationMs: number;
    /** Null if it succeeded. */
    readonly error: Error | null;
  };
  /** A handler has ended. */
  readonly process: {
    readonly groupId: string;
    readonly topic: string;
    readonly partition: number;
    /** Of the first event. */
    readonly offset: bigint;
    readonly events: number;
    readonly durationMs: number;
    /** What it threw. Null if it did not. */
    readonly error: unknown;
  };
  readonly retry: { readonly groupId: string; readonly at: RecordCoordinates; readonly attempt: number; readonly delayMs: number };
  readonly "dead-letter": { readonly groupId: string; readonly at: RecordCoordinates; readonly why: "failed" | "parked" };
  /** Records that retention deleted before they were read, and that `failure.lostRange` skips. */
  readonly "lost-range": { readonly groupId: string; readonly lost: LostRange; readonly resumeOffset: bigint };
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
