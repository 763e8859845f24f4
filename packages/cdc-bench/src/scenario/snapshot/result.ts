import type { DurationSummary } from "../../measure/duration-histogram.ts";
import type { StageMeasure } from "../../measure/reading.ts";
import type { SizeSummary } from "../../measure/size-tally.ts";
import type { BenchResult } from "../../result/bench-result.ts";
import type { SnapshotAnalysis } from "./analysis.ts";
import type { SnapshotFormat } from "./formats.ts";

/** What `snapshot --json` writes. MB is 10^6 bytes. */
export interface SnapshotResult extends BenchResult {
  readonly command: "snapshot";
  readonly table: string;
  /** Rows of the table by SQL; null if the database was not asked. */
  readonly tableRows: number | null;
  /** Medians over the rounds. A format of which no round was completed is missing. */
  readonly formats: readonly FormatSnapshot[];
  /** Null if nothing was completed. */
  readonly analysis: SnapshotAnalysis | null;
}

/** One format, as the median of its rounds. */
export interface FormatSnapshot {
  readonly format: SnapshotFormat;
  readonly label: string;
  readonly messages: number;
  /** From the request to Kafka Connect until the last message was consumed. */
  readonly totalMs: number;
  readonly messagesPerSecond: number;
  readonly megabytesPerSecond: number;
  /** Keys and values, without headers. */
  readonly totalBytes: number;
  readonly sizes: Omit<SizeSummary, "count" | "totalBytes">;
  /** How many times the bytes of Avro; null if Avro was not measured. */
  readonly timesAvro: number | null;
  readonly connector: ConnectorMeasure;
  readonly consumer: ConsumerMeasure;
  /** How old messages were when the backlog was drained: the length of the backlog, not a latency. */
  readonly backlogAge: DurationSummary;
  /** Of rows inserted after the snapshot; null if it was not measured. */
  readonly tail: TailMeasure | null;
  /** What the topic takes on the broker's disk, without replicas; null if the broker does not tell. */
  readonly storedBytes: number | null;
  /** What the same records take after each compression; null if the broker does not tell. */
  readonly compression: readonly CompressionMeasure[] | null;
  /** What is known of processes on this machine, while the connector wrote and while the consumer read. */
  readonly processes: readonly ProcessMeasure[];
  /** Settings of the converters that this format needs. */
  readonly converterSettings: number;
  readonly needsRegistry: boolean;
  /** Columns whose type a consumer knows, of all columns of the row. */
  readonly typedColumns: number;
  readonly columns: number;
  /** Bytes of a message that say what its fields are called and of what type they are, or that name a schema. */
  readonly schemaBytesPerMessage: number;
  /** Names and values of headers: Debezium writes some that say which connector wrote a message. Not part of its size. */
  readonly headerBytesPerMessage: number;
  readonly errorRecords: number;
  readonly rounds: readonly RoundMeasure[];
}

export interface ConnectorMeasure {
  /** From the request to the first message. */
  readonly startMs: number;
  /** From the first message to the last one, by their timestamps. */
  readonly writeMs: number;
  readonly messagesPerSecond: number;
  readonly minMessagesPerSecond: number;
  readonly maxMessagesPerSecond: number;
}

export interface ConsumerMeasure {
  readonly elapsedMs: number;
  readonly messagesPerSecond: number;
  readonly minMessagesPerSecond: number;
  readonly maxMessagesPerSecond: number;
  readonly megabytesPerSecond: number;
  readonly stages: StageMeasure;
  readonly decode: DurationSummary;
  /** Processor time of this program while it read. */
  readonly cpuMs: number;
}

export interface TailMeasure {
  readonly rows: number;
  readonly rowsPerSecond: number;
  /** From the moment at which a row was to be inserted until its event was handled. */
  readonly sinceIntended: DurationSummary;
  /** From the record's timestamp until it was handled. */
  readonly sinceRecord: DurationSummary;
  /** Rows that did not come in time. */
  readonly missingRows: number;
}

export type CompressionName = "uncompressed" | "gzip" | "snappy" | "lz4" | "zstd";

export interface CompressionMeasure {
  readonly compression: CompressionName;
  readonly sampleMessages: number;
  readonly bytesPerMessage: number;
  /** As a part of the uncompressed batches: 0.25 is a quarter. */
  readonly share: number;
}

export interface ProcessMeasure {
  readonly service: "connect" | "broker" | "database" | "registry";
  readonly pid: number;
  readonly snapshotCpuMs: number;
  readonly drainCpuMs: number;
  readonly writtenBytes: number | null;
}

/** One connector of one round. */
export interface RoundMeasure {
  readonly round: number;
  /** Its place in the order of its round, from 1. */
  readonly position: number;
  readonly messages: number;
  readonly totalMs: number;
  readonly connectorStartMs: number;
  readonly connectorWriteMs: number;
  readonly consumerMs: number;
  readonly consumerBytes: number;
}
