import type { FormatComparison } from "../demo/compare-formats.ts";
import type { DetectedTopic } from "../demo/detect-bundled.ts";
import { formatLabel } from "../report/format-label.ts";
import { formatBytes, formatCount, formatDuration, formatMegabytesPerSecond, formatRatio } from "../report/quantities.ts";
import type { BenchResult } from "../result/bench-result.ts";
import type { DemoResult } from "../demo/demo-result.ts";
import type { BarChart, Block, ReportDocument, Section, Table, Winner, Winners } from "../presentation/document.ts";
import { footOf } from "./foot.ts";

export function presentDemo(result: BenchResult): ReportDocument {
  const { detected, compared, conclusion } = result as DemoResult; // listed for `demo` alone, and `report` holds files to the published schema
  return {
    title: "demo",
    subtitle: "recorded messages of every format, no broker",
    isPartial: result.aborted,
    sections: [
      { title: "What the recorded messages are (framing + encoding + envelope)", blocks: detectionBlocks(detected) },
      ...(compared.length === 0 ? [] : comparisonSections(compared, conclusion)),
      ...footOf(result),
    ],
  };
}

function detectionBlocks(detected: readonly DetectedTopic[]): readonly Block[] {
  const errors = detected.flatMap(({ topic, error }) => (error === null ? [] : [`${topic}, ${error.records} records: ${error.message}`]));
  const table: Table = {
    kind: "table",
    columns: [
      { title: "topic", align: "left" },
      { title: "records" },
      { title: "format", align: "left" },
      { title: "events", align: "left" },
    ],
    rows: detected.map(({ topic, records, formats, kinds, error }) => [
      topic,
      { text: formatCount(records), value: records },
      [...(error === null ? [] : [`error: ${error.code}`]), ...formats.map(formatLabel).filter((label) => label !== "tombstone")].join(
        "; ",
      ),
      Object.entries(kinds)
        .map(([kind, count]) => `${count} ${kind}`)
        .join(", "),
    ]),
  };
  return errors.length === 0 ? [table] : [table, { kind: "list", items: errors }];
}

function comparisonSections(compared: readonly FormatComparison[], conclusion: string): readonly Section[] {
  const sentences = conclusion.split("\n").filter((sentence) => sentence !== "");
  return [
    {
      title: "The same 2,000 rows in three formats, through memory driver, consumer, decoder and handler",
      blocks: [pipelineTable(compared), rateBars(compared), sizeBars(compared)],
    },
    { title: "Decoding alone, beside what people decode with today, in the same run", blocks: [peerTable(compared), ratioBars(compared)] },
    { title: "Winners", blocks: [winners(compared)] },
    ...(sentences.length === 0 ? [] : [{ title: "Conclusion", blocks: [{ kind: "list", items: sentences } as const] }]),
  ];
}

function pipelineTable(compared: readonly FormatComparison[]): Table {
  return {
    kind: "table",
    columns: [
      { title: "format", align: "left" },
      { title: "msg/s" },
      { title: "MB/s" },
      { title: "size avg" },
      { title: "median" },
      { title: "p99" },
      { title: "to Avro" },
      { title: "decode p50" },
      { title: "p99" },
    ],
    rows: compared.map(({ title, pipeline, megabytesPerSecond, sizes, sizeToAvro, decode }) => [
      title,
      { text: formatCount(pipeline.median), value: pipeline.median },
      { text: formatMegabytesPerSecond(megabytesPerSecond * 1e6), value: megabytesPerSecond },
      ...[sizes.avgBytes, sizes.medianBytes, sizes.p99Bytes].map((bytes) => ({ text: formatCount(bytes), value: bytes })),
      { text: formatRatio(sizeToAvro), value: sizeToAvro },
      ...[decode.p50Ns, decode.p99Ns].map((ns) => ({ text: formatDuration(ns), value: ns })),
    ]),
  };
}

function rateBars(compared: readonly FormatComparison[]): BarChart {
  const best = Math.max(...compared.map(({ pipeline }) => pipeline.median));
  return {
    kind: "bars",
    title: "Messages a second",
    bars: compared.map(({ title, pipeline: { median, min, max } }) => ({
      label: title,
      value: median,
      text: `${formatCount(median)} msg/s`,
      spread: [min, max],
      ...(median === best && { mark: "best" as const }),
    })),
  };
}

function sizeBars(compared: readonly FormatComparison[]): BarChart {
  const best = Math.min(...compared.map(({ sizes }) => sizes.avgBytes));
  return {
    kind: "bars",
    title: "Size of a message",
    bars: compared.map(({ title, sizes: { avgBytes } }) => ({
      label: title,
      value: avgBytes,
      text: formatBytes(avgBytes),
      ...(avgBytes === best && { mark: "best" as const }),
    })),
  };
}

function peerTable(compared: readonly FormatComparison[]): Table {
  return {
    kind: "table",
    columns: [
      { title: "format", align: "left" },
      { title: "cdckit msg/s" },
      { title: "peer msg/s" },
      { title: "ratio" },
      { title: "lowest" },
      { title: "highest" },
      { title: "peer", align: "left" },
    ],
    rows: compared.map(({ title, decodeRate, peer, ratio }) => [
      title,
      ...[decodeRate.median, peer.rate.median].map((rate) => ({ text: formatCount(rate), value: rate })),
      ...[ratio.median, ratio.min, ratio.max].map((each) => ({ text: formatRatio(each), value: each })),
      peer.name,
    ]),
  };
}

function ratioBars(compared: readonly FormatComparison[]): BarChart {
  return {
    kind: "bars",
    title: "Speed of cdckit against the peer",
    bars: compared.map(({ title, ratio: { median, min, max }, peer }) => ({
      label: `${title} against ${peer.name}`,
      value: median,
      text: formatRatio(median),
      spread: [min, max],
    })),
  };
}

function winners(compared: readonly FormatComparison[]): Winners {
  return {
    kind: "winners",
    rows: [
      ...winner("storage", compared, ({ sizes }) => sizes.avgBytes, formatBytes, "smaller is better"),
      ...winner(
        "throughput",
        compared,
        ({ pipeline }) => pipeline.median,
        (rate) => `${formatCount(rate)} msg/s`,
        "larger is better",
      ),
      ...winner("decode time (p50)", compared, ({ decode }) => decode.p50Ns, formatDuration, "smaller is better"),
    ],
  };
}

function winner(
  dimension: string,
  compared: readonly FormatComparison[],
  figureOf: (format: FormatComparison) => number,
  show: (figure: number) => string,
  better: "smaller is better" | "larger is better",
): readonly Winner[] {
  const sign = better === "smaller is better" ? 1 : -1;
  const [best, next] = compared.toSorted((a, b) => sign * (figureOf(a) - figureOf(b)));
  if (best === undefined) {
    return [];
  }
  const against =
    next === undefined
      ? {}
      : { against: `${next.title} has ${show(figureOf(next))}, ${formatRatio(figureOf(next) / figureOf(best))} of it` };
  return [{ dimension, winner: best.title, figure: show(figureOf(best)), ...against }];
}
