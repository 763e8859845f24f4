import type { DurationSummary } from "../../measure/duration-histogram.ts";
import { medianOf } from "../../measure/rounds.ts";
import type { StageMeasure } from "../../measure/reading.ts";
import type { SizeSummary } from "../../measure/size-tally.ts";
import type { Metric } from "../../verdict/metric.ts";
import { percentileMetrics } from "../../verdict/metrics-of.ts";
import { type ConverterChoice, formatLabels } from "./formats.ts";
import type { FormatMeasured } from "./measure-format.ts";
import type { FormatSnapshot, ProcessMeasure, RoundMeasure } from "./result.ts";

/** One measurement with its place in the run. */
export interface PlacedMeasure {
  readonly round: number;
  /** In the order of its round, from 1. */
  readonly position: number;
  readonly converter: ConverterChoice;
  readonly measured: FormatMeasured;
}

/** The formats in their own order; one of which nothing was completed is left out. */
export function summarizeFormats(choices: readonly ConverterChoice[], placed: readonly PlacedMeasure[]): readonly FormatSnapshot[] {
  const formats = choices.flatMap((choice) => {
    const own = placed.filter(({ converter }) => converter.format === choice.format);
    return own.length === 0 ? [] : [summarize(choice, own)];
  });
  const avro = formats.find(({ format }) => format === "avro");
  return avro === undefined ? formats : formats.map((format) => ({ ...format, timesAvro: format.totalBytes / avro.totalBytes }));
}

/** Medians of times; what is the same in every round is taken from the first one. */
function summarize({ format, settings, needsRegistry }: ConverterChoice, placed: readonly PlacedMeasure[]): FormatSnapshot {
  const all = placed.map(({ measured }) => measured);
  const [first] = all as [FormatMeasured, ...FormatMeasured[]];
  const median = (of: (measured: FormatMeasured) => number): number => medianOf(all.map(of));
  const totalMs = median(totalOf);
  const connectorRates = all.map(({ messages, connectorWriteMs }) => perSecond(messages, connectorWriteMs));
  const consumerRates = all.map(({ messages, reading }) => perSecond(messages, reading.elapsedMs));
  const { totalBytes, ...sizes } = sizesOf(first);
  return {
    format,
    label: formatLabels[format],
    messages: first.messages,
    totalMs,
    messagesPerSecond: perSecond(first.messages, totalMs),
    megabytesPerSecond: perSecond(totalBytes, totalMs) / 1e6,
    totalBytes,
    sizes,
    timesAvro: null,
    connector: {
      startMs: median(({ connectorStartMs }) => connectorStartMs),
      writeMs: median(({ connectorWriteMs }) => connectorWriteMs),
      messagesPerSecond: medianOf(connectorRates),
      minMessagesPerSecond: Math.min(...connectorRates),
      maxMessagesPerSecond: Math.max(...connectorRates),
    },
    consumer: {
      elapsedMs: median(({ reading }) => reading.elapsedMs),
      messagesPerSecond: medianOf(consumerRates),
      minMessagesPerSecond: Math.min(...consumerRates),
      maxMessagesPerSecond: Math.max(...consumerRates),
      megabytesPerSecond: (medianOf(consumerRates) * sizes.avgBytes) / 1e6,
      stages: medianStages(all.map(({ reading }) => reading.stages)),
      decode: medianDurations(all.flatMap(({ reading }) => largestFormat(reading.formats)?.decode ?? [])),
      cpuMs: median(({ readingCpuMs }) => readingCpuMs),
    },
    backlogAge: medianDurations(all.map(({ backlogAge }) => backlogAge)),
    tail: tailOf(all),
    storedBytes: first.storedBytes,
    compression: all.find(({ compression }) => compression !== null)?.compression ?? null,
    processes: medianProcesses(all.map(({ processes }) => processes)),
    converterSettings: Object.keys(settings).length,
    needsRegistry,
    ...first.sample,
    errorRecords: Math.max(...all.map(({ reading }) => reading.errorRecords)),
    rounds: placed.map(roundOf),
  };
}

/** Deployment, snapshot and consumption, one after the other. */
function totalOf({ snapshotMs, reading }: FormatMeasured): number {
  return snapshotMs + reading.stages.joinMs + reading.elapsedMs;
}

function roundOf({ round, position, measured }: PlacedMeasure): RoundMeasure {
  const { messages, connectorStartMs, connectorWriteMs, reading } = measured;
  return {
    round,
    position,
    messages,
    totalMs: totalOf(measured),
    connectorStartMs,
    connectorWriteMs,
    consumerMs: reading.elapsedMs,
    consumerBytes: reading.bytes,
  };
}

/** A connector's topic has messages of one format; tombstones beside them are few. */
function largestFormat(formats: FormatMeasured["reading"]["formats"]): FormatMeasured["reading"]["formats"][number] | undefined {
  return formats.toSorted((a, b) => b.records - a.records)[0];
}

function sizesOf({ reading }: FormatMeasured): Omit<SizeSummary, "count"> {
  const largest = largestFormat(reading.formats);
  const { count: _, ...sizes } = largest?.sizes ?? { count: 0, totalBytes: 0, avgBytes: 0, medianBytes: 0, p99Bytes: 0, maxBytes: 0 };
  return { ...sizes, totalBytes: reading.bytes };
}

function medianStages(stages: readonly StageMeasure[]): StageMeasure {
  const median = (of: (stage: StageMeasure) => number): number => medianOf(stages.map(of));
  return {
    joinMs: median(({ joinMs }) => joinMs),
    fetchMs: median(({ fetchMs }) => fetchMs),
    decompressMs: median(({ decompressMs }) => decompressMs),
    schemaMs: median(({ schemaMs }) => schemaMs),
    decodeMs: median(({ decodeMs }) => decodeMs),
    validateMs: median(({ validateMs }) => validateMs),
    handleMs: median(({ handleMs }) => handleMs),
    commitMs: median(({ commitMs }) => commitMs),
  };
}

function medianDurations(durations: readonly DurationSummary[]): DurationSummary {
  const median = (of: (duration: DurationSummary) => number): number => (durations.length === 0 ? 0 : medianOf(durations.map(of)));
  return {
    count: durations.reduce((sum, { count }) => sum + count, 0),
    meanNs: median(({ meanNs }) => meanNs),
    p50Ns: median(({ p50Ns }) => p50Ns),
    p95Ns: median(({ p95Ns }) => p95Ns),
    p99Ns: median(({ p99Ns }) => p99Ns),
    maxNs: Math.max(0, ...durations.map(({ maxNs }) => maxNs)),
  };
}

function tailOf(all: readonly FormatMeasured[]): FormatSnapshot["tail"] {
  const tails = all.flatMap(({ tail }) => tail ?? []);
  const [first] = tails;
  if (first === undefined) {
    return null;
  }
  return {
    rows: tails.reduce((sum, { rows }) => sum + rows, 0),
    rowsPerSecond: first.rowsPerSecond,
    sinceIntended: medianDurations(tails.map(({ sinceIntended }) => sinceIntended)),
    sinceRecord: medianDurations(tails.map(({ sinceRecord }) => sinceRecord)),
    missingRows: tails.reduce((sum, { missingRows }) => sum + missingRows, 0),
  };
}

function medianProcesses(rounds: readonly (readonly ProcessMeasure[])[]): readonly ProcessMeasure[] {
  const [first = []] = rounds;
  return first.map((process) => {
    const same = rounds.flatMap((round) => round.filter(({ service }) => service === process.service));
    const written = same.flatMap(({ writtenBytes }) => writtenBytes ?? []);
    return {
      ...process,
      snapshotCpuMs: medianOf(same.map(({ snapshotCpuMs }) => snapshotCpuMs)),
      drainCpuMs: medianOf(same.map(({ drainCpuMs }) => drainCpuMs)),
      writtenBytes: written.length === 0 ? null : medianOf(written),
    };
  });
}

/** The figures that thresholds and baselines can be about: of the consumer, as in `run`. */
export function snapshotMetrics(formats: readonly FormatSnapshot[]): readonly Metric[] {
  return formats.flatMap(({ format, consumer, sizes, tail, errorRecords }) => {
    const scope = `snapshot ${format}`;
    return [
      { name: "rate", scope, value: consumer.messagesPerSecond },
      { name: "throughput", scope, value: consumer.megabytesPerSecond * 1e6 },
      { name: "size.avg", scope, value: sizes.avgBytes },
      { name: "size.median", scope, value: sizes.medianBytes },
      { name: "size.p99", scope, value: sizes.p99Bytes },
      { name: "errors", scope, value: errorRecords },
      ...percentileMetrics("decode", scope, consumer.decode),
      ...(tail === null ? [] : percentileMetrics("latency", scope, tail.sinceIntended)),
    ] satisfies readonly Metric[];
  });
}

export function perSecond(amount: number, elapsedMs: number): number {
  return elapsedMs <= 0 ? 0 : (amount / elapsedMs) * 1e3;
}
