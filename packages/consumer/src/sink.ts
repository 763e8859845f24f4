/**
 * The port to what keeps rows and offsets together: where both move in one transaction, a record is applied once, whatever is killed when.
 */
import type { CdcEvent, SchemaSeen } from "@cdckit/decode";
import type { OffsetCommit, PartitionAssignment } from "./driver.ts";

/** Events of one partition, in order, and the offset that they bring it to. */
export interface SinkBatch {
  readonly assignment: PartitionAssignment;
  readonly events: readonly CdcEvent[];
  /** The sink's checkpoint once they are applied. It moves also where a batch holds no event: all of its records were filtered. */
  readonly nextOffset: bigint;
}

/** A place to write changes to, with a checkpoint of its own in each partition. */
export interface Sink {
  /** As it appears in logs and errors, and beside the checkpoint: two sinks of a consumer must not share it. */
  readonly name: string;
  /** Where it writes to, for messages and health reports: `db.example.com:5432/shop`, without credentials. Absent where that says nothing. */
  readonly host?: string;
  /**
   * These partitions are this member's: from here on, whoever held them before cannot apply anything. Resolves with the checkpoints that
   * there are, each with the topic id that it was reached in if the sink keeps it; a partition left out has none.
   */
  claim(groupId: string, assignments: readonly PartitionAssignment[]): Promise<readonly OffsetCommit[]>;
  /**
   * Applies all of it and moves the checkpoint to `nextOffset` of the topic `assignment.topicId`, or does neither and rejects. A checkpoint
   * of another topic id is replaced, whatever its offset. Batches of one assignment come one after the other. An
   * error with `code: "fenced"` says that another member has claimed the partition since; one with `code: "unavailable"` and
   * `retriable: true` that what it writes to cannot be asked, which is waited for as long as it takes.
   */
  apply(batch: SinkBatch): Promise<void>;
  /** Told of each schema before the first events of it are applied. Absent where the sink takes rows as they come. */
  schemaSeen?(seen: SchemaSeen): void;
  /** Lets go of connections. Idempotent. */
  close(): Promise<void>;
}
