import { setTimeout as pass } from "node:timers/promises";
import { BenchError } from "../../bench-error.ts";
import type { Cluster, TopicExtent } from "../../load/cluster.ts";
import type { KafkaConnect } from "../../load/connect.ts";

const lookEveryMs = 100;
const statusEveryMs = 1_000;
/** A topic that does not grow for so long is complete, if nobody knows how many rows there are. */
const quietMs = 5_000;
/** A connector that runs and writes nothing for so long is stuck. */
const stallMs = 120_000;

export interface SnapshotWait {
  readonly cluster: Cluster;
  readonly connect: KafkaConnect;
  readonly connector: string;
  readonly topicPrefix: string;
  /** The rows of the table; null if the database was not asked. */
  readonly expectedRows: number | null;
  readonly interrupt: AbortSignal;
  readonly onProgress: (messages: number) => void;
}

/** What a snapshot has left in Kafka. */
export interface WrittenSnapshot {
  /** The topic with the table's rows. */
  readonly extent: TopicExtent;
  /** When its last message was seen, by `performance.now()`. */
  readonly endedAtMs: number;
}

/** Waits until a connector has written its snapshot. Null if it was interrupted. A connector that fails is an error with its first cause. */
export async function awaitSnapshot(wait: SnapshotWait): Promise<WrittenSnapshot | null> {
  const { connector, expectedRows, interrupt, onProgress } = wait;
  let lastCount = -1;
  let grewAtMs = performance.now();
  let nextStatusMs = performance.now() + statusEveryMs;
  while (!interrupt.aborted) {
    const extent = await largestTopic(wait);
    const nowMs = performance.now();
    const count = Number(extent?.maxRecords ?? 0n);
    if (count !== lastCount) {
      [lastCount, grewAtMs] = [count, nowMs];
      onProgress(count);
    }
    if (extent !== null && isComplete(count, nowMs - grewAtMs, expectedRows)) {
      return { extent, endedAtMs: expectedRows === null ? grewAtMs : nowMs };
    }
    if (nowMs > nextStatusMs) {
      nextStatusMs = nowMs + statusEveryMs;
      await refuseFailed(wait);
    }
    if (nowMs - grewAtMs > stallMs) {
      const of = expectedRows === null ? "" : ` of ${expectedRows}`;
      throw new BenchError(
        "connection",
        `connector ${connector} wrote ${count}${of} messages, and then none for ${stallMs / 1e3} s: see Kafka Connect's log.`,
      );
    }
    await pass(lookEveryMs);
  }
  return null;
}

function isComplete(count: number, quietForMs: number, expectedRows: number | null): boolean {
  return expectedRows === null ? count > 0 && quietForMs > quietMs : count >= expectedRows;
}

/** Transformations may change a topic's name: of those with this connector's prefix, the one with the most messages is the table's. */
async function largestTopic({ cluster, topicPrefix }: SnapshotWait): Promise<TopicExtent | null> {
  const names = (await cluster.topicNames()).filter((name) => name.startsWith(`${topicPrefix}.`) && !name.endsWith(".schema-history"));
  const extents = await cluster.extentsOf(names);
  return extents.reduce<TopicExtent | null>((most, extent) => (most === null || extent.maxRecords > most.maxRecords ? extent : most), null);
}

/** Says why a connector does not run. */
export async function refuseFailed({ connect, connector }: Pick<SnapshotWait, "connect" | "connector">): Promise<void> {
  const { state, cause } = await connect.status(connector);
  if (state === "FAILED") {
    throw new BenchError("connection", `connector ${connector} failed: ${cause}`);
  }
  if (state === "missing") {
    throw new LostConnector(connector);
  }
}

/** Kafka Connect does not know a connector any more that it was given: a standalone one forgets when it restarts. */
export class LostConnector extends BenchError {
  constructor(connector: string) {
    super("connection", `Kafka Connect has lost connector ${connector}: it has restarted, and a standalone one forgets connectors.`);
  }
}
