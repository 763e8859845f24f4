import type { DataSet } from "../../codec/data-sets.ts";
import type { Leftovers } from "../../leftovers/leftovers.ts";
import { brokersText } from "../../leftovers/removers/kafka.ts";
import { type Thing, withoutLogin } from "../../leftovers/thing.ts";
import type { ClusterConnection } from "../../load/connection.ts";
import { createTopics } from "../../load/topics.ts";
import { requireAnswer, throwAwayGroup } from "../../load/cluster.ts";
import type { Observer } from "../../observe/observer.ts";
import { TripThread } from "./trip-thread.ts";
import { connectRedis } from "./redis-connection.ts";
import type { Via } from "./transport.ts";

/** Where round trips go. Holds secrets. */
export interface RoundtripTarget {
  readonly via: Via;
  readonly connection: ClusterConnection | null;
  readonly redisUrl: string | null;
}

export interface ThreadsOptions {
  readonly target: RoundtripTarget;
  readonly set: DataSet;
  readonly plugIns: readonly string[];
  readonly codecNames: readonly string[];
  readonly threads: number;
  /** Of one thread, at most. */
  readonly valuesInFlight: number;
  readonly timeoutMs: number;
}

interface World {
  readonly leftovers: Leftovers;
  readonly observer: Observer;
  readonly interrupt: AbortSignal;
}

/** Starts the threads, each with a topic or keys of its own that are written down before they are made. */
export async function openThreads(options: ThreadsOptions, { leftovers, observer, interrupt }: World): Promise<readonly TripThread[]> {
  const { target, set, timeoutMs } = options;
  observer.observe(() => ({ phase: "checking codecs, connecting" }));
  await knock(target, interrupt);
  const names = Array.from({ length: options.threads }, () => throwAwayGroup().replace("cdc-bench-", "cdc-bench-roundtrip-"));
  for (const thing of names.flatMap((name) => thingsOf(name, options))) {
    await leftovers.making(thing);
  }
  if (target.connection !== null) {
    await createTopics(
      target.connection,
      names.map((topic) => ({ topic, partitions: 1 })),
    );
  }
  const peer = peerOf(target);
  const threads = names.map((place) => {
    const { connection, redisUrl, via } = target;
    const setup = {
      via,
      connection,
      redisUrl,
      place,
      groupId: place,
      shape: set.shape,
      rows: set.rows,
      plugIns: options.plugIns,
      codecNames: options.codecNames,
    };
    return new TripThread({ setup, timeoutMs, peer });
  });
  try {
    await untilInterrupted(Promise.all(threads.map((thread) => thread.start())), interrupt);
    return threads;
  } catch (error) {
    await Promise.all(threads.map((thread) => thread.close()));
    throw error;
  }
}

/** Whether somebody answers there: what nobody let us make need not be removed. */
async function knock({ connection, redisUrl }: RoundtripTarget, interrupt: AbortSignal): Promise<void> {
  if (connection === null) {
    const client = await connectRedis({ url: redisUrl ?? "" });
    await client.close();
    return;
  }
  await requireAnswer(connection, { interrupt });
}

/** Also while a server does not answer the user can leave. */
async function untilInterrupted(starting: Promise<unknown>, interrupt: AbortSignal): Promise<void> {
  let stop = (): void => {};
  const interrupted = new Promise<void>((resolve) => {
    stop = resolve;
  });
  starting.catch(() => {}); // it may fail after the race is over
  interrupt.addEventListener("abort", stop);
  try {
    await (interrupt.aborted ? undefined : Promise.race([starting, interrupted]));
  } finally {
    interrupt.removeEventListener("abort", stop);
  }
}

function thingsOf(name: string, { target, valuesInFlight }: ThreadsOptions): readonly Thing[] {
  if (target.connection !== null) {
    const at = brokersText(target.connection);
    return [
      { kind: "topic", name, at },
      { kind: "consumer-group", name, at },
    ];
  }
  const at = withoutLogin(target.redisUrl ?? "");
  const keys = target.via === "redis" ? Array.from({ length: valuesInFlight }, (_, slot) => `${name}:${slot}`) : [name];
  return keys.map((key) => ({ kind: "redis-key", name: key, at }));
}

function peerOf({ connection, redisUrl }: RoundtripTarget): string {
  return connection === null ? `Redis at ${new URL(redisUrl ?? "").host}` : `Kafka at ${connection.brokers.join(", ")}`;
}
