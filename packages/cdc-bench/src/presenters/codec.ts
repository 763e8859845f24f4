import type { CodecResult, CodecSuite, LinkedCodecMeasure } from "../codec/codec-result.ts";
import { processingMs } from "../codec/link.ts";
import type { DirectionMeasure } from "../codec/measure-codecs.ts";
import { formatCount, formatDuration, formatLinkRate, formatRatio } from "../report/quantities.ts";
import type { BenchResult } from "../result/bench-result.ts";
import type { Block, Cell, FigureCell, ReportDocument, Section, Table, Winner } from "../presentation/document.ts";
import { footOf } from "./foot.ts";
import { publishedBlocks } from "./codec-published.ts";

type Suite = CodecSuite<LinkedCodecMeasure>;

/** The report of `codec`: for each data set and mode, what codecs cost in time, bytes and memory, and who wins. */
export function presentCodec(result: BenchResult): ReportDocument {
  const { suites, rounds, seed, linkBitsPerSecond: link, aborted } = result as CodecResult;
  return {
    title: "Codecs in memory",
    subtitle: `medians of ${rounds} rounds, seed ${seed}; x is against plain JSON`,
    isPartial: aborted,
    sections: [...suites.map((suite) => suiteSection(suite, link)), ...footOf(result)],
  };
}

function suiteSection(suite: Suite, link: number | null): Section {
  const mode = suite.mode === "list" ? "the whole list at once" : "object by object";
  const blocks: Block[] = [timesTable(suite), sizesTable(suite)];
  if (link !== null) {
    blocks.push(linkTable(suite, link));
  }
  blocks.push({ kind: "winners", rows: winnersOf(suite, link) }, ...publishedBlocks(suite));
  return { title: `${suite.suite}: ${suite.title}; ${formatCount(suite.rows)} rows, ${mode}`, blocks };
}

function timesTable({ codecs }: Suite): Table {
  const json = codecs[0];
  return {
    kind: "table",
    columns: [{ title: "codec", align: "left" }, { title: "write" }, { title: "x" }, { title: "read" }, { title: "x" }],
    rows: codecs.map(({ codec, write, read }) => [
      codec,
      ...directionCells(write, json?.write ?? null),
      ...directionCells(read, json?.read ?? null),
    ]),
  };
}

function sizesTable({ codecs }: Suite): Table {
  const jsonBytes = codecs[0]?.sizeBytes ?? Number.NaN;
  return {
    kind: "table",
    columns: [
      { title: "codec", align: "left" },
      { title: "bytes" },
      { title: "x" },
      { title: "alloc write" },
      { title: "read" },
      { title: "GC" },
    ],
    rows: codecs.map(({ codec, sizeBytes, write, read }) => [
      codec,
      { text: formatCount(sizeBytes), value: sizeBytes },
      ratioCell(sizeBytes / jsonBytes),
      megabytesCell(write),
      megabytesCell(read),
      durationCell((write?.allocation.collectionMs ?? 0) + read.allocation.collectionMs),
    ]),
  };
}

function linkTable({ codecs }: Suite, link: number): Table {
  return {
    kind: "table",
    title: `Over a link of ${formatLinkRate(link)}`,
    columns: [
      { title: "codec", align: "left" },
      { title: "write + read" },
      { title: "transport" },
      { title: "sum" },
      { title: "equals JSON at" },
    ],
    rows: codecs.flatMap((codec) => {
      const ms = processingMs(codec);
      if (ms === null) {
        return [];
      }
      const { transportMs, equalsJsonAtBitsPerSecond: rate } = codec;
      const turnsOver: Cell = rate === null ? "-" : { text: formatLinkRate(rate), value: rate };
      return [[codec.codec, durationCell(ms), durationCell(transportMs ?? 0), durationCell(ms + (transportMs ?? 0)), turnsOver]];
    }),
  };
}

function directionCells(direction: DirectionMeasure | null, json: DirectionMeasure | null): readonly Cell[] {
  return direction === null
    ? ["-", "-"]
    : [durationCell(direction.ms.median), ratioCell(direction.ms.median / (json?.ms.median ?? Number.NaN))];
}

function durationCell(ms: number): FigureCell {
  return { text: formatDuration(ms * 1e6), value: ms * 1e6 };
}

function ratioCell(ratio: number): FigureCell {
  return { text: formatRatio(ratio), value: Number.isFinite(ratio) ? ratio : null };
}

function megabytesCell(direction: DirectionMeasure | null): Cell {
  return direction === null ? "-" : { text: `${(direction.allocation.bytes / 1e6).toFixed(1)} MB`, value: direction.allocation.bytes };
}

/** A winner for each dimension, with the number that it rests on. */
function winnersOf({ codecs }: Suite, link: number | null): readonly Winner[] {
  const writing = codecs.filter(({ write }) => write !== null);
  const overLink = (codec: LinkedCodecMeasure): number => (processingMs(codec) ?? 0) + (codec.transportMs ?? 0);
  return [
    ...winner(
      "smallest",
      writing,
      ({ sizeBytes }) => sizeBytes,
      (bytes) => `${formatCount(bytes)} B`,
    ),
    ...winner("fastest to write", writing, ({ write }) => write?.ms.median ?? Number.NaN, milliseconds),
    ...winner("fastest to read", codecs, ({ read }) => read.ms.median, milliseconds),
    ...(link === null ? [] : winner(`fastest over ${formatLinkRate(link)}`, writing, overLink, milliseconds)),
  ];
}

function winner(
  dimension: string,
  codecs: readonly LinkedCodecMeasure[],
  figureOf: (codec: LinkedCodecMeasure) => number,
  show: (figure: number) => string,
): readonly Winner[] {
  const [best, second] = codecs.toSorted((a, b) => figureOf(a) - figureOf(b));
  if (best === undefined) {
    return [];
  }
  const against = second === undefined ? {} : { against: `${second.codec}: ${formatRatio(figureOf(second) / figureOf(best))}` };
  return [{ dimension, winner: best.codec, figure: show(figureOf(best)), ...against }];
}

function milliseconds(ms: number): string {
  return formatDuration(ms * 1e6);
}
