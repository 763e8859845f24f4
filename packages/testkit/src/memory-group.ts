import type { PartitionAssignment } from "@cdckit/consumer";
import type { MemoryBroker } from "./memory-broker.ts";
import type { MemoryMember } from "./memory-member.ts";

/** A consumer group: who is in it, and who has which partition. */
export class MemoryGroup {
  readonly groupId: string;
  readonly #broker: MemoryBroker;
  #members: MemoryMember[] = [];
  #epoch = 0;
  #rebalancing: Promise<void> = Promise.resolve();

  constructor(broker: MemoryBroker, groupId: string) {
    this.#broker = broker;
    this.groupId = groupId;
  }

  /** Resolves when the member has its partitions. */
  join(member: MemoryMember): Promise<void> {
    this.#members.push(member);
    return this.rebalance();
  }

  leave(member: MemoryMember): Promise<void> {
    this.#members = this.#members.filter((other) => other !== member);
    return this.rebalance();
  }

  /** Gives every partition to one member: what moves is revoked first, and the promise of `revoked` awaited. */
  rebalance(): Promise<void> {
    this.#rebalancing = this.#rebalancing.then(() => this.#rebalanceNow());
    return this.#rebalancing;
  }

  /**
   * Takes every partition away without asking, as a broker does from members whose session has run out, and then gives them out anew.
   * What is in flight belongs to nobody from here on.
   */
  expire(): Promise<void> {
    this.#rebalancing = this.#rebalancing
      .then(() => Promise.all(this.#members.map((member) => member.lose(member.assignments()))))
      .then(() => this.#rebalanceNow());
    return this.#rebalancing;
  }

  wake(): void {
    for (const member of this.#members) {
      member.wake();
    }
  }

  async #rebalanceNow(): Promise<void> {
    const owners = this.#ownership();
    await Promise.all(
      this.#members.map((member) => member.revoke(member.assignments().filter((assignment) => owners.get(keyOf(assignment)) !== member))),
    );
    this.#epoch++;
    for (const member of this.#members) {
      const held = new Set(member.assignments().map(keyOf));
      const gained = [...owners].filter(([key, owner]) => owner === member && !held.has(key)).map(([key]) => this.#assignmentOf(key));
      member.assign(gained);
    }
  }

  /** Range assignment: neighbouring partitions of a topic go to one member, members in the order in which they joined. */
  #ownership(): Map<string, MemoryMember> {
    const owners = new Map<string, MemoryMember>();
    for (const topic of this.#broker.topics()) {
      const members = this.#members.filter((member) => member.subscribes(topic));
      const partitions = this.#broker.partitions(topic);
      for (let partition = 0; partition < partitions && members.length > 0; partition++) {
        const owner = members[Math.floor((partition * members.length) / partitions)];
        if (owner !== undefined) {
          owners.set(keyOf({ topic, partition }), owner);
        }
      }
    }
    return owners;
  }

  #assignmentOf(key: string): PartitionAssignment {
    const [topic = "", partition = ""] = key.split("\0");
    return Object.freeze({ topic, partition: Number(partition), epoch: this.#epoch });
  }
}

function keyOf({ topic, partition }: { readonly topic: string; readonly partition: number }): string {
  return `${topic}\0${partition}`;
}
