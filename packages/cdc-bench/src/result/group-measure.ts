import type { DecodeErrorCount, FormatMeasure } from "../measure/decode-meter.ts";
import type { ReadingOutcome } from "../measure/reading.ts";

export type GroupOutcome = Exclude<ReadingOutcome, "limit-reached">;

/** What `run --processes N` found out about N processes that consumed the topics as one group. */
export interface GroupMeasure {
  readonly outcome: GroupOutcome;
  /** As that of a reading, of what was handled and committed. */
  readonly unread: number;
  /** From the start of the processes until each had its partitions. Not part of the rate. */
  readonly joinMs: number;
  readonly records: number;
  readonly events: number;
  readonly errorRecords: number;
  readonly bytes: number;
  /** From the first to the last event over all processes. */
  readonly elapsedMs: number;
  readonly recordsPerSecond: number;
  readonly megabytesPerSecond: number;
  /** Of this machine, which the processes and perhaps the broker share. */
  readonly cores: number;
  /** Processor time of all processes, of what the cores had to give: 0 to 1. */
  readonly clientCpuShare: number;
  /** Null if there are several brokers, or if the broker is on another machine or another user's. */
  readonly broker: { readonly cpuMs: number; readonly cpuShare: number } | null;
  readonly processes: readonly ProcessMeasure[];
}

export interface ProcessMeasure {
  /** From 1 on. */
  readonly number: number;
  readonly partitions: number;
  readonly records: number;
  readonly events: number;
  readonly errorRecords: number;
  readonly bytes: number;
  /** Of all records, 0 to 1. */
  readonly share: number;
  /** From its own first to its own last event. */
  readonly elapsedMs: number;
  readonly recordsPerSecond: number;
  readonly cpuMs: number;
  readonly maxRssBytes: number;
  readonly formats: readonly FormatMeasure[];
  readonly errors: readonly DecodeErrorCount[];
}
