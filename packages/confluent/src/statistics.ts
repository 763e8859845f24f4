import { type Place, placeOf } from "@cdckit/driver";

/** The part of librdkafka's statistics that is used here, by its names: https://github.com/confluentinc/librdkafka/blob/master/STATISTICS.md */
interface Statistics {
  readonly ts?: number;
  readonly brokers?: Readonly<Record<string, BrokerStatistics>>;
  readonly topics?: Readonly<Record<string, { readonly partitions?: Readonly<Record<string, PartitionStatistics>> }>>;
  readonly cgrp?: { readonly state?: string; readonly join_state?: string };
}

interface PartitionStatistics {
  readonly fetch_state?: string;
  readonly leader?: number;
  readonly broker?: number;
}

interface BrokerStatistics {
  readonly nodeid?: number;
  readonly nodename?: string;
  readonly state?: string;
  readonly waitresp_cnt?: number;
  readonly outbuf_cnt?: number;
  readonly source?: string;
  readonly req_timeouts?: number;
  readonly disconnects?: number;
  readonly req?: Readonly<Record<string, number>>;
}

/** What librdkafka has counted of its connection to a broker. The coordinator has a connection of its own. */
export interface ConnectionCounts {
  /** Librdkafka's name of the connection: `broker-1:9092/1`, `GroupCoordinator`. */
  readonly name: string;
  /** Requests that were not answered in time. */
  readonly timeouts: number;
  readonly disconnects: number;
}

/** What a report says about the membership, the connections and the partitions. */
export interface Report {
  /** By librdkafka's monotonic clock. */
  readonly atMs: number;
  /** The member has its partitions, and the coordinator is known. */
  readonly isMember: boolean;
  /** How many heartbeats were sent to the coordinator. */
  readonly heartbeats: number;
  /** Each of them was answered. */
  readonly areAnswered: boolean;
  /** A broker is connected. */
  readonly isConnected: boolean;
  readonly connections: readonly ConnectionCounts[];
  /** Partitions of which nothing is fetched although the member has them. */
  readonly stopped: readonly Place[];
  /** Partitions of which librdkafka knows no leader. */
  readonly leaderless: readonly Place[];
  /** The ids of the brokers from which partitions are fetched, by `placeOf`: leaders, or with `client.rack` the replicas that they have named. */
  readonly sources: ReadonlyMap<string, number>;
  /** The brokers that are not connected, by their ids: librdkafka's names of their connections. */
  readonly unconnected: ReadonlyMap<number, string>;
}

/** As librdkafka writes it. It has a partition of this number, too, for records whose partition is not known yet. */
const none = -1;
const coordinator = "GroupCoordinator";

/** Reads a report of librdkafka; null if it is none. */
export function readReport(text: string): Report | null {
  let statistics: Statistics;
  try {
    statistics = JSON.parse(text) as Statistics;
  } catch {
    return null;
  }
  const brokers = Object.entries(statistics.brokers ?? {});
  const [, group = {}] = brokers.find(([name]) => name === coordinator) ?? [];
  return {
    atMs: (statistics.ts ?? 0) / 1_000,
    isMember: statistics.cgrp?.state === "up" && statistics.cgrp.join_state === "steady",
    heartbeats: (group.req?.["Heartbeat"] ?? 0) + (group.req?.["ConsumerGroupHeartbeat"] ?? 0),
    areAnswered: group.state === "UP" && group.waitresp_cnt === 0 && group.outbuf_cnt === 0,
    isConnected: brokers.some(([, { state }]) => state === "UP"),
    connections: brokers.map(([name, { req_timeouts = 0, disconnects = 0 }]) => ({ name, timeouts: req_timeouts, disconnects })),
    stopped: placesIn(statistics, ({ fetch_state }) => fetch_state === "none" || fetch_state === "stopped"),
    leaderless: placesIn(statistics, ({ leader }) => leader === none),
    sources: sourcesIn(statistics),
    unconnected: unconnectedIn(brokers),
  };
}

/** The coordinator has a connection beside the one of the same broker from which partitions are fetched. */
function unconnectedIn(brokers: readonly (readonly [string, BrokerStatistics])[]): ReadonlyMap<number, string> {
  const others = brokers.filter(([name, { state }]) => name !== coordinator && state !== "UP");
  return new Map(others.map(([name, { nodeid = none }]) => [nodeid, name]));
}

function sourcesIn({ topics = {} }: Statistics): ReadonlyMap<string, number> {
  const sources = new Map<string, number>();
  for (const [topic, { partitions = {} }] of Object.entries(topics)) {
    for (const [partition, { broker = none }] of Object.entries(partitions)) {
      if (Number(partition) !== none && broker !== none) {
        sources.set(placeOf(topic, Number(partition)), broker);
      }
    }
  }
  return sources;
}

function placesIn({ topics = {} }: Statistics, matches: (partition: PartitionStatistics) => boolean): readonly Place[] {
  return Object.entries(topics).flatMap(([topic, { partitions = {} }]) =>
    Object.entries(partitions).flatMap(([partition, statistics]) =>
      Number(partition) !== none && matches(statistics) ? [{ topic, partition: Number(partition) }] : [],
    ),
  );
}
