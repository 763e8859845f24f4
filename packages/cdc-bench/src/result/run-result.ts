import type { ReadingMeasure } from "../measure/reading.ts";
import type { DecodeErrorCount, FormatMeasure } from "../measure/decode-meter.ts";
import { rulesFor } from "../measure/rules.ts";
import type { Environment } from "../report/environment.ts";
import { formatLabel } from "../report/format-label.ts";
import { formatCount } from "../report/quantities.ts";
import { percentileMetrics, sizeMetrics } from "../verdict/metrics-of.ts";
import type { Metric } from "../verdict/metric.ts";
import type { Verdict } from "../verdict/verdict.ts";
import type { BenchResult } from "./bench-result.ts";
import type { GroupMeasure } from "./group-measure.ts";
import type { RunTime } from "./run-time.ts";

/** What `run` found out about one topic, or about several that were tailed together. */
export interface TopicRun {
  readonly topics: readonly string[];
  readonly measure: ReadingMeasure;
  /** How many records were there to read, at most; null if the stream has no end. */
  readonly expectedRecords: bigint | null;
}

export interface RunSettings {
  readonly mode: "drain" | "tail";
  /** The brokers, or the recording. */
  readonly source: string;
  readonly topics: readonly string[];
  readonly registry: string | null;
  readonly maxRecords: number | null;
  readonly maxDurationMs: number | null;
  /** What ids of four bytes are at an Apicurio registry. Absent: content ids. */
  readonly registryIds?: string;
  /** Null is the driver's default. */
  readonly fetchBytes: number | null;
  /** Most bytes that one record batch may become. Absent: the driver's own limit. */
  readonly maxDecompressedBytes?: number;
  /** Whether values were checked against their JSON Schema. */
  readonly validate?: boolean;
  /** Whether offsets were committed in the throw-away group. */
  readonly commit?: boolean;
  /** How many processes consumed the topics as one group. */
  readonly processes?: number;
}

/** The result of `run`. */
export interface RunResult extends BenchResult {
  readonly command: "run";
  readonly settings: RunSettings & Readonly<Record<string, unknown>>;
  /** Empty with `--processes`. */
  readonly runs: readonly TopicResult[];
  /** Only with `--processes`. */
  readonly group?: GroupMeasure;
}

/** One topic, or several that were tailed together, in a result. */
export interface TopicResult extends Omit<ReadingMeasure, "formats" | "waitsFor" | "wasRebalanced"> {
  readonly topics: readonly string[];
  /** A number in JSON. */
  readonly expectedRecords: bigint | number | null;
  readonly recordsPerSecond: number;
  readonly megabytesPerSecond: number;
  readonly formats: readonly Pick<FormatMeasure, "topic" | "format" | "records" | "events" | "sizes" | "decode">[];
  readonly errors: readonly DecodeErrorCount[];
}

/** What a result of `run` is made of. */
export interface RunParts extends RunTime {
  readonly aborted: boolean;
  readonly environment: Environment;
  readonly settings: RunSettings;
  readonly runs: readonly TopicRun[];
  /** What open transactions held back, in sentences: who reads the result later has not seen stderr. @default nothing */
  readonly heldBack?: readonly string[];
  readonly verdict: Verdict;
}

/** Below this, a rate says more about the start of a reading than about the reading. */
const shortReadingMs = 1_000;

/** The figures that thresholds and baselines can be about. */
export function runMetrics(runs: readonly TopicRun[]): readonly Metric[] {
  return runs.flatMap(({ topics, measure }) => {
    const scope = topics.join(", ");
    const { records, bytes, elapsedMs, errorRecords, formats, latency } = measure;
    return [
      { name: "rate", scope, value: perSecond(records, elapsedMs) },
      { name: "throughput", scope, value: perSecond(bytes, elapsedMs) },
      { name: "errors", scope, value: errorRecords },
      ...formats.filter(({ format }) => format !== "tombstone").flatMap(formatMetrics),
      ...(latency === null ? [] : percentileMetrics("latency", scope, latency.sinceRecord)),
    ];
  });
}

/** Of all processes together, and what each format cost in each of them. */
export function groupMetrics({ processes, recordsPerSecond, megabytesPerSecond, errorRecords }: GroupMeasure): readonly Metric[] {
  const scope = `${processes.length} processes`;
  return [
    { name: "rate", scope, value: recordsPerSecond },
    { name: "throughput", scope, value: megabytesPerSecond * 1e6 },
    { name: "errors", scope, value: errorRecords },
    ...processes.flatMap(({ number, formats }) =>
      formats
        .filter(({ format }) => format !== "tombstone")
        .flatMap(({ topic, format, decode }) => percentileMetrics("decode", `process ${number}: ${topic}: ${formatLabel(format)}`, decode)),
    ),
  ];
}

function formatMetrics({ topic, format, sizes, decode }: FormatMeasure): readonly Metric[] {
  const scope = `${topic}: ${formatLabel(format)}`;
  return [...sizeMetrics(scope, sizes), ...percentileMetrics("decode", scope, decode)];
}

export function runResult({ startedAt, elapsedMs, aborted, environment, settings, runs, heldBack = [], verdict }: RunParts): RunResult {
  return {
    schemaVersion: 1,
    command: "run",
    startedAt,
    elapsedMs,
    aborted,
    environment,
    settings: { ...settings },
    rules: rulesOf(settings),
    notes: [...heldBack, ...notesOf(runs)],
    runs: runs.map(topicResult),
    ...verdict,
  };
}

/** The result of `run --processes`. */
export function groupRunResult({
  group,
  wasRebalanced,
  heldBack = [],
  verdict,
  ...parts
}: Omit<RunParts, "runs"> & { readonly group: GroupMeasure; readonly wasRebalanced: boolean }): RunResult {
  return {
    schemaVersion: 1,
    command: "run",
    ...parts,
    settings: { ...parts.settings },
    rules: rulesFor("processesTogether", "decodeSampled", "drainHasNoLatency", "ownGroup"),
    notes: [...heldBack, ...groupNotes(group), ...rebalanceNotes("the topics were", wasRebalanced)],
    runs: [],
    group,
    ...verdict,
  };
}

function groupNotes({ processes, elapsedMs, records, cores, broker, unread }: GroupMeasure): readonly string[] {
  const idle = processes.filter(({ partitions }) => partitions === 0).length;
  return [
    ...(records > 0 && elapsedMs < shortReadingMs
      ? ["The topics were read in less than a second: the rate is uncertain. Read more records."]
      : []),
    ...partNotes("the topics", unread),
    ...(idle > 0 ? [`${idle} of ${processes.length} processes had no partition: a partition has one reader.`] : []),
    ...(broker !== null && processes.length >= cores
      ? [`The ${processes.length} processes share ${cores} cores with the broker: on machines of their own they would be faster.`]
      : []),
  ];
}

function topicResult({ topics, measure, expectedRecords }: TopicRun): TopicResult {
  const { records, events, bytes, elapsedMs, firstBatchMs, outcome, unread, batches, errorRecords, stages, formats, errors, latency } =
    measure;
  return {
    topics,
    outcome,
    unread,
    records,
    expectedRecords,
    events,
    errorRecords,
    bytes,
    elapsedMs,
    firstBatchMs,
    batches,
    recordsPerSecond: perSecond(records, elapsedMs),
    megabytesPerSecond: perSecond(bytes, elapsedMs) / 1e6,
    stages,
    formats: formats.map(({ topic, format, records: ofFormat, events: eventsOfFormat, sizes, decode }) => ({
      topic,
      format,
      records: ofFormat,
      events: eventsOfFormat,
      sizes,
      decode,
    })),
    errors,
    latency,
  };
}

function rulesOf({ mode }: RunSettings): readonly string[] {
  return rulesFor(
    "stagesApart",
    "rateFromAssignment",
    "decodeSampled",
    "sizes",
    "ownGroup",
    ...(mode === "drain" ? (["oneByOne", "drainHasNoLatency"] as const) : (["tailLatency"] as const)),
  );
}

function notesOf(runs: readonly TopicRun[]): readonly string[] {
  return runs.flatMap(({ topics, measure: { records, elapsedMs, unread, wasRebalanced } }) => [
    ...(records > 0 && elapsedMs < shortReadingMs
      ? [`${topics.join(", ")} was read in less than a second: its rate is uncertain. Read more records.`]
      : []),
    ...partNotes(topics.join(", "), unread),
    ...rebalanceNotes(`${topics.join(", ")} was`, wasRebalanced),
  ]);
}

function rebalanceNotes(whatWas: string, wasRebalanced: boolean): readonly string[] {
  return wasRebalanced
    ? [`The group was rebalanced while ${whatWas} read: the time that this took is in the rate, and records may count twice.`]
    : [];
}

function partNotes(what: string, unread: number): readonly string[] {
  return unread > 0 ? [`The figures are of a part: ${formatCount(unread)} offsets in front of the end of ${what} were not read.`] : [];
}

function perSecond(amount: number, elapsedMs: number): number {
  return elapsedMs === 0 ? 0 : (amount / elapsedMs) * 1e3;
}
