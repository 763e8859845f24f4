import { randomUUID } from "node:crypto";
import { BroadcastChannel } from "node:worker_threads";
import { createConsumer } from "@cdckit/consumer";
import { type Counted, countsChannel, workerBrokersVariable, workerDriverVariable } from "./worker-counts.ts";
import type { WorkersOptions, WorkersResult } from "./job.ts";

/** Reads a topic of several partitions with so many threads, and ends with the last message of all of them. */
export async function consumeWithWorkers({
  driver,
  brokers,
  registryUrl,
  topic,
  workers,
  messages,
}: WorkersOptions): Promise<WorkersResult> {
  process.env[workerBrokersVariable] = brokers; // threads begin with a copy; a driver cannot cross to them
  process.env[workerDriverVariable] = driver;
  const consumer = createConsumer({
    workers,
    module: new URL("./worker-module.js", import.meta.url),
    groupId: `bench-${randomUUID()}`,
    topics: [topic],
    from: "earliest",
    registry: { url: registryUrl },
    signals: false,
  });
  const done = allCounted(messages);
  const running = consumer.run();
  const result = await Promise.race([done, running.then(() => Promise.reject(new Error("the consumer stopped by itself")))]);
  await consumer.stop();
  await running;
  return result;
}

/** Resolves when the counts of all threads reach the number of messages. */
function allCounted(messages: number): Promise<WorkersResult> {
  const channel = new BroadcastChannel(countsChannel);
  const counts = new Map<number, number>();
  let startedNs: bigint | null = null;
  let usage = process.cpuUsage();
  return new Promise((resolve) => {
    channel.onmessage = (message: unknown): void => {
      const { worker, count, atNs } = (message as { readonly data: Counted }).data;
      counts.set(worker, count);
      if (startedNs === null) {
        startedNs = atNs;
        usage = process.cpuUsage(); // of all threads
      }
      if ([...counts.values()].reduce((sum, one) => sum + one, 0) >= messages) {
        const { user, system } = process.cpuUsage(usage);
        channel.close();
        resolve({
          messages,
          seconds: Number(atNs - startedNs) / 1e9,
          processorSeconds: (user + system) / 1e6,
          residentMiB: process.resourceUsage().maxRSS / 1_024,
        });
      }
    };
  });
}
