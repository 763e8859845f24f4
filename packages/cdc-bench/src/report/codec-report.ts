import { processingMs, transportMs, turnOver } from "../codec/link.ts";
import type { CodecMeasure, DirectionMeasure } from "../codec/measure-codecs.ts";
import type { Metric } from "../verdict/metric.ts";
import { type Verdict, verdictText } from "../verdict/verdict.ts";
import { type Environment, environmentLine } from "./environment.ts";
import { formatCount, formatDuration, formatLinkRate, formatRatio } from "./quantities.ts";
import { type TableColumn, textTable } from "./text-table.ts";

/** Whether the rows were written together or one after the other. */
export type CodecMode = "list" | "objects";

/** The codecs of one data set in one mode. The first codec is plain JSON, which the others are compared with. */
export interface CodecSuite {
  readonly suite: string;
  readonly title: string;
  readonly mode: CodecMode;
  readonly rows: number;
  readonly codecs: readonly CodecMeasure[];
}

export interface CodecReport {
  readonly aborted: boolean;
  readonly environment: Environment;
  readonly seed: number;
  readonly rounds: number;
  /** Bits a second; null if none was asked for. */
  readonly link: number | null;
  readonly suites: readonly CodecSuite[];
  /** What was left out, and why. */
  readonly notes: readonly string[];
  readonly verdict: Verdict;
}

/** The figures that thresholds and baselines can be about: nanoseconds and bytes for each row. */
export function codecMetrics(suites: readonly CodecSuite[]): readonly Metric[] {
  return suites.flatMap(({ suite, mode, rows, codecs }) =>
    codecs.flatMap(({ codec, sizeBytes, write, read }) => {
      const scope = `${suite}, ${mode}, ${codec}`;
      return [
        ...(write === null ? [] : [{ name: "codec.write", scope, value: (write.ms.median * 1e6) / rows } as const]),
        { name: "codec.read", scope, value: (read.ms.median * 1e6) / rows } as const,
        { name: "size.avg", scope, value: sizeBytes / rows } as const,
      ];
    }),
  );
}

/** The fields of `codec --json`. */
export function codecJson(report: CodecReport): Readonly<Record<string, unknown>> {
  const { aborted, environment, seed, rounds, link, notes, verdict } = report;
  const suites = report.suites.map((suite) => ({ ...suite, codecs: suite.codecs.map((codec) => withTransport(codec, suite, link)) }));
  return { schemaVersion: 1, command: "codec", aborted, environment, seed, rounds, linkBitsPerSecond: link, suites, notes, ...verdict };
}

function withTransport(codec: CodecMeasure, { codecs }: CodecSuite, link: number | null): Readonly<Record<string, unknown>> {
  const turnsOverAt = codecs[0] === undefined || codecs[0] === codec ? null : turnOver(codec, codecs[0]);
  return { ...codec, transportMs: link === null ? null : transportMs(codec.sizeBytes, link), equalsJsonAtBitsPerSecond: turnsOverAt };
}

export function codecText(report: CodecReport): string {
  const parts = [report.aborted ? "ABORTED: what follows is not all of it.\n\n" : ""];
  for (const suite of report.suites) {
    const mode = suite.mode === "list" ? "the whole list at once" : "object by object";
    parts.push(`${suite.suite}: ${suite.title}; ${formatCount(suite.rows)} rows, ${mode}\n\n`, suiteTable(suite), "\n");
    if (report.link !== null) {
      parts.push(`Over a link of ${formatLinkRate(report.link)}\n\n`, linkTable(suite, report.link), "\n");
    }
    parts.push(`${conclusionOf(suite, report.link)}\n\n`);
  }
  const verdict = verdictText(report.verdict);
  parts.push(verdict === "" ? "" : `${verdict}\n`, ...report.notes.map((note) => `${note}\n`));
  parts.push(
    `Medians of ${report.rounds} rounds in alternation after one that is not counted; x is against plain JSON. Seed ${report.seed}.\n`,
    "Allocated: growth of the heap and of buffers outside of it in one pass over all rows. No network is in these times.\n",
    `${environmentLine(report.environment)}\n`,
  );
  return parts.join("");
}

const sizeColumns: readonly TableColumn[] = [
  { title: "codec", align: "left" },
  { title: "write" },
  { title: "x" },
  { title: "read" },
  { title: "x" },
  { title: "bytes" },
  { title: "x" },
  { title: "alloc write" },
  { title: "read" },
  { title: "GC" },
];

function suiteTable({ codecs }: CodecSuite): string {
  const json = codecs[0];
  return textTable(
    sizeColumns,
    codecs.map(({ codec, sizeBytes, write, read }) => [
      codec,
      ...directionCells(write, json?.write ?? null),
      ...directionCells(read, json?.read ?? null),
      formatCount(sizeBytes),
      formatRatio(sizeBytes / (json?.sizeBytes ?? Number.NaN)),
      megabytes(write),
      megabytes(read),
      formatDuration(((write?.allocation.collectionMs ?? 0) + read.allocation.collectionMs) * 1e6),
    ]),
  );
}

function directionCells(direction: DirectionMeasure | null, json: DirectionMeasure | null): readonly string[] {
  return direction === null
    ? ["-", "-"]
    : [formatDuration(direction.ms.median * 1e6), formatRatio(direction.ms.median / (json?.ms.median ?? Number.NaN))];
}

function megabytes(direction: DirectionMeasure | null): string {
  return direction === null ? "-" : `${(direction.allocation.bytes / 1e6).toFixed(1)} MB`;
}

function linkTable({ codecs }: CodecSuite, link: number): string {
  const json = codecs[0];
  return textTable(
    [{ title: "codec", align: "left" }, { title: "write + read" }, { title: "transport" }, { title: "sum" }, { title: "equals JSON at" }],
    codecs.flatMap((codec) => {
      const ms = processingMs(codec);
      if (ms === null) {
        return [];
      }
      const transport = transportMs(codec.sizeBytes, link);
      const rate = json === undefined || codec === json ? null : turnOver(codec, json);
      const cells = [ms, transport, ms + transport].map((each) => formatDuration(each * 1e6));
      return [[codec.codec, ...cells, rate === null ? "-" : formatLinkRate(rate)]];
    }),
  );
}

/** A winner for each dimension, with the number that it rests on. */
function conclusionOf({ codecs }: CodecSuite, link: number | null): string {
  const writing = codecs.filter(({ write }) => write !== null);
  const winners = [
    winner(
      "Smallest",
      codecs,
      ({ sizeBytes }) => sizeBytes,
      (bytes) => `${formatCount(bytes)} bytes`,
    ),
    winner("fastest to write", writing, ({ write }) => write?.ms.median ?? Number.NaN, milliseconds),
    winner("fastest to read", codecs, ({ read }) => read.ms.median, milliseconds),
    ...(link === null
      ? []
      : [
          winner(
            "fastest over the link",
            writing,
            (codec) => (processingMs(codec) ?? 0) + transportMs(codec.sizeBytes, link),
            milliseconds,
          ),
        ]),
  ];
  return `${winners.join("; ")}.`;
}

function winner(
  dimension: string,
  codecs: readonly CodecMeasure[],
  figureOf: (codec: CodecMeasure) => number,
  show: (figure: number) => string,
): string {
  const best = codecs.toSorted((a, b) => figureOf(a) - figureOf(b))[0];
  return best === undefined ? `${dimension}: nothing was measured` : `${dimension}: ${best.codec} (${show(figureOf(best))})`;
}

function milliseconds(ms: number): string {
  return formatDuration(ms * 1e6);
}
