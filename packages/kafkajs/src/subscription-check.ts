import type { DriverSink, Subscription } from "@cdckit/consumer";
import { KafkaJsDriverError } from "./errors.ts";
import type { JoinedGroup } from "./join-gate.ts";
import type { BrokerOffsets } from "./broker-offsets.ts";

export interface SubscriptionCheckParts {
  readonly subscription: Subscription;
  /** Those that this member subscribes to, by name. */
  readonly topics: readonly string[];
  readonly sink: DriverSink;
  readonly brokerOffsets: BrokerOffsets;
  /** The topics in what a member says of itself when it joins. */
  readonly topicsIn: (metadata: Buffer) => readonly string[];
}

/**
 * Tells of members of one group that subscribe to different topics. The member that leads the group hands out the partitions of its own
 * topics, kafkajs also to members that do not subscribe to them: those let them lie, and nobody reads them. The leader sees it in the members
 * that join, another member in the topics that it is given; one that is given nothing asks the brokers.
 */
export class SubscriptionCheck {
  readonly #parts: SubscriptionCheckParts;
  #end: () => void = () => {};
  #generation = 0;

  constructor(parts: SubscriptionCheckParts) {
    this.#parts = parts;
  }

  /** The group is about to be joined: what was told belongs to the last generation. */
  reset(): void {
    this.#generation++;
    this.#end();
    this.#end = () => {};
  }

  /** What the group answered to the join; its members are told to the leader alone. */
  joined({ memberId, members }: JoinedGroup): void {
    const subscriptions = members.map((member) => ({ ...member, topics: [...this.#parts.topicsIn(member.memberMetadata)].sort() }));
    const own = subscriptions.find((member) => member.memberId === memberId)?.topics;
    const other = subscriptions.find(({ topics }) => topics.join() !== own?.join())?.topics;
    if (own !== undefined && other !== undefined) {
      this.#report(`this member, which leads it, to ${textOf(own)}, another one to ${textOf(other)}`);
    }
  }

  /** What this member may read. Nothing, of topics that have partitions: there may be more members than partitions, or this. */
  assigned(memberAssignment: Readonly<Record<string, readonly number[]>>, isLeader: boolean): void {
    if (!isLeader && Object.values(memberAssignment).every((partitions) => partitions.length === 0)) {
      void this.#look();
    }
  }

  async #look(): Promise<void> {
    const generation = this.#generation;
    const { brokerOffsets, subscription, topics, topicsIn } = this.#parts;
    try {
      const members = await brokerOffsets.members(subscription.groupId);
      const own = [...topics].sort().join();
      const other = members.map((metadata) => [...topicsIn(metadata)].sort()).find((those) => those.length > 0 && those.join() !== own);
      if (other !== undefined && generation === this.#generation) {
        this.#report(`this member to ${textOf(topics)}, another one to ${textOf(other)}`);
      }
    } catch (error) {
      subscription.logger.debug({ err: error }, "the members of the group could not be asked for");
    }
  }

  /** Topics that this member was given, and does not subscribe to. */
  received(foreign: readonly string[], own: readonly string[]): void {
    this.#report(`this member to ${textOf(own)}, the one that leads it to ${textOf(foreign)}`);
  }

  #report(who: string): void {
    const { subscription, sink } = this.#parts;
    const { groupId } = subscription;
    const cause = new KafkaJsDriverError(
      "subscriptions-differ",
      `the members of the group ${groupId} subscribe to different topics: ${who}. Partitions are handed out to members that do not read them; give each set of topics a group of its own`,
    );
    subscription.logger.warn({ err: cause }, "some partitions of the group are read by nobody");
    this.#end();
    const wait = sink.waiting?.({ what: `the partitions of the group ${groupId}`, cause });
    this.#end = () => wait?.end();
  }
}

function textOf(topics: readonly string[]): string {
  const sorted = [...topics].sort();
  return sorted.length > 5 ? `${sorted.slice(0, 5).join(", ")} and ${sorted.length - 5} more` : sorted.join(", ");
}
