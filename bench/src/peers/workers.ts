import { randomUUID } from "node:crypto";
import { BroadcastChannel } from "node:worker_threads";
import { createConsumer } from "@cdckit/consumer";
import { type Counted, countsChannel, workerBrokersVariable, workerDriverVariable } from "./worker-counts.ts";
import { processorSecondsOf } from "./processes.ts";
import type { WorkersOptions, WorkersResult } from "./job.ts";

/** Reads a topic of several partitions with so many threads, and ends with the last message of all of them. */
export async function consumeWithWorkers(options: WorkersOptions): Promise<WorkersResult> {
  const { driver, brokers, registryUrl, topic, workers } = options;
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
  const done = allCounted(options);
  const running = consumer.run();
  const result = await Promise.race([done, running.then(() => Promise.reject(new Error("the consumer stopped by itself")))]);
  await consumer.stop();
  await running;
  return result;
}

/** How far the threads were at a moment. */
interface Mark {
  readonly count: number;
  readonly atNs: bigint;
}

/** The same, and what had been used by then. */
interface UsageMark extends Mark {
  readonly processor: NodeJS.CpuUsage;
  readonly brokerSeconds: number | null;
}

/** Resolves when the counts of all threads reach the number of messages. */
function allCounted({ messages, warmUpMessages, brokerPid }: WorkersOptions): Promise<WorkersResult> {
  const channel = new BroadcastChannel(countsChannel);
  const counts = new Map<number, number>();
  const marks: Mark[] = [];
  let warm: UsageMark | null = null;
  return new Promise((resolve) => {
    channel.onmessage = (message: unknown): void => {
      const { worker, count: ofWorker, atNs } = (message as { readonly data: Counted }).data;
      counts.set(worker, ofWorker);
      const count = [...counts.values()].reduce((sum, one) => sum + one, 0);
      if (count >= (marks.length * messages) / 10) {
        marks.push({ count, atNs });
      }
      if (warm === null && count >= warmUpMessages) {
        warm = { count, atNs, processor: process.cpuUsage(), brokerSeconds: processorSecondsOf(brokerPid) };
      }
      if (count >= messages && warm !== null) {
        channel.close();
        const end = { count, atNs, processor: process.cpuUsage(), brokerSeconds: processorSecondsOf(brokerPid) };
        resolve({ ...between(warm, end), tenths: ratesOf(marks), residentMiB: process.resourceUsage().maxRSS / 1_024 });
      }
    };
  });
}

function between(from: UsageMark, to: UsageMark): Pick<WorkersResult, "perSecond" | "processorSeconds" | "brokerSeconds"> {
  const handled = to.count - from.count;
  const microseconds = to.processor.user + to.processor.system - from.processor.user - from.processor.system;
  return {
    perSecond: rateBetween(from, to),
    processorSeconds: microseconds / 1e6 / handled,
    brokerSeconds: from.brokerSeconds === null || to.brokerSeconds === null ? null : (to.brokerSeconds - from.brokerSeconds) / handled,
  };
}

function ratesOf(marks: readonly Mark[]): readonly number[] {
  return marks.slice(1).map((mark, i) => rateBetween(marks[i] as Mark, mark)); // each mark but the first has one before it
}

function rateBetween(from: Mark, to: Mark): number {
  return (to.count - from.count) / (Number(to.atNs - from.atNs) / 1e9);
}
