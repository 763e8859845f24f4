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

async function shareOf({ settleSeconds, seconds }: IdleOptions): Promise<IdleResult> {
  await pass(settleSeconds * 1_000);
  const [before, startedAt] = [process.cpuUsage(), performance.now()];
  await pass(seconds * 1_000);
  const { user, system } = process.cpuUsage(before);
  const elapsedSeconds = (performance.now() - startedAt) / 1_000;
  return { seconds: elapsedSeconds, share: (user + system) / 1e6 / elapsedSeconds };
}
