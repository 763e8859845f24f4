import type { FetchedBatch, PartitionAssignment } from "../driver.ts";
import type { WorkInHand } from "../observe/waits.ts";
import type { HeldPartition } from "./partition-ledgers.ts";

export type DrainKind = "finish" | "fence";

/** Stops the fetches of every partition while those in memory reach their bound, and lets them go on. */
export type HoldAll = (isHeld: boolean) => void;

/** What takes the batches: handlers, or a stream. */
export interface Dispatcher {
  /** As `DriverSink.batch`: a promise holds the next batch back. */
  take(batch: FetchedBatch, held: HeldPartition): Promise<void> | undefined;
  /** Brings the ledgers up to what is handled by now. */
  checkpoint(): void;
  /**
   * Takes nothing more of these partitions (of any, without them), and resolves when nothing of them is in flight. `"finish"` still handles
   * what must not come again: records in front of one that is handled already. `"fence"` lets nothing start at all, also where a drain is
   * under way.
   */
  drain(how: DrainKind, assignments?: readonly PartitionAssignment[]): Promise<void>;
  /** Fetched batches of the partition are here: whatever does not move, it is not the driver. */
  hasWork(assignment: PartitionAssignment): boolean;
  /** Why nothing moves, for the health report; null where things move. */
  blockedBy(): string | null;
  /** What has been started and has not ended: of each partition what stands in front. Asked once a second. */
  atWork(): Iterable<WorkInHand>;
}
