import { type Place, placeOf } from "@cdckit/driver";
import type { MemberSubscription } from "./group-protocol.ts";

/** The name of the strategy. Kafka's own clients and librdkafka have it under this name, and members of theirs may be in the group. */
export const strategyName = "cooperative-sticky";

interface Member extends MemberSubscription {
  readonly id: string;
  readonly wanted: ReadonlySet<string>;
  readonly places: Map<string, Place>;
}

/**
 * Divides the partitions among the members. Each member keeps as much of what it holds as a fair division allows. A partition that is to move is
 * left out until the member that holds it has let go of it and joins again: so nobody gets a partition that is still in work.
 */
export function assignPartitions(
  subscriptions: ReadonlyMap<string, MemberSubscription>,
  partitionCounts: ReadonlyMap<string, number>,
): ReadonlyMap<string, readonly Place[]> {
  const members: readonly Member[] = [...subscriptions]
    .map(([id, subscription]) => ({ ...subscription, id, wanted: new Set(subscription.topics), places: new Map<string, Place>() }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  const owners = ownersOf(members);
  const free: Place[] = [];
  for (const [topic, count] of partitionCounts) {
    for (let partition = 0; partition < count; partition++) {
      const owner = owners.get(placeOf(topic, partition));
      if (owner?.wanted.has(topic) !== true) {
        free.push({ topic, partition });
      } else {
        owner?.places.set(placeOf(topic, partition), { topic, partition });
      }
    }
  }
  for (const place of free) {
    const fewest = withFewest(members.filter(({ wanted }) => wanted.has(place.topic)));
    fewest?.places.set(placeOf(place.topic, place.partition), place);
  }
  balance(members);
  return new Map(
    members.map((member) => [
      member.id,
      [...member.places].flatMap(([key, place]) => {
        const owner = owners.get(key);
        return owner === undefined || owner === member ? [place] : [];
      }),
    ]),
  );
}

/** Who holds each partition. If two members claim one, the claim of the later generation counts. */
function ownersOf(members: readonly Member[]): ReadonlyMap<string, Member> {
  const owners = new Map<string, Member>();
  for (const member of members) {
    for (const { topic, partition } of member.owned) {
      const key = placeOf(topic, partition);
      const other = owners.get(key);
      if (other === undefined || other.generation < member.generation) {
        owners.set(key, member);
      }
    }
  }
  return owners;
}

/** Moves partitions from members that have two more than another one that wants them, until there are none. */
function balance(members: readonly Member[]): void {
  for (let moved = true; moved; ) {
    moved = false;
    for (const from of [...members].sort((a, b) => b.places.size - a.places.size)) {
      for (const [key, place] of [...from.places].reverse()) {
        moved = move(key, place, from, members) || moved;
      }
    }
  }
}

/** Moves a partition to a member that has two less, if there is one. */
function move(key: string, place: Place, from: Member, members: readonly Member[]): boolean {
  const to = withFewest(members.filter((member) => member !== from && member.wanted.has(place.topic)));
  if (to === undefined || from.places.size - to.places.size < 2) {
    return false;
  }
  from.places.delete(key);
  to.places.set(key, place);
  return true;
}

function withFewest(members: readonly Member[]): Member | undefined {
  return members.reduce<Member | undefined>(
    (fewest, member) => (fewest === undefined || member.places.size < fewest.places.size ? member : fewest),
    undefined,
  );
}
