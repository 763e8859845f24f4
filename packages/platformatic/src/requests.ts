import { type ClientApi, codes, type PlatformaticModule } from "./low-level-client.ts";

/** The requests that the driver sends: Kafka's number, and the versions whose arguments and answers it knows. */
const requests = {
  Fetch: { key: 1, min: 12, max: 17 },
  ListOffsets: { key: 2, min: 5, max: 9 },
  Metadata: { key: 3, min: 9, max: 12 },
  OffsetCommit: { key: 8, min: 8, max: 9 },
  OffsetFetch: { key: 9, min: 8, max: 9 },
  FindCoordinator: { key: 10, min: 4, max: 6 },
  JoinGroup: { key: 11, min: 6, max: 9 },
  Heartbeat: { key: 12, min: 4, max: 4 },
  LeaveGroup: { key: 13, min: 4, max: 5 },
  SyncGroup: { key: 14, min: 4, max: 5 },
  CreateTopics: { key: 19, min: 7, max: 7 },
  Produce: { key: 0, min: 7, max: 9 }, // version 1 of the client misreads the tagged fields of later ones, which name a new leader
  InitProducerId: { key: 22, min: 3, max: 5 },
  AddPartitionsToTxn: { key: 24, min: 3, max: 3 }, // brokers send the later ones to each other, and demand a right for them
  AddOffsetsToTxn: { key: 25, min: 1, max: 4 },
  EndTxn: { key: 26, min: 3, max: 4 },
  TxnOffsetCommit: { key: 28, min: 3, max: 4 },
  DescribeConfigs: { key: 32, min: 4, max: 4 },
  ConsumerGroupHeartbeat: { key: 68, min: 0, max: 1 }, // a member of the driver has an id of its own in version 0, too
} as const;

export type RequestName = keyof typeof requests;

/** What a broker says of the requests that it knows. */
export interface OfferedRequest {
  readonly apiKey: number;
  readonly minVersion: number;
  readonly maxVersion: number;
}

/** A request in the highest version that the broker, the client and the driver know. */
export interface ChosenRequest {
  readonly version: number;
  readonly api: ClientApi;
  readonly createRequest: (...values: never[]) => unknown;
}

/** The request in its highest common version, or in one below `below`; null if there is none. */
export function chooseRequest(
  module: PlatformaticModule,
  offered: readonly OfferedRequest[],
  name: RequestName,
  below: number = Infinity,
): ChosenRequest | null {
  const { key, min, max } = requests[name];
  const offer = offered.find(({ apiKey }) => apiKey === key);
  const prefix = name.charAt(0).toLowerCase() + name.slice(1);
  for (let version = Math.min(max, offer?.maxVersion ?? -1, below - 1); version >= Math.max(min, offer?.minVersion ?? 0); version--) {
    const exported = module[`${prefix}V${version}`] as Omit<ChosenRequest, "version"> | undefined;
    if (exported !== undefined) {
      return { version, api: exported.api, createRequest: exported.createRequest };
    }
  }
  return null;
}

/** Kafka's number of fetches. */
export const fetchKey: number = requests.Fetch.key;
/** From this version on, fetches name topics by their ids. */
export const fetchesByIdFrom = 13;

/** What passes by itself when the coordinator is looked for again. */
export const coordinatorMoves: ReadonlySet<number> = new Set([
  codes.coordinatorLoading,
  codes.coordinatorNotAvailable,
  codes.notCoordinator,
]);

/** What passes by itself when the leader is looked for again. */
export const leaderMoves: ReadonlySet<number> = new Set([
  codes.unknownTopicOrPartition,
  codes.leaderNotAvailable,
  codes.notLeader,
  codes.replicaNotAvailable,
  codes.kafkaStorage,
  codes.fencedLeaderEpoch,
  codes.unknownLeaderEpoch,
  codes.offsetNotAvailable,
]);

/** Answers to the requests, as far as the driver reads them. */
export interface MetadataAnswer {
  readonly brokers: readonly { readonly nodeId: number; readonly host: string; readonly port: number }[];
  readonly controllerId: number;
  readonly topics: readonly TopicMetadata[];
}

export interface TopicMetadata {
  readonly errorCode: number;
  readonly name: string | null;
  /** Absent in answers of brokers before 2.8. */
  readonly topicId?: string;
  readonly partitions: readonly {
    readonly errorCode: number;
    readonly partitionIndex: number;
    readonly leaderId: number;
    readonly leaderEpoch: number;
  }[];
}

export interface CoordinatorAnswer {
  readonly coordinators: readonly { readonly key: string; readonly nodeId: number; readonly host: string; readonly port: number }[];
}

export interface OffsetsAnswer {
  readonly groups: readonly {
    readonly topics: readonly {
      readonly name: string;
      readonly partitions: readonly {
        readonly partitionIndex: number;
        readonly committedOffset: bigint;
        /** -1 if whoever has committed did not say it. */
        readonly committedLeaderEpoch: number;
        readonly metadata: string | null;
      }[];
    }[];
  }[];
}

export interface ListOffsetsAnswer {
  readonly topics: readonly {
    readonly name: string;
    readonly partitions: readonly { readonly partitionIndex: number; readonly errorCode: number; readonly offset: bigint }[];
  }[];
}

export interface JoinAnswer {
  readonly generationId: number;
  readonly protocolName: string | null;
  readonly leader: string;
  readonly skipAssignment: boolean;
  readonly memberId: string | null;
  readonly members: readonly { readonly memberId: string; readonly metadata: Buffer | null }[];
}

export interface SyncAnswer {
  readonly assignment: Buffer;
}

export interface GroupHeartbeatAnswer {
  readonly memberEpoch: number;
  readonly heartbeatIntervalMs: number;
  /** Null if it is the same as in the last answer. */
  readonly assignment: {
    readonly topicPartitions: readonly { readonly topicId: string; readonly partitions: readonly number[] }[];
  } | null;
}

export interface ConfigsAnswer {
  readonly results: readonly { readonly configs: readonly { readonly name: string; readonly value: string | null }[] }[];
}

export interface ProducerIdAnswer {
  readonly producerId: bigint;
  readonly producerEpoch: number;
}

export interface ProduceAnswer {
  readonly responses: readonly {
    readonly name: string;
    readonly partitionResponses: readonly { readonly index: number; readonly errorCode: number }[];
  }[];
}
