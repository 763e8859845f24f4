import { comparisonRounds, type FormatComparison } from "../demo/compare-formats.ts";
import type { DetectedTopic } from "../demo/detect-bundled.ts";
import { type Environment, environmentLine } from "./environment.ts";
import { formatLabel } from "./format-label.ts";
import { formatCount, formatDuration, formatMegabytesPerSecond, formatRatio } from "./quantities.ts";
import { textTable } from "./text-table.ts";
import { percentileMetrics, sizeMetrics } from "../verdict/metrics-of.ts";
import type { Metric } from "../verdict/metric.ts";
import { type Verdict, verdictText } from "../verdict/verdict.ts";

export interface DemoReport {
  readonly aborted: boolean;
  readonly environment: Environment;
  readonly detected: readonly DetectedTopic[];
  readonly compared: readonly FormatComparison[];
  readonly verdict: Verdict;
}

/** The figures that thresholds and baselines can be about. */
export function demoMetrics(compared: readonly FormatComparison[]): readonly Metric[] {
  return compared.flatMap(({ title: scope, pipeline, megabytesPerSecond, ratio, sizes, decode }) => [
    { name: "rate", scope, value: pipeline.median },
    { name: "throughput", scope, value: megabytesPerSecond * 1e6 },
    { name: "ratio", scope, value: ratio.median },
    ...sizeMetrics(scope, sizes),
    ...percentileMetrics("decode", scope, decode),
  ]);
}

/** The fields of `demo --json`. */
export function demoJson({ aborted, environment, detected, compared, verdict }: DemoReport): Readonly<Record<string, unknown>> {
  const measured = { environment, rounds: comparisonRounds, detected, compared, conclusion: conclusionOf(compared) };
  return { schemaVersion: 1, command: "demo", aborted, ...measured, ...verdict };
}

export function demoText(report: DemoReport): string {
  const { aborted, environment, detected, compared } = report;
  const parts = [
    aborted ? "ABORTED: what follows is not all of it.\n\n" : "",
    "What the recorded messages are (framing + encoding + envelope)\n\n",
  ];
  parts.push(detectionTable(detected), "\n");
  if (compared.length > 0) {
    parts.push(
      "The same 2,000 rows in three formats, through memory driver, consumer, decoder and handler\n\n",
      pipelineTable(compared),
      "\n",
    );
    parts.push(
      "Decoding alone, beside what people decode with today, in the same run\n\n",
      peerTable(compared),
      "\n",
      `${conclusionOf(compared)}\n\n`,
    );
  }
  const verdict = verdictText(report.verdict);
  parts.push(verdict === "" ? "" : `${verdict}\n`);
  parts.push(
    `Medians of ${comparisonRounds} rounds in alternation after one that is not counted. Size is key + value; MB is 10^6 bytes.\n`,
  );
  parts.push("Both sides read key and value; ours reads operation, table, key and every column of both rows.\n");
  parts.push(`${environmentLine(environment)}\n`);
  return parts.join("");
}

function detectionTable(detected: readonly DetectedTopic[]): string {
  const table = textTable(
    [{ title: "topic", align: "left" }, { title: "records" }, { title: "format", align: "left" }, { title: "events", align: "left" }],
    detected.map(({ topic, records, formats, kinds, error }) => [
      topic,
      formatCount(records),
      [...(error === null ? [] : [`error: ${error.code}`]), ...formats.map(formatLabel).filter((label) => label !== "tombstone")].join(
        "; ",
      ),
      Object.entries(kinds)
        .map(([kind, count]) => `${count} ${kind}`)
        .join(", "),
    ]),
  );
  const errors = detected.flatMap(({ topic, error }) => (error === null ? [] : [`${topic}, ${error.records} records: ${error.message}\n`]));
  return errors.length === 0 ? table : `${table}\n${errors.join("")}`;
}

function pipelineTable(compared: readonly FormatComparison[]): string {
  return textTable(
    [
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
    compared.map(({ title, pipeline, megabytesPerSecond, sizes, sizeToAvro, decode }) => [
      title,
      formatCount(pipeline.median),
      formatMegabytesPerSecond(megabytesPerSecond * 1e6),
      formatCount(sizes.avgBytes),
      formatCount(sizes.medianBytes),
      formatCount(sizes.p99Bytes),
      formatRatio(sizeToAvro),
      formatDuration(decode.p50Ns),
      formatDuration(decode.p99Ns),
    ]),
  );
}

function peerTable(compared: readonly FormatComparison[]): string {
  return textTable(
    [
      { title: "format", align: "left" },
      { title: "cdckit msg/s" },
      { title: "peer msg/s" },
      { title: "ratio" },
      { title: "lowest" },
      { title: "highest" },
      { title: "peer", align: "left" },
    ],
    compared.map(({ title, decodeRate, peer, ratio }) => [
      title,
      formatCount(decodeRate.median),
      formatCount(peer.rate.median),
      formatRatio(ratio.median),
      formatRatio(ratio.min),
      formatRatio(ratio.max),
      peer.name,
    ]),
  );
}

/** One sentence on what the format costs, one on what the decoder saves. */
export function conclusionOf(compared: readonly FormatComparison[]): string {
  const avro = compared.find(({ title }) => title.endsWith("Avro"));
  const others = compared.filter((format) => format !== avro);
  if (avro === undefined || others.length === 0) {
    return "";
  }
  const against = others.map(({ title, sizes, pipeline }) => {
    const space = formatRatio(sizes.avgBytes / avro.sizes.avgBytes);
    return `${space} smaller than ${title} and consumed ${timesAs(avro.pipeline.median / pipeline.median)}`;
  });
  const speeds = compared.map(({ title, ratio, peer }) => `${title} ${formatRatio(ratio.median)} as fast as ${peer.name}`);
  return `${avro.title} is ${against.join(", ")}.\ncdckit decodes ${speeds.join(", ")}.`;
}

function timesAs(ratio: number): string {
  return ratio >= 1 ? `${formatRatio(ratio)} faster` : `${formatRatio(1 / ratio)} slower`;
}
