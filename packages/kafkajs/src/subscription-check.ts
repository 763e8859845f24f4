import type { DriverSink, Subscription } from "@cdckit/consumer";
import { KafkaJsDriverError } from "./errors.ts";
import type { JoinedGroup } from "./join-gate.ts";
import type { BrokerOffsets } from "./broker-offsets.ts";

export interface SubscriptionCheckParts {
  readonly subscription: Subscription;
  /** The topics of this member's subscription, by name. */
  readonly topics: readonly string[];
  readonly sink: DriverSink;
  readonly brokerOffsets: BrokerOffsets;
  /** The topics in a member's metadata. */
  readonly topicsIn: (metadata: Buffer) => readonly string[];
}

/**
 * Reports members of one group that subscribe to different topics. The leader of the group assigns the partitions of its own topics, with
 * kafkajs also to members that do not subscribe to them. Those members ignore them, and nobody reads them. The leader sees the difference in
 * the members that join, another member in the topics that it is assigned. A member without partitions asks the brokers.
 */
export class SubscriptionCheck {
  readonly #parts: SubscriptionCheckParts;
  #end: () => void = () => {};
  #generation = 0;

  constructor(parts: SubscriptionCheckParts) {
    this.#parts = parts;
  }

  /** The group is about to be joined again. What was reported belongs to the last generation. */
  reset(): void {
    this.#generation++;
    this.#end();
    this.#end = () => {};
  }

  /** The group's answer to the join. Only the leader gets the list of members. */
  joined({ memberId, members }: JoinedGroup): void {
    const subscriptions = members.map((member) => ({ ...member, topics: [...this.#parts.topicsIn(member.memberMetadata)].sort() }));
    const own = subscriptions.find((member) => member.memberId === memberId)?.topics;
    const other = subscriptions.find(({ topics }) => topics.join() !== own?.join())?.topics;
    if (own !== undefined && other !== undefined) {
      this.#report(`this member, which leads it, to ${textOf(own)}, another one to ${textOf(other)}`);
    }
  }

  /** The assignment of this member. If it is empty, there are more members than partitions, or the subscriptions differ. */
  assigned(memberAssignment: Readonly<Record<string, readonly number[]>>, isLeader: boolean): void {
    if (!isLeader && Object.values(memberAssignment).every((partitions) => partitions.length === 0)) {
      void this.#look();
    }
  }

  async #look(): Promise<void> {
    const generation = this.#generation;
    const { brokerOffsets, subscription, topics, topicsIn } = this.#parts;
    try {
      const members = await brokerOffsets.members();
      const own = [...topics].sort().join();
      const other = members.map((metadata) => [...topicsIn(metadata)].sort()).find((those) => those.length > 0 && those.join() !== own);
      if (other !== undefined && generation === this.#generation) {
        this.#report(`this member to ${textOf(topics)}, another one to ${textOf(other)}`);
      }
    } catch (error) {
      subscription.logger.debug({ err: error }, "the members of the group could not be listed");
    }
  }

  /** This member was assigned topics to which it does not subscribe. */
  received(foreign: readonly string[], own: readonly string[]): void {
    this.#report(`this member to ${textOf(own)}, the one that leads it to ${textOf(foreign)}`);
  }

  #report(who: string): void {
    const { subscription, sink } = this.#parts;
    const { groupId } = subscription;
    const cause = new KafkaJsDriverError(
      "subscriptions-differ",
      `the members of the group ${groupId} subscribe to different topics: ${who}. Partitions are assigned to members that do not read them: use one group for each set of topics`,
    );
    subscription.logger.warn({ err: cause }, "nobody reads some partitions of the group");
    this.#end();
    const wait = sink.waiting?.({ what: `the partitions of the group ${groupId}`, cause });
    this.#end = () => wait?.end();
  }
}

function textOf(topics: readonly string[]): string {
  const sorted = [...topics].sort();
  return sorted.length > 5 ? `${sorted.slice(0, 5).join(", ")} and ${sorted.length - 5} more` : sorted.join(", ");
}
