import { keepSteady } from "./steady-moment.ts";

/** The parts of kafkajs' queue of requests that are used here. Each connection has one. Its types leave it out. */
interface RequestQueue {
  /** Nothing is sent before this moment, because the quota of the client is used up. */
  throttledUntil: number | null;
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
/** The part of kafkajs' cluster that is used here. Its types leave it out. */
export interface PooledCluster {
  readonly connectionPoolBuilder: {
    build(broker?: object): Promise<{ readonly pool: readonly { readonly requestQueue: RequestQueue }[] }>;
  };
}

const shortestCheckMs = 100;
const longestCheckMs = 1_000;

/**
 * Keeps the connections of a cluster from waking the process while nothing happens. By itself, kafkajs wakes it about 900 times a second for each
 * connection (https://github.com/tulios/kafkajs/issues/1751): after each answer it looks whether a request waits to be sent, and as none does, it
 * looks again after -1 ms, for ever. Ten more times a second it looks for requests that have no answer in time. Both are replaced in the queues of
 * this cluster alone. What they do is kafkajs' own; only when changes.
 */
export function withoutIdleTimers<Pooled extends PooledCluster>(cluster: Pooled): Pooled {
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
  keepSteady(queue, "throttledUntil");
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
