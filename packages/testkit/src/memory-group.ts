import type { PartitionAssignment } from "@cdckit/consumer";
import type { MemoryBroker } from "./memory-broker.ts";
import type { MemoryMember } from "./memory-member.ts";

interface Owner {
  readonly member: MemoryMember;
  readonly assignment: PartitionAssignment;
}

/** A consumer group: its members, and the partitions of each. */
export class MemoryGroup {
  /** The name of the group. */
  readonly groupId: string;
  readonly #broker: MemoryBroker;
  /** What the coordinator has given out. A member that was evicted may hold something else for a while. */
  readonly #owners = new Map<string, Owner>();
  readonly #evicted = new Set<MemoryMember>();
  /** They have said good-bye: no later news brings them back. */
  readonly #left = new WeakSet<MemoryMember>();
  /** When the coordinator has last heard of a member. */
  readonly #heardAtMs = new WeakMap<MemoryMember, number>();
  /** Cancels the end of a member's session. Of who has left, it would keep the process alive until then. */
  readonly #cancelSession = new WeakMap<MemoryMember, () => void>();
  #members: MemoryMember[] = [];
  #epoch = 0;
  #rebalancing: Promise<void> = Promise.resolve();

  constructor(broker: MemoryBroker, groupId: string) {
    this.#broker = broker;
    this.groupId = groupId;
  }

  /** In the order in which they joined. */
  get members(): readonly MemoryMember[] {
    return this.#members;
  }

  /** Whether the coordinator takes commits of this assignment from this member. */
  owns(member: MemoryMember, assignment: PartitionAssignment): boolean {
    const owner = this.#owners.get(keyOf(assignment));
    return owner?.member === member && owner.assignment === assignment;
  }

  /** Resolves when the member has its partitions. */
  join(member: MemoryMember): Promise<void> {
    this.#members.push(member);
    this.#startSession(member);
    return this.rebalance();
  }

  /** Takes a member out for good. Resolves when the others have its partitions. */
  leave(member: MemoryMember): Promise<void> {
    this.#left.add(member);
    this.#evicted.delete(member);
    this.#remove(member);
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
      .then(() => Promise.all(this.#members.map((member) => this.#lose(member, member.assignments()))))
      .then(() => this.#rebalanceNow());
    return this.#rebalancing;
  }

  /**
   * Revokes everything and gives it out anew at once, while the members still drain: kafkajs does so, because it joins again whatever its
   * listeners do.
   */
  bounce(): Promise<void> {
    this.#rebalancing = this.#rebalancing.then(() => {
      for (const member of this.#members) {
        const going = member.assignments();
        void member.revoke(going);
        this.#drop(member, going);
      }
      this.#assign(this.#ownership());
    });
    return this.#rebalancing;
  }

  /**
   * Makes a zombie: the group goes on without the member, and the member does not know. It fetches, handles and tries to commit, until a
   * commit is refused or the returned function is called; then it loses what it held, and joins again. Who is no member stays none.
   */
  evict(member: MemoryMember): () => Promise<void> {
    if (!this.#members.includes(member)) {
      return () => this.readmit(member);
    }
    this.#remove(member);
    this.#evicted.add(member);
    void this.rebalance();
    return () => this.readmit(member);
  }

  /** A member's heartbeat: its session starts again. False if it is no member any more. */
  hear(member: MemoryMember): boolean {
    const isMember = this.#members.includes(member);
    if (isMember) {
      this.#heardAtMs.set(member, this.#broker.clock.nowMs());
    }
    return isMember || !this.#evicted.has(member);
  }

  #startSession(member: MemoryMember): void {
    const { clock, sessionTimeoutMs } = this.#broker;
    const lookAfter = (delayMs: number): void => {
      this.#cancelSession.set(
        member,
        clock.after(delayMs, () => {
          const silentMs = clock.nowMs() - (this.#heardAtMs.get(member) ?? 0);
          if (silentMs < sessionTimeoutMs) {
            lookAfter(sessionTimeoutMs - silentMs);
          } else {
            this.#broker.sessionOver(member);
            this.evict(member);
          }
        }),
      );
    };
    this.#heardAtMs.set(member, clock.nowMs());
    if (sessionTimeoutMs !== Infinity) {
      lookAfter(sessionTimeoutMs);
    }
  }

  /** Tells an evicted member, once. */
  async readmit(member: MemoryMember): Promise<void> {
    if (this.#evicted.delete(member)) {
      await member.loseAll();
      if (!this.#left.has(member)) {
        await this.join(member);
      }
    }
  }

  /** The topic was deleted and created again: what the member goes on with is a new assignment. Who is no owner any more only loses it. */
  renew(member: MemoryMember, assignment: PartitionAssignment): Promise<void> {
    this.#rebalancing = this.#rebalancing.then(async () => {
      const isOwner = this.owns(member, assignment);
      await this.#lose(member, [assignment]);
      if (isOwner && this.#members.includes(member) && this.#broker.hasPartition(assignment.topic, assignment.partition)) {
        this.#epoch++;
        const renewed = this.#assignmentOf(keyOf(assignment));
        this.#owners.set(keyOf(assignment), { member, assignment: renewed });
        member.assign([renewed]);
      }
    });
    return this.#rebalancing;
  }

  /** The topic is gone. */
  forget(topic: string): Promise<void> {
    for (const member of this.#members) {
      void this.#lose(
        member,
        member.assignments().filter((assignment) => assignment.topic === topic),
      );
    }
    return this.rebalance();
  }

  /** Tells every member that there may be records to fetch. */
  wake(): void {
    for (const member of [...this.#members, ...this.#evicted]) {
      member.wake();
    }
  }

  async #rebalanceNow(): Promise<void> {
    const topics = this.#broker.topics();
    this.#members.forEach((member) => member.noteTopics(topics));
    const owners = this.#ownership();
    const isEager = this.#broker.rebalance === "eager";
    await Promise.all(
      this.#members.map((member) =>
        this.#revoke(
          member,
          member.assignments().filter((assignment) => isEager || owners.get(keyOf(assignment)) !== member),
        ),
      ),
    );
    this.#assign(owners);
  }

  #assign(owners: ReadonlyMap<string, MemoryMember>): void {
    this.#epoch++;
    for (const member of this.#members) {
      const held = new Set(member.assignments().map(keyOf));
      const gained = [...owners].filter(([key, owner]) => owner === member && !held.has(key)).map(([key]) => this.#assignmentOf(key));
      // A topic may have gone while its partitions were waited for.
      const present = gained.filter(({ topic, partition }) => this.#broker.hasPartition(topic, partition));
      for (const assignment of present) {
        this.#owners.set(keyOf(assignment), { member, assignment });
      }
      member.assign(present);
    }
  }

  async #revoke(member: MemoryMember, assignments: readonly PartitionAssignment[]): Promise<void> {
    const { clock, rebalanceTimeoutMs } = this.#broker;
    const revoked = member.revoke(assignments);
    if (rebalanceTimeoutMs === Infinity) {
      await revoked;
    } else {
      let cancel = (): void => {};
      const late = new Promise<void>((resolve) => {
        cancel = clock.after(rebalanceTimeoutMs, resolve);
      });
      await Promise.race([revoked, late]);
      cancel();
    }
    this.#drop(member, assignments);
  }

  async #lose(member: MemoryMember, assignments: readonly PartitionAssignment[]): Promise<void> {
    this.#disown(member, assignments);
    await member.lose(assignments);
  }

  #drop(member: MemoryMember, assignments: readonly PartitionAssignment[]): void {
    this.#disown(member, assignments);
    member.drop(assignments);
  }

  #remove(member: MemoryMember): void {
    this.#cancelSession.get(member)?.();
    this.#members = this.#members.filter((other) => other !== member);
    for (const [key, owner] of this.#owners) {
      if (owner.member === member) {
        this.#owners.delete(key);
      }
    }
  }

  #disown(member: MemoryMember, assignments: readonly PartitionAssignment[]): void {
    for (const assignment of assignments) {
      if (this.owns(member, assignment)) {
        this.#owners.delete(keyOf(assignment));
      }
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

  /** The member goes on with the partition as a new assignment; null if it is not the member's. */
  renewFor(member: MemoryMember, assignment: PartitionAssignment): PartitionAssignment | null {
    if (!this.owns(member, assignment)) {
      return null;
    }
    this.#epoch++;
    const renewed = this.#assignmentOf(keyOf(assignment));
    this.#owners.set(keyOf(assignment), { member, assignment: renewed });
    return renewed;
  }

  #assignmentOf(key: string): PartitionAssignment {
    const [topic = "", partition = ""] = key.split("\0");
    return Object.freeze({ topic, partition: Number(partition), epoch: this.#epoch, topicId: this.#broker.topicId(topic) });
  }
}

function keyOf({ topic, partition }: { readonly topic: string; readonly partition: number }): string {
  return `${topic}\0${partition}`;
}
