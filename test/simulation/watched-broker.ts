import { type AppendedRecord, type CommittedOffset, MemoryBroker, type MemoryMember, type MemoryTransaction } from "@cdckit/testkit";
import type { Oracle } from "./oracle.ts";

/** A broker that tells the oracle of commits and dead letters. */
export class WatchedBroker extends MemoryBroker {
  /** A recreated topic has the id of the old one: a bug. */
  hasOneIdOnly = false;
  oracle: Oracle | null = null;
  committedAnything: (() => void) | null = null;
  expired: ((member: MemoryMember) => void) | null = null;

  override sessionOver(member: MemoryMember): void {
    this.expired?.(member);
  }

  /** What pipe() writes is in the log when its offsets are committed. */
  override store(topic: string, record: AppendedRecord, transaction?: MemoryTransaction): ReturnType<MemoryBroker["store"]> {
    if (topic === "out") {
      this.oracle?.piped(String(record.value));
    }
    return super.store(topic, record, transaction);
  }

  /** What the group has committed of the topic as it is now, as the simulation has it: a commit that came from an older one is none. */
  committedNow(partition: number): bigint | null {
    const commit = this.commitOf("g", "t", partition);
    return commit === null || commit.topicId !== this.topicId("t") ? null : commit.offset;
  }

  override commit(commit: CommittedOffset): void {
    if (commit.topicId === this.topicId("t")) {
      this.oracle?.committed(commit, this.committedNow(commit.partition));
    }
    super.commit(commit);
    this.committedAnything?.();
  }

  override topicId(name: string): string {
    return this.hasOneIdOnly ? "one for all" : super.topicId(name);
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
