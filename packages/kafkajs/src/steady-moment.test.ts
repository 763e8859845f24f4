import { Kafka, logLevel } from "kafkajs";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { adaptedClient } from "./adapted-client.ts";
import { createClusterKey } from "./create-cluster.ts";

/** The parts of kafkajs' own classes that wait for a moment. */
interface BrokerPool {
  metadata: object;
  metadataExpireAt: number | null;
  refreshMetadata: () => Promise<void>;
  refreshMetadataIfNecessary(topics: readonly string[]): Promise<void>;
}
interface RequestQueue {
  maybeThrottle(ms: number): void;
  canSendSocketRequestImmediately(): boolean;
}
interface Cluster {
  readonly brokerPool: BrokerPool;
  readonly connectionPoolBuilder: { build(): Promise<{ readonly pool: readonly { readonly requestQueue: RequestQueue }[] }> };
}

const hourMs = 3_600_000;
const metadataMaxAge = 60_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date", "performance"] }));
afterEach(() => void vi.useRealTimers());

function setBack(): void {
  vi.setSystemTime(Date.now() - hourMs);
}

function clusterOf(adapt: (kafka: Kafka) => Kafka): Cluster {
  const kafka = new Kafka({ brokers: ["127.0.0.1:1"], logLevel: logLevel.NOTHING });
  const make = (adapt(kafka) as unknown as Record<symbol, (options: object) => Cluster>)[createClusterKey(kafka) as symbol];
  if (make === undefined) {
    throw new Error("expected kafkajs to make clusters");
  }
  return make({ metadataMaxAge });
}

/** How often kafkajs asks for metadata in five minutes, the clock being set back after the first question. */
async function questionsAfterSetBack({ brokerPool }: Cluster): Promise<number> {
  let asked = 0;
  brokerPool.metadata = { topicMetadata: [] };
  brokerPool.refreshMetadata = async () => {
    asked++;
    brokerPool.metadataExpireAt = Date.now() + metadataMaxAge; // as kafkajs sets it
  };
  await brokerPool.refreshMetadataIfNecessary([]);
  setBack();
  for (let minutes = 0; minutes < 5; minutes++) {
    vi.advanceTimersByTime(metadataMaxAge + 1);
    await brokerPool.refreshMetadataIfNecessary([]);
  }
  return asked;
}

test("kafkajs alone asks for no metadata for as long as the clock was set back; the driver's does", async () => {
  expect(await questionsAfterSetBack(clusterOf((kafka) => kafka))).toBe(1);
  expect(await questionsAfterSetBack(clusterOf(adaptedClient))).toBe(6);
});

async function maySendAfterPause(cluster: Cluster): Promise<boolean> {
  const [connection] = (await cluster.connectionPoolBuilder.build()).pool;
  const queue = connection?.requestQueue;
  expect(queue?.canSendSocketRequestImmediately()).toBe(true);
  queue?.maybeThrottle(5_000);
  setBack();
  expect(queue?.canSendSocketRequestImmediately()).toBe(false);
  vi.advanceTimersByTime(5_001);
  return queue?.canSendSocketRequestImmediately() === true;
}

test("kafkajs alone sends nothing for as long as the clock was set back while a quota held it back; the driver's does", async () => {
  expect(await maySendAfterPause(clusterOf((kafka) => kafka))).toBe(false);
  expect(await maySendAfterPause(clusterOf(adaptedClient))).toBe(true);
});
