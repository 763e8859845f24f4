import type { Kafka } from "kafkajs";
import { createClusterKey } from "./create-cluster.ts";

/** The parts of kafkajs' queue of requests that are used here. Each connection has one. Its types leave it out. */
interface RequestQueue {
  readonly requestTimeout: number;
  readonly enforceRequestTimeout: boolean;
  readonly inflight: ReadonlyMap<number, InFlightRequest>;
  readonly pending: readonly unknown[];
  requestTimeoutIntervalId?: NodeJS.Timeout;
  isConnected(): boolean;
  destroy(): void;
  scheduleRequestTimeoutCheck(): void;
  scheduleCheckPendingRequests(): void;
}
interface InFlightRequest {
  readonly sentAt: number;
  readonly requestTimeout: number;
  timeoutRequest(): void;
}
interface Cluster {
  readonly connectionPoolBuilder: {
    build(broker?: object): Promise<{ readonly pool: readonly { readonly requestQueue: RequestQueue }[] }>;
  };
}
type CreateCluster = (options: object) => Cluster;

const shortestCheckMs = 100;
const longestCheckMs = 1_000;

/**
 * A client with the settings of this one, whose connections do not wake the process while nothing happens. By itself, kafkajs wakes it about 900 times a
 * second for each connection (https://github.com/tulios/kafkajs/issues/1751): after each answer it looks whether a request waits to be sent, and
 * as none does, it looks again after -1 ms, for ever. Ten more times a second it looks for requests that have no answer in time. Both are
 * replaced in the queues of the new client alone. What they do is kafkajs' own; only when changes.
 *
 * If kafkajs is of another build, or the client is of a class of the application's own, which may not bear a stand-in, it is returned as it is.
 */
export function withoutIdleTimers(kafka: Kafka): Kafka {
  const key = createClusterKey(kafka);
  const createCluster = key === undefined ? undefined : (kafka as unknown as Record<symbol, CreateCluster>)[key]; // kafkajs' types leave it out
  if (key === undefined || createCluster === undefined || !isOfKafkaJs(kafka)) {
    return kafka;
  }
  return Object.create(kafka, { [key]: { value: (options: object) => quiet(createCluster(options)) } }) as Kafka;
}

/** Whether nobody has derived the client's class. */
function isOfKafkaJs(kafka: Kafka): boolean {
  return Object.getPrototypeOf(Object.getPrototypeOf(kafka)) === Object.prototype;
}

function quiet(cluster: Cluster): Cluster {
  const { connectionPoolBuilder: builder } = cluster;
  const build = builder.build;
  builder.build = async (broker) => {
    const connections = await build.call(builder, broker);
    for (const { requestQueue } of connections.pool) {
      quietQueue(requestQueue);
    }
    return connections;
  };
  return cluster;
}

function quietQueue(queue: RequestQueue): void {
  // A request that is queued later asks for this itself, and until it is sent, each look asks for the next one.
  const checkPending = queue.scheduleCheckPendingRequests;
  queue.scheduleCheckPendingRequests = () => {
    if (queue.pending.length > 0) {
      checkPending.call(queue);
    }
  };
  queue.scheduleRequestTimeoutCheck = () => {
    if (queue.enforceRequestTimeout) {
      queue.destroy(); // ends the checks of the connection before this one
      queue.requestTimeoutIntervalId = setInterval(() => endOverdue(queue), checkEveryMs(queue.requestTimeout));
    }
  };
}

/** A request that is overdue is found at most a tenth of its timeout late, or with short ones as late as by kafkajs itself. */
function checkEveryMs(requestTimeoutMs: number): number {
  return Math.min(requestTimeoutMs, Math.max(shortestCheckMs, Math.min(requestTimeoutMs / 10, longestCheckMs)));
}

function endOverdue(queue: RequestQueue): void {
  for (const request of queue.inflight.values()) {
    if (Date.now() - request.sentAt > request.requestTimeout) {
      request.timeoutRequest();
    }
  }
  if (!queue.isConnected()) {
    queue.destroy();
  }
}
