import { type AppendedRecord, type CommittedOffset, MemoryBroker } from "@cdckit/testkit";
import type { Oracle } from "./oracle.ts";

/** A broker that tells the oracle of commits and dead letters. */
export class WatchedBroker extends MemoryBroker {
  oracle: Oracle | null = null;
  committedAnything: (() => void) | null = null;

  override commit(commit: CommittedOffset): void {
    this.oracle?.committed(commit, this.committed(commit.groupId, commit.topic, commit.partition));
    super.commit(commit);
    this.committedAnything?.();
  }

  override append(topic: string, ...records: readonly AppendedRecord[]): ReturnType<MemoryBroker["append"]> {
    if (topic === "dead") {
      for (const record of records) {
        this.oracle?.deadLettered(record);
      }
    }
    return super.append(topic, ...records);
  }
}
