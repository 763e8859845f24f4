import type { KafkaDriver } from "@cdckit/consumer";
import type { SchemaSource } from "@cdckit/decode";
import type { TopicExtent } from "../../load/cluster.ts";
import { readingEndOf, requireWhole } from "../../load/whole-reading.ts";
import { DurationHistogram, type DurationSummary } from "../../measure/duration-histogram.ts";
import { measureReading, type ReadingMeasure, type ReadingOptions } from "../../measure/reading.ts";

/** Reading the clock for each message would cost a tenth of what is measured. */
const ageSampling = 64;
/** A backlog that sends nothing for so long has nothing left. */
const maxIdleMs = 10_000;

export interface DrainOptions {
  readonly driver: KafkaDriver;
  readonly schemas: SchemaSource | undefined;
  readonly groupId: string;
  readonly extent: TopicExtent;
  readonly interrupt: AbortSignal;
  readonly onProgress: ReadingOptions["onProgress"];
}

export interface Drained {
  readonly reading: ReadingMeasure;
  /** Processor time of this process. */
  readonly readingCpuMs: number;
  readonly backlogAge: DurationSummary;
  /** Timestamps of the first and the last message, by the connector's clock; null if none was read. */
  readonly written: { readonly firstMs: number; readonly lastMs: number } | null;
}

/** Consumes the whole topic as a service would. Rejects if brokers stop handing it over: a part of it would count as the smallest format. */
export async function drain({ driver, schemas, groupId, extent, interrupt, onProgress }: DrainOptions): Promise<Drained> {
  const age = new DurationHistogram();
  let [firstMs, lastMs, events] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0];
  const cpuBefore = process.cpuUsage();
  const reading = await measureReading({
    driver,
    schemas,
    groupId,
    topics: [extent.topic],
    from: "earliest",
    end: readingEndOf(extent),
    maxDurationMs: undefined,
    maxIdleMs,
    measureLatency: false,
    interrupt,
    onProgress,
    onEvent: ({ record }) => {
      const timestampMs = Number(record.timestamp);
      firstMs = timestampMs < firstMs ? timestampMs : firstMs;
      lastMs = timestampMs > lastMs ? timestampMs : lastMs;
      if (events++ % ageSampling === 0) {
        age.recordNs((Date.now() - timestampMs) * 1e6);
      }
    },
  });
  const { user, system } = process.cpuUsage(cpuBefore);
  requireWhole([extent.topic], reading);
  return {
    reading,
    readingCpuMs: (user + system) / 1e3,
    backlogAge: age.summary(),
    written: events === 0 ? null : { firstMs, lastMs },
  };
}
