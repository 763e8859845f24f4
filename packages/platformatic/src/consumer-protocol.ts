import type { Cluster } from "./cluster.ts";
import { PlatformaticDriverError } from "./errors.ts";
import { codes, codesOf } from "./low-level-client.ts";
import type { ConfigsAnswer } from "./requests.ts";

/** The epochs that stand for something else than an epoch. */
export const joinEpoch = 0;
export const leaveEpoch = -1;
/** A static member leaves with this one. The group keeps its partitions for it until its session is over. */
export const staticLeaveEpoch = -2;

/** The fields of a heartbeat, beside those that each one has. What is left out is not told. */
export interface HeartbeatFields {
  readonly groupId: string;
  readonly memberId: string;
  readonly epoch: number;
  readonly instanceId: string | null;
  readonly rack?: string | null;
  readonly rebalanceTimeoutMs?: number;
  readonly topics?: readonly string[];
  /** The partitions that the member holds, by the ids of their topics. */
  readonly owned?: readonly { readonly topicId: string; readonly partitions: readonly number[] }[];
}

/** A heartbeat in the order of the client's arguments. */
export function heartbeatValues(fields: HeartbeatFields): readonly unknown[] {
  const { groupId, memberId, epoch, instanceId, rack = null, rebalanceTimeoutMs = -1, topics = null, owned = null } = fields;
  const pattern = null; // patterns are resolved by the driver, as for the classic protocol
  const assignor = null; // the brokers' own choice
  return [groupId, memberId, epoch, instanceId, rack, rebalanceTimeoutMs, topics, pattern, assignor, owned];
}

/**
 * Fails if the brokers do not have the consumer protocol. Nobody joins for that: somebody who is no member leaves, which changes nothing. A broker
 * without the protocol says so before it looks at the group.
 */
export async function demandConsumerProtocol(cluster: Cluster, groupId: string): Promise<void> {
  if (!(await cluster.offers("ConsumerGroupHeartbeat"))) {
    throw notSupported(cluster.brokers);
  }
  const values = heartbeatValues({ groupId, memberId: "nobody", epoch: leaveEpoch, instanceId: null });
  try {
    await cluster.anywhere((at) => cluster.ask(at, "question", "ConsumerGroupHeartbeat", values));
  } catch (error) {
    const found = codesOf(error);
    if (found.includes(codes.unsupportedVersion)) {
      throw notSupported(cluster.brokers, error);
    }
    if (found.length === 0 || found.includes(codes.groupAuthorization)) {
      throw error;
    }
  }
}

/** The error of brokers that do not have the consumer protocol. */
export function notSupported(brokers: string, cause?: unknown): PlatformaticDriverError {
  const detail =
    `the brokers ${brokers} do not have the group protocol of KIP-848, which groupProtocol: "consumer" asks for. It needs Kafka 4.0 or newer, ` +
    "with consumer in group.coordinator.rebalance.protocols and the feature group.version at 1. Leave groupProtocol out to join with the classic protocol";
  return new PlatformaticDriverError("group-protocol-unsupported", detail, { cause });
}

/** The error of a group whose members speak the classic protocol, and which the brokers do not convert. */
export function classicGroup(groupId: string, cause: unknown): PlatformaticDriverError {
  const detail =
    `the group ${groupId} has members of the classic protocol, and the brokers do not convert it for groupProtocol: "consumer". Stop them all, ` +
    "and start them with the new protocol; commits stay. Or allow the brokers to convert groups (group.consumer.migration.policy)";
  return new PlatformaticDriverError("group-protocol-unsupported", detail, { cause });
}

const groupResource = 32;
const sessionTimeoutName = "consumer.session.timeout.ms";

/** The session timeout of the group, as the brokers have it; null if they do not say it. */
export async function groupSessionTimeoutMs(cluster: Cluster, groupId: string): Promise<number | null> {
  const resource = { resourceType: groupResource, resourceName: groupId, configurationKeys: [sessionTimeoutName] };
  const { results } = await cluster.anywhere((at) =>
    cluster.ask<ConfigsAnswer>(at, "question", "DescribeConfigs", [[resource], false, false]),
  );
  const value = results[0]?.configs.find(({ name }) => name === sessionTimeoutName)?.value ?? null;
  return value !== null && Number.isSafeInteger(Number(value)) && Number(value) > 0 ? Number(value) : null;
}
