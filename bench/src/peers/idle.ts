import { setTimeout as pass } from "node:timers/promises";
import type { IdleOptions, IdleResult } from "./job.ts";
import { subscribed } from "./kafkajs-by-hand.ts";
import { consumerOf } from "./ours.ts";

/** A consumer of ours that has nothing to read. */
export async function idleOurs(driver: string, options: IdleOptions): Promise<IdleResult> {
  const consumer = await consumerOf(driver, options);
  consumer.on("*", () => {});
  const running = consumer.run();
  const result = await Promise.race([shareOf(options), running.then(() => Promise.reject(new Error("the consumer stopped by itself")))]);
  await consumer.stop();
  await running;
  return result;
}

/** kafkajs alone that has nothing to read. */
export async function idleKafkaJs(options: IdleOptions): Promise<IdleResult> {
  const consumer = await subscribed(options);
  await consumer.run({ eachBatch: () => Promise.resolve() });
  const result = await shareOf(options);
  await consumer.disconnect();
  return result;
}

/** A process has settled when it takes no less than this part of what it took in the window before. */
const settledFrom = 0.8;
/** So many windows are waited for at most. */
const maxSettleWindows = 6;

/**
 * What the process takes once it has settled. It starts beside others on few cores, and its garbage of the start is collected and its code compiled
 * for some seconds more.
 */
async function shareOf({ settleSeconds, seconds }: IdleOptions): Promise<IdleResult> {
  const settling = [await shareDuring(settleSeconds)];
  while (settling.length < maxSettleWindows) {
    const before = settling.at(-1) ?? 0;
    const now = await shareDuring(settleSeconds);
    settling.push(now);
    if (now >= before * settledFrom) {
      break;
    }
  }
  return { seconds, share: await shareDuring(seconds), settling };
}

/** Of one core. */
async function shareDuring(seconds: number): Promise<number> {
  const [before, startedAt] = [process.cpuUsage(), performance.now()];
  await pass(seconds * 1_000);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / (performance.now() - startedAt);
}
