/**
 * The port to stores that keep rows and offsets together. Both move in one transaction, so a record is applied once, even if a process is
 * killed at any point.
 */
import type { CdcEvent, SchemaSeen } from "@cdckit/decode";
import type { OffsetCommit, PartitionAssignment } from "./driver.ts";

/** Events of one partition, in order, and the offset that the partition reaches with them. */
export interface SinkBatch {
  /** The partition, for as long as this member holds it. A new assignment of the same partition is another object. */
  readonly assignment: PartitionAssignment;
  /** The events to apply, in the order of their offsets. May be empty. */
  readonly events: readonly CdcEvent[];
  /**
   * Those of `events` whose own table the option `tables` of `to` leaves out. They are not to be written: they say to which tables the rows of a
   * topic belong, and so whose row a tombstone is. Empty unless the sink has `readsLeftOut`.
   */
  readonly leftOut?: ReadonlySet<CdcEvent>;
  /** The sink's checkpoint after they are applied. It moves even if a batch holds no event, because all of its records were filtered. */
  readonly nextOffset: bigint;
}

/** A store to write changes to. It has a checkpoint of its own in each partition. */
export interface Sink {
  /** Its name in logs and errors, and in its checkpoints. Two sinks of a consumer must not share a name. */
  readonly name: string;
  /** Where it writes to, for messages and health reports: `db.example.com:5432/shop`, without credentials. Absent if that says nothing. */
  readonly host?: string;
  /**
   * The sink knows whose rows tombstones are, and is given for that what `tables` leaves out: in each partition the first row of each form, every
   * delete of a row without an envelope or flattened, and tombstones whose table only the name of their topic says. If this is absent, a tombstone
   * of a topic whose rows, without an envelope or flattened, are of tables that the sink takes and of others halts the consumer (`table-unknown`),
   * and so does one of a topic that is called like a table that the sink takes, and has rows of others; unless deletes are rows there.
   */
  readonly readsLeftOut?: boolean;
  /**
   * These partitions belong to this member. From here on, the member that held them before cannot apply anything. Resolves with the
   * checkpoints that exist, each with its assignment (one of `assignments` itself, not a copy: anything else halts the consumer) and the
   * topic id that it was reached in, if the sink keeps it. A partition that is left out has none: it starts at the group's commit, or at the
   * option `from` if the group has none. So what `apply` has acknowledged must not be lost before the partition has a checkpoint.
   */
  claim(groupId: string, assignments: readonly PartitionAssignment[]): Promise<readonly OffsetCommit[]>;
  /**
   * Applies all of it and moves the checkpoint to `nextOffset` of the topic `assignment.topicId`, or does neither and rejects. A checkpoint
   * of another topic id is replaced, whatever its offset. Batches of one assignment come one after the other. An error with
   * `code: "fenced"` says that another member has claimed the partition since. An error with `code: "unavailable"` and `retriable: true`
   * says that the store cannot be asked: the consumer waits for as long as that lasts.
   */
  apply(batch: SinkBatch): Promise<void>;
  /** Called with each schema of the tables that the sink takes, before its first events are applied. Absent if the sink does not need schemas. */
  schemaSeen?(seen: SchemaSeen): void;
  /** Releases connections. Idempotent. */
  close(): Promise<void>;
}
