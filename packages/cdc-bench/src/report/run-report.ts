import type { DecodeErrorCount, FormatMeasure } from "../measure/decode-meter.ts";
import type { DurationSummary } from "../measure/duration-histogram.ts";
import type { ReadingMeasure, ReadingOutcome, StageMeasure } from "../measure/reading.ts";
import type { LatencySummary } from "../measure/latency-meter.ts";
import { type Environment, environmentLine } from "./environment.ts";
import { formatCount, formatDuration, formatMegabytesPerSecond } from "./quantities.ts";
import { formatLabel } from "./format-label.ts";
import { textTable } from "./text-table.ts";
import { percentileMetrics, sizeMetrics } from "../verdict/metrics-of.ts";
import type { Metric } from "../verdict/metric.ts";
import { type Verdict, verdictText } from "../verdict/verdict.ts";

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
  /** Null is the driver's default. */
  readonly fetchBytes: number | null;
}

export interface RunReport {
  readonly aborted: boolean;
  readonly environment: Environment;
  readonly settings: RunSettings;
  readonly runs: readonly TopicRun[];
  readonly verdict: Verdict;
}

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

function formatMetrics({ topic, format, sizes, decode }: FormatMeasure): readonly Metric[] {
  const scope = `${topic}: ${formatLabel(format)}`;
  return [...sizeMetrics(scope, sizes), ...percentileMetrics("decode", scope, decode)];
}

/** The fields of `run --json`. */
export function runJson(report: RunReport): Readonly<Record<string, unknown>> {
  const { aborted, environment, settings, runs } = report;
  const result = { schemaVersion: 1, command: "run", aborted, environment, settings, runs: runs.map(topicJson), notes: notesOf(report) };
  return { ...result, ...report.verdict };
}

export function runText(report: RunReport): string {
  const { aborted, environment, runs } = report;
  const parts = [
    aborted ? "ABORTED: what follows is not all of it.\n\n" : "",
    ratesTable(report),
    "\n",
    formatsTable(runs),
    "\n",
    stagesTable(runs),
  ];
  parts.push(...runs.flatMap(({ measure }) => (measure.latency === null ? [] : ["\n", latencyTable(measure.latency)])));
  parts.push(errorLines(runs.flatMap(({ measure }) => measure.errors)));
  const verdict = verdictText(report.verdict);
  parts.push(
    verdict === "" ? "" : `\n${verdict}`,
    "\n",
    ...notesOf(report).map((note) => `${note}\n`),
    `${environmentLine(environment)}\n`,
  );
  return parts.join("");
}

function topicJson({ topics, measure, expectedRecords }: TopicRun): Readonly<Record<string, unknown>> {
  const { records, events, bytes, elapsedMs, outcome, batches, errorRecords, stages, formats, errors, latency } = measure;
  return {
    topics,
    outcome,
    records,
    expectedRecords,
    events,
    errorRecords,
    bytes,
    elapsedMs,
    batches,
    recordsPerSecond: perSecond(records, elapsedMs),
    megabytesPerSecond: perSecond(bytes, elapsedMs) / 1e6,
    stages,
    formats: formats.map(formatJson),
    errors,
    latency,
  };
}

function formatJson({ topic, format, records, events, sizes, decode }: FormatMeasure): Readonly<Record<string, unknown>> {
  return { topic, format, records, events, sizes, decode };
}

function ratesTable({ runs, settings }: RunReport): string {
  return textTable(
    [
      { title: "topic", align: "left" },
      { title: "records" },
      { title: "events" },
      { title: "errors" },
      { title: "seconds" },
      { title: "msg/s" },
      { title: "MB/s" },
      { title: "ended because", align: "left" },
    ],
    runs.map(({ topics, measure }) => [
      topics.join(", "),
      formatCount(measure.records),
      formatCount(measure.events),
      formatCount(measure.errorRecords),
      (measure.elapsedMs / 1e3).toFixed(2),
      formatCount(perSecond(measure.records, measure.elapsedMs)),
      formatMegabytesPerSecond(perSecond(measure.bytes, measure.elapsedMs)),
      outcomeText(measure.outcome, settings),
    ]),
  );
}

function outcomeText(outcome: ReadingOutcome, { mode, maxRecords, maxDurationMs }: RunSettings): string {
  switch (outcome) {
    case "end-reached":
      return mode === "drain" ? "the topic's end was reached" : "there was no more to read";
    case "limit-reached":
      return `--limit ${formatCount(maxRecords ?? 0)} was reached`;
    case "time-up":
      return `--duration ${formatDuration((maxDurationMs ?? 0) * 1e6)} was over`;
    case "ran-dry":
      return "nothing came for 10 s, in front of the end";
    case "interrupted":
      return "it was interrupted";
  }
}

function formatsTable(runs: readonly TopicRun[]): string {
  const formats = runs.flatMap(({ measure }) => measure.formats);
  if (formats.length === 0) {
    return "No record was decoded, so there is no format to tell of.\n";
  }
  return textTable(
    [
      { title: "topic", align: "left" },
      { title: "format (framing + encoding + envelope)", align: "left" },
      { title: "records" },
      { title: "size avg" },
      { title: "median" },
      { title: "p99" },
      { title: "decode p50" },
      { title: "p95" },
      { title: "p99" },
    ],
    formats.map(({ topic, format, records, sizes, decode }) => [
      topic,
      formatLabel(format),
      formatCount(records),
      formatCount(sizes.avgBytes),
      formatCount(sizes.medianBytes),
      formatCount(sizes.p99Bytes),
      formatDuration(decode.p50Ns),
      formatDuration(decode.p95Ns),
      formatDuration(decode.p99Ns),
    ]),
  );
}

function stagesTable(runs: readonly TopicRun[]): string {
  const cell = (stageMs: number, measure: ReadingMeasure): string =>
    `${(stageMs / 1e3).toFixed(2)} s ${measure.elapsedMs === 0 ? "" : `${Math.round((stageMs / measure.elapsedMs) * 100)}%`.padStart(4)}`;
  const row = ({ topics, measure }: TopicRun): readonly string[] => {
    const { joinMs, fetchMs, schemaMs, decodeMs, handleMs }: StageMeasure = measure.stages;
    return [
      topics.join(", "),
      `${(joinMs / 1e3).toFixed(2)} s`,
      ...[fetchMs, schemaMs, decodeMs, handleMs].map((stageMs) => cell(stageMs, measure)),
    ];
  };
  return textTable(
    [
      { title: "topic", align: "left" },
      { title: "(join)" },
      { title: "fetch" },
      { title: "schemas" },
      { title: "decode" },
      { title: "handle" },
    ],
    runs.map(row),
  );
}

function latencyTable({ sinceRecord, sinceSource, connector, clockSkewEvents }: LatencySummary): string {
  const rows = [
    ["since the record's timestamp", sinceRecord] as const,
    ["since the commit in the source", sinceSource] as const,
    ["of it, inside the connector", connector] as const,
  ];
  const table = textTable(
    [{ title: "latency", align: "left" }, { title: "events" }, { title: "p50" }, { title: "p95" }, { title: "p99" }],
    rows.map(([name, age]) => [name, formatCount(age.count), ...percentilesText(age)]),
  );
  return clockSkewEvents === 0 ? table : `${table}${formatCount(clockSkewEvents)} ages were negative: the clocks of the machines differ.\n`;
}

function percentilesText({ count, p50Ns, p95Ns, p99Ns }: DurationSummary): readonly string[] {
  return [p50Ns, p95Ns, p99Ns].map((durationNs) => (count === 0 ? "-" : formatDuration(durationNs)));
}

function errorLines(errors: readonly DecodeErrorCount[]): string {
  return errors
    .map(
      ({ topic, code, records, example }) => `\n${topic}: ${formatCount(records)} records could not be decoded (${code})\n  ${example}\n`,
    )
    .join("");
}

function notesOf({ settings }: RunReport): readonly string[] {
  const notes = [
    "Size is key + value without headers; MB is 10^6 bytes. Decode: a record with operation, table, key and both rows read, every 8th record.",
  ];
  if (settings.mode === "drain") {
    notes.push("Topics one after the other, in a group of our own that never commits; latency is not measured on a backlog (--tail does).");
  }
  return notes;
}

function perSecond(amount: number, elapsedMs: number): number {
  return elapsedMs === 0 ? 0 : (amount / elapsedMs) * 1e3;
}
