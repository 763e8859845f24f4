import { setImmediate as turn } from "node:timers/promises";
import { type Consumer, createConsumer } from "@cdckit/consumer";
import type { CdcEvent } from "@cdckit/decode";
import { kafkajs } from "@cdckit/kafkajs";
import { readRow, type SalesOrderDetail } from "../sales-order-detail.ts";
import type { MemorySample } from "../flatness.ts";
import { HandledMarks, type MarksByPlace } from "../handled-marks.ts";

export interface SoakMemberOptions {
  readonly brokers: string;
  readonly registryUrl: string;
  readonly groupId: string;
  /** How many partitions each topic has. */
  readonly topics: Readonly<Record<string, number>>;
  /** More than are ever written. */
  readonly recordsPerPartition: number;
}

/** What a member is asked for, by its parent. */
export type SoakQuestion = "sample" | "stop";

export type SoakAnswer =
  | { readonly kind: "sample"; readonly memory: Omit<MemorySample, "atS">; readonly at: SoakProgress }
  | { readonly kind: "ended"; readonly marks: MarksByPlace; readonly error: string | null; readonly handles: readonly string[] };

export interface SoakProgress {
  readonly handled: number;
  readonly partitions: number;
  readonly lag: number;
  readonly reasons: readonly string[];
  readonly peakResidentBytes: number;
  readonly cpuS: number;
}

/** A service as users write one: reads every column, sometimes waits, and answers how much memory it holds. Needs `--expose-gc`. */
export async function runSoakMember(options: SoakMemberOptions): Promise<void> {
  const marks = new HandledMarks(options.topics, options.recordsPerPartition);
  const consumer = createConsumer({
    logger: false,
    driver: kafkajs({ brokers: [options.brokers], sessionTimeoutMs: 10_000, heartbeatIntervalMs: 1_000, maxWaitMs: 250 }),
    groupId: options.groupId,
    topics: Object.keys(options.topics),
    registry: { url: options.registryUrl, timeoutMs: 2_000 },
    delivery: { concurrency: 8 },
  });
  let read = 0;
  consumer.on("*", (event) => {
    read += lookAt(event);
    const { topic, partition, offset } = event.record;
    if (offset % 8n !== 0n) {
      marks.mark(topic, partition, offset);
      return undefined;
    }
    return turn().then(() => marks.mark(topic, partition, offset));
  });
  process.on("message", (question: SoakQuestion) => {
    if (question === "stop") {
      void consumer.stop();
    } else {
      void answer({ kind: "sample", memory: memoryNow(), at: progressOf(consumer) });
    }
  });
  process.once("disconnect", () => void consumer.stop()); // nothing else would stop it
  const error = await consumer.run().then(
    () => null,
    (caught: unknown) => String(caught),
  );
  await answer({ kind: "ended", marks: marks.toObject(), error: read < 0 ? "unread" : error, handles: process.getActiveResourcesInfo() });
  process.disconnect();
}

/** Every column, and now and then the source, which is read only when somebody asks. */
function lookAt(event: CdcEvent): number {
  if (event.kind !== "change") {
    return 0;
  }
  const { offset } = event.record;
  return readRow(event.after as SalesOrderDetail | null) + (offset % 16n === 0n ? (event.source.connector?.length ?? 0) : 0); // it is that table
}

function memoryNow(): Omit<MemorySample, "atS"> {
  const { gc } = globalThis;
  if (gc === undefined) {
    throw new Error("memory can only be compared under node --expose-gc");
  }
  const handles = process.getActiveResourcesInfo().length;
  gc();
  const { rss, heapUsed, external, arrayBuffers } = process.memoryUsage();
  return { residentBytes: rss, heapUsedBytes: heapUsed, externalBytes: external, arrayBuffersBytes: arrayBuffers, handles };
}

function progressOf(consumer: Consumer): SoakProgress {
  const { counts, assigned, reasons } = consumer.health();
  const { user, system } = process.cpuUsage();
  return {
    handled: counts.handled,
    partitions: assigned.length,
    lag: assigned.reduce((sum, { lag }) => sum + Number(lag ?? 0n), 0),
    reasons,
    peakResidentBytes: process.resourceUsage().maxRSS * 1024,
    cpuS: (user + system) / 1e6,
  };
}

/** Resolves when it is sent: what is not sent by then, a disconnect throws away. */
function answer(message: SoakAnswer): Promise<void> {
  return new Promise((resolve) => {
    process.send?.(message, () => resolve());
  });
}
