import type { DurationSummary } from "../measure/duration-histogram.ts";
import type { LatencySummary } from "../measure/latency-meter.ts";
import type { ReadingOutcome } from "../measure/reading.ts";
import { formatLabel } from "../report/format-label.ts";
import { formatCount, formatDuration, formatMegabytesPerSecond } from "../report/quantities.ts";
import type { BenchResult } from "../result/bench-result.ts";
import type { RunResult, RunSettings, TopicResult } from "../result/run-result.ts";
import type { Bar, Block, Cell, ReportDocument, Section, StackPart, Table } from "../presentation/document.ts";
import { footOf } from "./foot.ts";
import { groupSections } from "./run-group.ts";

export function presentRun(result: BenchResult): ReportDocument {
  const run = result as RunResult; // listed for `run` alone, and `report` holds files to the published schema
  const { settings, runs, group } = run;
  if (group !== undefined) {
    return {
      title: "run",
      subtitle: `${settings.topics.length === 1 ? "1 topic" : `${settings.topics.length} topics`} of ${settings.source}, by ${group.processes.length} processes as one group`,
      isPartial: result.aborted,
      sections: [...groupSections(group), ...footOf(result)],
    };
  }
  const live = runs.flatMap(({ latency }) => (latency === null ? [] : [latencySection(latency)]));
  return {
    title: "run",
    subtitle: `${settings.topics.length === 1 ? "1 topic" : `${settings.topics.length} topics`} of ${settings.source}, ${settings.mode === "drain" ? "one after the other" : "live, all together"}`,
    isPartial: result.aborted,
    sections: [
      { title: "Rates", blocks: [ratesTable(run), ...rateBars(runs)] },
      { title: "Sizes and decode times by format (framing + encoding + envelope)", blocks: [formatsBlock(runs)] },
      { title: "Where the time went", blocks: [stages(runs)] },
      ...live,
      ...errorSections(runs),
      ...footOf(result),
    ],
  };
}

function ratesTable({ runs, settings }: RunResult): Table {
  return {
    kind: "table",
    columns: [
      { title: "topic", align: "left" },
      { title: "records" },
      { title: "events" },
      { title: "errors" },
      { title: "seconds" },
      { title: "msg/s" },
      { title: "MB/s" },
      { title: "join" },
      { title: "ended because", align: "left" },
    ],
    rows: runs.map((each) => [
      each.topics.join(", "),
      { text: formatCount(each.records), value: each.records },
      { text: formatCount(each.events), value: each.events },
      { text: formatCount(each.errorRecords), value: each.errorRecords, ...(each.errorRecords > 0 && { mark: "warning" as const }) },
      { text: (each.elapsedMs / 1e3).toFixed(2), value: each.elapsedMs / 1e3 },
      { text: formatCount(each.recordsPerSecond), value: each.recordsPerSecond },
      { text: formatMegabytesPerSecond(each.megabytesPerSecond * 1e6), value: each.megabytesPerSecond },
      { text: seconds(each.stages.joinMs), value: each.stages.joinMs / 1e3 },
      outcomeText(each.outcome, settings),
    ]),
  };
}

/** One bar alone compares nothing. */
function rateBars(runs: readonly TopicResult[]): readonly Block[] {
  const bars = runs.map(
    ({ topics, recordsPerSecond }): Bar => ({
      label: topics.join(", "),
      value: recordsPerSecond,
      text: `${formatCount(recordsPerSecond)} msg/s`,
    }),
  );
  return bars.length < 2 ? [] : [{ kind: "bars", title: "Messages a second", bars }];
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
      return "nothing came for 10 s, and the end was not reached";
    case "interrupted":
      return "it was interrupted";
  }
}

function formatsBlock(runs: readonly TopicResult[]): Block {
  const formats = runs.flatMap((run) => run.formats);
  if (formats.length === 0) {
    return { kind: "paragraph", text: "No record was decoded, so there is no format to tell of." };
  }
  return {
    kind: "table",
    columns: [
      { title: "topic", align: "left" },
      { title: "format", align: "left" },
      { title: "records" },
      { title: "size avg" },
      { title: "median" },
      { title: "p99" },
      { title: "decode p50" },
      { title: "p95" },
      { title: "p99" },
    ],
    rows: formats.map(({ topic, format, records, sizes, decode }) => [
      topic,
      formatLabel(format),
      { text: formatCount(records), value: records },
      ...[sizes.avgBytes, sizes.medianBytes, sizes.p99Bytes].map((bytes) => ({ text: formatCount(bytes), value: bytes })),
      ...percentileCells(decode),
    ]),
  };
}

function percentileCells({ count, p50Ns, p95Ns, p99Ns }: DurationSummary): readonly Cell[] {
  return [p50Ns, p95Ns, p99Ns].map((ns) => (count === 0 ? { text: "-", value: null } : { text: formatDuration(ns), value: ns }));
}

function stages(runs: readonly TopicResult[]): Block {
  const part = (label: string, ms: number): StackPart => ({ label, value: ms, text: seconds(ms) });
  return {
    kind: "stack",
    title: "Time by stage",
    rows: runs.map(({ topics, stages: { fetchMs, decompressMs, schemaMs, decodeMs, validateMs, handleMs } }) => ({
      label: topics.join(", "),
      parts: [
        part("fetch", fetchMs),
        ...(decompressMs > 0 ? [part("decompress", decompressMs)] : []),
        part("schemas", schemaMs),
        part("decode", decodeMs),
        ...(validateMs > 0 ? [part("validate", validateMs)] : []),
        part("handle", handleMs),
      ],
    })),
  };
}

function latencySection({ sinceRecord, sinceSource, connector, clockSkewEvents, eventsWithoutTimestamp = 0 }: LatencySummary): Section {
  const kinds = [
    ["since the record's timestamp", sinceRecord],
    ["since the commit in the source", sinceSource],
    ["of it, inside the connector", connector],
  ] as const;
  const measured = kinds.filter(([, { count }]) => count > 0);
  const blocks: Block[] = [
    {
      kind: "table",
      columns: [{ title: "latency", align: "left" }, { title: "events" }, { title: "p50" }, { title: "p95" }, { title: "p99" }],
      rows: kinds.map(([name, age]) => [name, { text: formatCount(age.count), value: age.count }, ...percentileCells(age)]),
    },
  ];
  if (measured.length > 0) {
    blocks.push({
      kind: "lines",
      title: "Latency by percentile",
      x: { title: "percentile", scale: "percentile", unit: "percent" },
      y: { title: "latency", unit: "ns" },
      series: measured.map(([label, age]) => ({ label, points: percentilePoints(age) })),
    });
  }
  if (clockSkewEvents > 0) {
    blocks.push({
      kind: "paragraph",
      text: `${formatCount(clockSkewEvents)} events have a negative age: the clocks of the machines differ.`,
    });
  }
  if (eventsWithoutTimestamp > 0) {
    blocks.push({
      kind: "paragraph",
      text: `${formatCount(eventsWithoutTimestamp)} events have a record without a timestamp (-1 or 0): they are left out of the ages since then.`,
    });
  }
  return { title: "Latency", blocks };
}

/** What so many events know of the curve: the maximum stands where the last of them is. */
function percentilePoints({ count, p50Ns, p95Ns, p99Ns, maxNs }: DurationSummary): readonly (readonly [number, number])[] {
  const last = 100 * (1 - 1 / count);
  const known = [
    [50, p50Ns],
    [95, p95Ns],
    [99, p99Ns],
  ] as const;
  return [...known.filter(([percentile]) => percentile < last), [Math.max(last, 0), maxNs]];
}

function errorSections(runs: readonly TopicResult[]): readonly Section[] {
  const items = runs
    .flatMap(({ errors }) => errors)
    .map(({ topic, code, records, example }) => `${topic}: ${formatCount(records)} records could not be decoded (${code}): ${example}`);
  return items.length === 0 ? [] : [{ title: "Errors", blocks: [{ kind: "list", items }] }];
}

function seconds(ms: number): string {
  return `${(ms / 1e3).toFixed(2)} s`;
}
