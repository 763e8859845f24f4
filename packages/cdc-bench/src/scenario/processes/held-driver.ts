import type { DriverSink, FetchedBatch, KafkaDriver, OffsetCommit, PartitionAssignment } from "@cdckit/consumer";
import type { DriverWaits } from "../../measure/driver-waits.ts";

export interface HeldDriverParts {
  readonly driver: KafkaDriver;
  /** Resolves when batches may be handed on. */
  readonly begun: Promise<void>;
  readonly onAssigned: (partitions: number) => void;
  readonly onCommitted: (offsets: readonly OffsetCommit[]) => void;
  /** Gets what the driver waits for. */
  readonly waits: DriverWaits;
}

/**
 * A driver that joins its group at once, and hands nothing on before it may: a member that begins alone would read what is the others' to
 * read. A batch whose partition has moved to another member meanwhile is dropped, as nothing of it was handled.
 */
export function heldDriver({ driver, begun, onAssigned, onCommitted, waits }: HeldDriverParts): KafkaDriver {
  const held = new Set<PartitionAssignment>();
  let hasBegun = false;
  void begun.then(() => {
    hasBegun = true;
  });
  const handOn = (sink: DriverSink, batch: FetchedBatch): Promise<void> | undefined =>
    held.has(batch.assignment) ? sink.batch(batch) : undefined;
  return {
    name: driver.name,
    capabilities: driver.capabilities,
    connect: async (subscription, sink) => {
      const session = await driver.connect(subscription, {
        assigned: (assignments) => {
          assignments.forEach((assignment) => held.add(assignment));
          sink.assigned(assignments);
          onAssigned(held.size);
        },
        startsAt: (assignment, offset) => sink.startsAt?.(assignment, offset),
        revoked: (assignments, how) => {
          assignments.forEach((assignment) => held.delete(assignment));
          onAssigned(held.size);
          return sink.revoked(assignments, how);
        },
        batch: (batch) => (hasBegun ? sink.batch(batch) : begun.then(() => handOn(sink, batch))),
        skipped: (assignment, lost, resumeOffset) => sink.skipped?.(assignment, lost, resumeOffset),
        waiting: (wait) => waits.watch(wait, sink.waiting?.(wait)),
        reconnected: (why) => sink.reconnected?.(why),
        acknowledged: (validForMs, next) => sink.acknowledged?.(validForMs, next),
        failed: (error) => sink.failed(error),
      });
      return {
        commit: async (offsets) => {
          await session.commit(offsets);
          onCommitted(offsets);
        },
        pause: (assignments) => session.pause(assignments),
        resume: (assignments) => session.resume(assignments),
        close: (deadlineMs) => session.close(deadlineMs),
      };
    },
  };
}
