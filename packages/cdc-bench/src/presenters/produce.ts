import { formatCount, formatDuration, formatMegabytesPerSecond } from "../report/quantities.ts";
import type { BenchResult } from "../result/bench-result.ts";
import type { ProduceResult } from "../scenario/produce/produce-result.ts";
import type { DelaySummary } from "../scenario/produce/lateness.ts";
import type { Block, Cell, FigureCell, ReportDocument, Table } from "../presentation/document.ts";
import { footOf } from "./foot.ts";

const nsPerMs = 1e6;

export function presentProduce(result: BenchResult): ReportDocument {
  const { topics, recordsPerSecond, elapsedMs, aborted, settings } = result as ProduceResult;
  const wanted = settings["recordsPerSecond"];
  const rate = typeof wanted === "number" ? `, ${formatCount(wanted)} records/s wanted in each` : "";
  return {
    title: "produce",
    subtitle: `${topics.length === 1 ? "1 topic" : `${topics.length} topics`}, ${formatCount(recordsPerSecond)} records/s together for ${formatDuration(elapsedMs * nsPerMs)}${rate}`,
    isPartial: aborted,
    sections: [
      {
        title: (result as ProduceResult).ack === null ? "Sent" : "Written",
        blocks: [ratesTable(result as ProduceResult), sizesTable(result as ProduceResult)],
      },
      { title: "Delays", blocks: delayBlocks(result as ProduceResult) },
      ...footOf(result),
    ],
  };
}

function ratesTable({ topics, elapsedMs }: ProduceResult): Table {
  return {
    kind: "table",
    columns: [{ title: "topic", align: "left" }, { title: "records" }, { title: "msg/s" }, { title: "MB/s" }],
    rows: topics.map(({ topic, records, payloadBytes, recordsPerSecond }) => [
      topic,
      count(records),
      count(recordsPerSecond),
      megabytes((payloadBytes / elapsedMs) * 1e3),
    ]),
  };
}

function sizesTable({ topics }: ProduceResult): Table {
  return {
    kind: "table",
    columns: [
      { title: "format", align: "left" },
      { title: "compression", align: "left" },
      { title: "B/msg" },
      { title: "wire B/msg" },
      { title: "batches" },
      { title: "records/batch" },
    ],
    rows: topics.map(({ format, compression, records, payloadBytes, wireBytes, batches }) => [
      format,
      compression,
      count(records === 0 ? 0 : payloadBytes / records),
      count(records === 0 ? 0 : wireBytes / records),
      count(batches),
      count(batches === 0 ? 0 : records / batches),
    ]),
  };
}

function delayBlocks({ lateness, dueToAck, ack }: ProduceResult): readonly Block[] {
  const rows: readonly (readonly [string, DelaySummary | null])[] = [
    ["due to sent (lateness)", lateness],
    ["due to acknowledged", dueToAck],
    ["request to acknowledged", ack],
  ];
  const known = rows.flatMap(([name, delays]) => (delays === null || delays.count === 0 ? [] : [{ name, delays }]));
  const table: Table = {
    kind: "table",
    columns: [
      { title: "delay", align: "left" },
      { title: "p50" },
      { title: "p90" },
      { title: "p99" },
      { title: "p99.9" },
      { title: "max" },
    ],
    rows: known.map(({ name, delays: { p50Ms, p90Ms, p99Ms, p999Ms, maxMs } }): readonly Cell[] => [
      name,
      ...[p50Ms, p90Ms, p99Ms, p999Ms, maxMs].map(duration),
    ]),
  };
  return [
    table,
    {
      kind: "lines",
      title: "delay by percentile",
      x: { title: "percentile", scale: "percentile", unit: "percent" },
      y: { title: "delay", unit: "ms" },
      series: known.map(({ name, delays }) => ({ label: name, points: delays.curve })),
    },
  ];
}

function count(value: number): FigureCell {
  return { text: formatCount(value), value };
}

function megabytes(bytesPerSecond: number): FigureCell {
  return { text: formatMegabytesPerSecond(bytesPerSecond), value: bytesPerSecond };
}

function duration(ms: number): FigureCell {
  return { text: formatDuration(ms * nsPerMs), value: ms * nsPerMs };
}
