import type { DriverSink } from "@cdckit/consumer";
import type { Assignments, HeldPartition } from "./assignments.ts";

/**
 * Gives partitions up: nothing more of them is handed over, and the consumer is asked to let go of them. Resolves when it has. Offsets of revoked
 * partitions can be committed until then, those of lost ones cannot any more. What is lost while the consumer still lets go of it is reported
 * again, because a commit of it would be refused. Never rejects.
 */
export async function giveUp<Held extends HeldPartition>(
  { sink, assignments }: { readonly sink: Pick<DriverSink, "revoked">; readonly assignments: Assignments<Held> },
  going: readonly Held[],
  how: "revoked" | "lost",
): Promise<void> {
  const reported = going.filter(({ isGoing }) => how === "lost" || !isGoing).map(({ assignment }) => assignment);
  assignments.announceRelease(going);
  if (how === "lost") {
    assignments.release(going);
  }
  if (reported.length > 0) {
    await sink.revoked(reported, how);
  }
  assignments.release(going);
}
