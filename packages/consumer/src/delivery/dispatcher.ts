import type { FetchedBatch, PartitionAssignment } from "../driver.ts";
import type { WorkInHand } from "../observe/waits.ts";
import type { HeldPartition } from "./partition-ledgers.ts";

export type DrainKind = "finish" | "fence";

/** Pauses the fetches of all partitions while the batches in memory reach their limit, and resumes them after that. */
export type PauseAll = (isPaused: boolean) => void;

/** Takes fetched batches, and hands their events to handlers, to sinks or to a stream. */
export interface Dispatcher {
  /** As `DriverSink.batch`: while a returned promise is pending, the next batch waits. */
  take(batch: FetchedBatch, held: HeldPartition): Promise<void> | undefined;
  /**
   * The partition goes on at this offset, after records that are lost. It is committed, and the checkpoints of sinks move to it, when everything
   * that was taken before is handled.
   */
  skipTo(held: HeldPartition, offset: bigint): void;
  /** Brings the ledgers up to what is handled by now. */
  checkpoint(): void;
  /**
   * Takes nothing more of these partitions (of all partitions, if none are named). Resolves when nothing of them is in flight. `"finish"`
   * still handles what must not come twice: records before one that is handled already. `"fence"` lets nothing start at all, even if a
   * drain is under way.
   */
  drain(how: DrainKind, assignments?: readonly PartitionAssignment[]): Promise<void>;
  /** Fetched batches of the partition are in memory: if it does not move, the driver is not to blame. */
  hasWork(assignment: PartitionAssignment): boolean;
  /** Why nothing moves, for the health report. Null while things move. */
  blockedBy(): string | null;
  /** What was started and has not ended: the first of it in each partition. Asked once a second. */
  atWork(): Iterable<WorkInHand>;
}
