import type { RecordWalk } from "@cdckit/decode";
import type { FetchedBatch, PartitionAssignment } from "../driver.ts";

/** A batch without records. When its end is handled, sinks have their checkpoints at the offset, where a record would be that is asked for. */
export function emptyBatch(assignment: PartitionAssignment, nextOffset: bigint): FetchedBatch {
  const none = (): never => {
    throw new RangeError("expected a record of the batch, which has none");
  };
  return {
    assignment,
    topic: assignment.topic,
    partition: assignment.partition,
    recordCount: 0,
    byteLength: 0,
    nextOffset,
    highWatermark: null,
    walk: () => ({ next: () => false }) as RecordWalk, // nobody looks at a record where there is no next one
    offsetAt: () => nextOffset,
    timestampAt: none,
    headersAt: none,
    keyAt: none,
    valueAt: none,
    headerNamesAre: none,
  };
}
