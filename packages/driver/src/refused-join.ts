import type { Subscription } from "@cdckit/consumer";

/**
 * Why a group does not let this member in, and what to do, if the first of Kafka's codes says that; null if none does. It stays so until somebody
 * changes something. `strategy`: by which this member divides partitions.
 */
export function refusedJoin(codes: readonly unknown[], { groupId }: Pick<Subscription, "groupId">, strategy: string): string | null {
  for (const code of codes) {
    switch (code) {
      case 23: // INCONSISTENT_GROUP_PROTOCOL
        return `the group ${groupId} has members that divide its partitions by another strategy than ${strategy}. Stop them all, and start them with this driver, or take another groupId; commits stay`;
      case 26: // INVALID_SESSION_TIMEOUT
        return "the brokers do not allow this sessionTimeoutMs: it must be within their group.min.session.timeout.ms and group.max.session.timeout.ms";
      case 81: // GROUP_MAX_SIZE_REACHED
        return `the group ${groupId} has as many members as the brokers allow. Start fewer members, or raise the brokers' group.max.size`;
      default:
    }
  }
  return null;
}
