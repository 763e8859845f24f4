import type { Place } from "@cdckit/driver";
import type { Cluster } from "kafkajs";
import type { KafkaJsOffsets } from "./assignments.ts";

/** The part of a request to join that is used here. */
export interface JoinRequest {
  readonly groupId: string;
  /** Empty if the group does not know the member any more. */
  readonly memberId: string;
}

/** The part of the answer that is used here. Only the leader of the group gets the list of members. */
export interface JoinedGroup {
  readonly memberId: string;
  readonly generationId: number;
  readonly members: readonly { readonly memberId: string; readonly memberMetadata: Buffer }[];
}

/** Commits in the generation of one join. The group refuses the commit if it has a newer generation. */
export type CommitInGeneration = (offsets: KafkaJsOffsets) => Promise<void>;

/** Calls around each join, leave, fetch, reset and question about topics: `before` delays a join, `joined` gets its answer, and `beforeFetch` delays a fetch. */
export interface JoinGate {
  readonly before: (request: JoinRequest) => Promise<void>;
  /** Also called before the consumer joins for the first time. */
  readonly beforeFetch: () => Promise<void>;
  readonly joined: (group: JoinedGroup, commit: CommitInGeneration) => void;
  /**
   * kafkajs has asked for an offset that is out of range. It would have committed the start of the log in place of the group's position, so that
   * nobody could see any more what is lost. That commit is not sent.
   */
  readonly outOfRange: (place: Place) => void;
  /** The brokers say that a topic of the subscription does not exist. kafkajs reads no other topic then, and asks again. */
  readonly topicUnknown: () => void;
  /** Called before the group is asked to forget the member: at a stop, and when kafkajs crashes. */
  readonly leaving: () => void;
  /** The session is closed or has failed: kafkajs must not join again. */
  readonly isOver: () => boolean;
}

/** The parts of kafkajs' broker clients and of its cluster that are used here. Its types leave both out. */
interface CoordinatorBroker {
  isConnected(): boolean;
  joinGroup(request: JoinRequest): Promise<JoinedGroup>;
  syncGroup(request: unknown): Promise<unknown>;
  leaveGroup(request: unknown): Promise<unknown>;
  offsetCommit(request: KafkaJsOffsets & CommittingMember): Promise<unknown>;
}
interface CommittingMember {
  readonly groupId: string;
  readonly memberId: string;
  readonly groupGenerationId: number;
}
interface CoordinatorCluster {
  refreshMetadata(): Promise<unknown>;
  refreshMetadataIfNecessary(): Promise<unknown>;
  findGroupCoordinator(request: unknown): Promise<CoordinatorBroker>;
  findBroker(broker: CoordinatorBroker): Promise<CoordinatorBroker>;
}

/**
 * Has a consumer call `before` each time before it joins its group. It joins when `before` has resolved, and does not join if `before` rejects.
 * `ofConsumer`: its cluster.
 *
 * kafkajs has no hook for this. It announces a rebalance and joins at once, so that partitions would be given up with records in flight. But it asks
 * the cluster for the coordinator at which it joins and commits. Before each fetch, it has the cluster refresh its metadata.
 */
export function gateJoins(ofConsumer: Cluster, gate: JoinGate): void {
  const cluster = ofConsumer as unknown as CoordinatorCluster;
  let hasJoined = false;
  /** The group has answered a join. Before its leader assigns partitions, it asks about the topics. */
  let isAssigning = false;
  const failed = (error: unknown): never => {
    isAssigning = false;
    throw hasJoined && !gate.isOver() ? asRebalance(error) : error;
  };
  const unanswered = (error: unknown): never => {
    if ((error as { readonly type?: unknown }).type === "UNKNOWN_TOPIC_OR_PARTITION") {
      gate.topicUnknown();
    }
    throw error;
  };
  const refreshMetadata = cluster.refreshMetadata.bind(cluster);
  cluster.refreshMetadata = async () => {
    const metadata = refreshMetadata().catch(unanswered);
    return isAssigning ? metadata.catch(failed) : metadata;
  };
  const refreshMetadataIfNecessary = cluster.refreshMetadataIfNecessary.bind(cluster);
  cluster.refreshMetadataIfNecessary = async () => {
    await gate.beforeFetch();
    return refreshMetadataIfNecessary().catch(unanswered);
  };
  const joining: Joining = {
    joined: () => {
      hasJoined = true;
      isAssigning = true;
    },
    assigned: () => {
      isAssigning = false;
    },
    failed,
  };
  const gated = new WeakSet<CoordinatorBroker>();
  // kafkajs looks for its coordinator here, too, when it has lost the connection to it.
  const findBroker = cluster.findBroker.bind(cluster);
  cluster.findBroker = async (wanted) => {
    const broker = await findBroker(wanted);
    if (!gated.has(broker)) {
      gated.add(broker);
      gateCoordinator(cluster, broker, gate, joining);
    }
    return broker;
  };
  const findGroupCoordinator = cluster.findGroupCoordinator.bind(cluster);
  cluster.findGroupCoordinator = (request) => findGroupCoordinator(request).catch(failed);
}

interface Joining {
  readonly joined: () => void;
  readonly assigned: () => void;
  readonly failed: (error: unknown) => never;
}

/** The requests of a member to its coordinator. */
function gateCoordinator(
  cluster: CoordinatorCluster,
  broker: CoordinatorBroker,
  gate: JoinGate,
  { joined, assigned, failed }: Joining,
): void {
  const joinGroup = broker.joinGroup.bind(broker);
  broker.joinGroup = async (join) => {
    await gate.before(join);
    const group = await joinGroup(join).catch(failed);
    joined();
    gate.joined(group, commitAs(cluster, broker, join.groupId, group));
    return group;
  };
  const syncGroup = broker.syncGroup.bind(broker);
  broker.syncGroup = (sync) => {
    assigned();
    return syncGroup(sync).catch(failed);
  };
  const leaveGroup = broker.leaveGroup.bind(broker);
  broker.leaveGroup = async (leave) => {
    gate.leaving();
    return leaveGroup(leave);
  };
  const offsetCommit = broker.offsetCommit.bind(broker);
  broker.offsetCommit = async (commit) => {
    const resets = commit.topics.flatMap(({ topic, partitions }) =>
      partitions.flatMap(({ partition, offset }) => (isReset(offset) ? { topic, partition } : [])),
    );
    if (resets.length === 0) {
      return offsetCommit(commit);
    }
    resets.forEach(gate.outOfRange); // kafkajs commits nothing else with it
    return undefined;
  };
}

/** Whether kafkajs commits this in place of an offset that is out of range: "the start of the log", -2, or its end, -1. */
function isReset(offset: string): boolean {
  return BigInt(offset) < 0n;
}

/**
 * Has kafkajs join again if the brokers have answered a join with something that will pass, such as a coordinator that loads. After any answer but
 * a rebalance, it would go on with its former generation, in which its heartbeats may succeed: the group would believe that it reads partitions
 * which were given up for the join.
 */
function asRebalance(error: unknown): unknown {
  const { retriable, message, type } = error as { readonly retriable?: unknown; readonly message?: string; readonly type?: unknown };
  return retriable === true && typeof type === "string" && type !== "UNKNOWN_MEMBER_ID" ? joinsAgain(message, error) : error;
}

/** What kafkajs takes for the announcement of a rebalance: it joins again. */
export function joinsAgain(why: string | undefined, cause?: unknown): Error {
  return Object.assign(new Error(why, { cause }), { type: "REBALANCE_IN_PROGRESS" });
}

/**
 * Sends a commit once, in its own generation. kafkajs' `commitOffsets` tries again after a failure, in the generation of that later moment. If
 * a rebalance came between, it would overwrite the new owner's commit with the position of the old owner.
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
