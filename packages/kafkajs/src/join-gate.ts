import type { PartitionAssigner } from "kafkajs";
import type { KafkaJsOffsets } from "./assignments.ts";

/** What is looked at of a request to join. */
export interface JoinRequest {
  readonly groupId: string;
  /** Empty if the group does not know the member any more. */
  readonly memberId: string;
}

/** What is looked at of the answer. The members are told to the one that leads the group, and to nobody else. */
export interface JoinedGroup {
  readonly memberId: string;
  readonly generationId: number;
  readonly members: readonly { readonly memberId: string; readonly memberMetadata: Buffer }[];
}

/** Commits as the member, and in the generation, that one join has made. The group refuses it as soon as it has a newer generation. */
export type CommitInGeneration = (offsets: KafkaJsOffsets) => Promise<void>;

/** Asked before a join, and told of its answer. */
export interface JoinGate {
  readonly before: (request: JoinRequest) => Promise<void>;
  readonly joined: (group: JoinedGroup, commit: CommitInGeneration) => void;
}

/** As much of kafkajs' clients of brokers, and of its cluster, as is used. Its types leave both out. */
interface CoordinatorBroker {
  isConnected(): boolean;
  joinGroup(request: JoinRequest): Promise<JoinedGroup>;
  offsetCommit(request: KafkaJsOffsets & CommittingMember): Promise<unknown>;
}
interface CommittingMember {
  readonly groupId: string;
  readonly memberId: string;
  readonly groupGenerationId: number;
}
interface CoordinatorCluster {
  findGroupCoordinator(request: unknown): Promise<CoordinatorBroker>;
  findBroker(broker: CoordinatorBroker): Promise<CoordinatorBroker>;
}

/**
 * An assigner as the given one, of a consumer that asks `before` each time when it is about to join its group, and joins when that has
 * resolved (or not at all, when it rejects).
 *
 * kafkajs has no hook for this: it announces a rebalance and joins in the same breath, so that partitions would go with records in flight.
 * But it gives the cluster of the consumer to its assigners, and asks there for the coordinator that it then joins at.
 */
export function joiningAfter(gate: JoinGate, assigner: PartitionAssigner): PartitionAssigner {
  return (config) => {
    gateJoins(config.cluster as unknown as CoordinatorCluster, gate);
    return assigner(config);
  };
}

function gateJoins(cluster: CoordinatorCluster, { before, joined }: JoinGate): void {
  const gated = new WeakSet<CoordinatorBroker>();
  const findGroupCoordinator = cluster.findGroupCoordinator.bind(cluster);
  cluster.findGroupCoordinator = async (request) => {
    const broker = await findGroupCoordinator(request);
    if (!gated.has(broker)) {
      gated.add(broker);
      const joinGroup = broker.joinGroup.bind(broker);
      broker.joinGroup = async (join) => {
        await before(join);
        const group = await joinGroup(join);
        joined(group, commitAs(cluster, broker, join.groupId, group));
        return group;
      };
    }
    return broker;
  };
}

/**
 * kafkajs' own `commitOffsets` tries again after a failure, with the generation of that later moment: it would commit what was handled
 * before a rebalance over what the new owner has committed. This one sends its generation's, once.
 */
function commitAs(
  cluster: CoordinatorCluster,
  coordinator: CoordinatorBroker,
  groupId: string,
  { memberId, generationId: groupGenerationId }: JoinedGroup,
): CommitInGeneration {
  return async ({ topics }) => {
    const broker = coordinator.isConnected() ? coordinator : await cluster.findBroker(coordinator);
    await broker.offsetCommit({ groupId, memberId, groupGenerationId, topics });
  };
}
