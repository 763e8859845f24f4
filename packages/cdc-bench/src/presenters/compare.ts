import { formatCount, formatDuration, formatMegabytesPerSecond } from "../report/quantities.ts";
import type { BenchResult } from "../result/bench-result.ts";
import type { CompareResult } from "../scenario/compare/compare-result.ts";
import type { ComparedPair, ComparedReader } from "../scenario/compare/comparison.ts";
import { isShort } from "../scenario/compare/warnings.ts";
import type { Block, Cell, FigureCell, ReportDocument, Section, Table } from "../presentation/document.ts";
import { footOf } from "./foot.ts";
import { shortNames } from "./short-names.ts";

export function presentCompare(result: BenchResult): ReportDocument {
  const { rounds, aborted, settings, ...compared } = result as CompareResult;
  const names = shortNames(compared.readers.map(({ topic }) => topic));
  const short = (name: string): string => names.get(name) ?? name;
  const readers = compared.readers.map((each) => ({ ...each, topic: short(each.topic) }));
  const pairs = compared.pairs.map((pair) => withTopics(pair, short));
  const topics = names.size;
  return {
    title: "compare",
    subtitle: `${topics === 1 ? "1 topic" : `${topics} topics`} of ${String(settings["source"])}, medians of ${rounds === 1 ? "1 round" : `${rounds} rounds`} in alternation`,
    isPartial: aborted,
    sections:
      readers.length === 0 ? [nothing, ...footOf(result)] : [rates(readers), ...decodes(readers), summary(pairs), ...footOf(result)],
  };
}

function withTopics(pair: ComparedPair, short: (name: string) => string): ComparedPair {
  const { faster, slower } = pair;
  return { ...pair, faster: { ...faster, topic: short(faster.topic) }, slower: { ...slower, topic: short(slower.topic) } };
}

const nothing: Section = { title: "Rates", blocks: [{ kind: "paragraph", text: "No round was ended, so there is nothing to compare." }] };

function rates(readers: readonly ComparedReader[]): Section {
  const fastest = Math.max(...readers.map(({ rate }) => rate.median));
  const table: Table = {
    kind: "table",
    columns: [
      { title: "topic", align: "left" },
      { title: "reader", align: "left" },
      { title: "msg/s" },
      { title: "min" },
      { title: "max" },
      { title: "MB/s" },
      { title: "B/msg" },
    ],
    rows: readers.map((each): readonly Cell[] => [
      each.topic,
      each.reader,
      {
        ...count(each.rate.median),
        text: `${formatCount(each.rate.median)}${isMarked(each) ? "*" : ""}`,
        ...(isMarked(each) && { mark: "warning" as const }),
      },
      count(each.rate.min),
      count(each.rate.max),
      { text: formatMegabytesPerSecond(each.rate.median * each.bytesPerRecord), value: each.rate.median * each.bytesPerRecord },
      count(each.bytesPerRecord),
    ]),
  };
  const blocks: Block[] = [
    table,
    {
      kind: "bars",
      title: "msg/s",
      bars: readers.map(({ topic, reader, rate }) => ({
        label: `${topic}: ${reader}`,
        value: rate.median,
        text: formatCount(rate.median),
        spread: [rate.min, rate.max],
        ...(rate.median === fastest && { mark: "best" as const }),
      })),
    },
  ];
  if (readers.some(isMarked)) {
    blocks.splice(1, 0, { kind: "paragraph", text: "* over less than a second" });
  }
  return { title: "Rates", blocks };
}

/** Loops in memory repeat until the clock is no matter. */
function isMarked(reader: ComparedReader): boolean {
  return isShort(reader) && !reader.reader.endsWith("decode alone");
}

function decodes(readers: readonly ComparedReader[]): readonly Section[] {
  const known = readers.flatMap(({ topic, reader, format, sizes, decode, stages }) =>
    decode === null || sizes === null || decode.count === 0 ? [] : [{ topic, reader, format: format ?? "", sizes, decode, stages }],
  );
  if (known.length === 0) {
    return [];
  }
  const table: Table = {
    kind: "table",
    columns: [
      { title: "topic", align: "left" },
      { title: "format", align: "left" },
      { title: "size p50" },
      { title: "p99" },
      { title: "decode p50" },
      { title: "p95" },
      { title: "p99" },
    ],
    rows: known.map(({ topic, format, sizes, decode }): readonly Cell[] => [
      topic,
      format,
      count(sizes.medianBytes),
      count(sizes.p99Bytes),
      ...[decode.p50Ns, decode.p95Ns, decode.p99Ns].map((ns) => ({ text: formatDuration(ns), value: ns })),
    ]),
  };
  const parts = (stages: ComparedReader["stages"]): readonly (readonly [string, number])[] =>
    stages === null ? [] : Object.entries(stages).filter(([name, ms]) => name !== "joinMs" && name !== "commitMs" && ms > 0);
  return [
    {
      title: "Sizes and decode times of cdckit",
      blocks: [
        table,
        {
          kind: "stack",
          title: "where the time went",
          rows: known.map(({ topic, stages }) => ({
            label: topic,
            parts: parts(stages).map(([name, ms]) => ({ label: name.replace(/Ms$/, ""), value: ms, text: formatDuration(ms * 1e6) })),
          })),
        },
      ],
    },
  ];
}

function summary(pairs: readonly ComparedPair[]): Section {
  const sentences = (dimension: ComparedPair["dimension"]): readonly string[] =>
    pairs.filter((pair) => pair.dimension === dimension).map((pair) => sentenceOf(pair));
  const all = [...sentences("format"), ...sentences("reader")];
  return {
    title: "Summary",
    blocks: all.length === 0 ? [{ kind: "paragraph", text: "There is nothing to compare it with." }] : [{ kind: "list", items: all }],
  };
}

/** hyperfine's words. */
export function sentenceOf({ dimension, faster, slower, ratio, isUndecided }: ComparedPair): string {
  const [a, b] = dimension === "format" ? [faster.topic, slower.topic] : [faster.reader, slower.reader];
  const where = dimension === "format" ? ` (${faster.reader})` : ` on ${faster.topic}`;
  const spread = ratio.rounds < 2 ? "" : ` ± ${ratio.plusMinus.toFixed(2)}`;
  const words = `${a} ran ${ratio.ratio.toFixed(2)}${spread} times faster than ${b}${where}`;
  return isUndecided && ratio.rounds > 1 ? `${words}: too close to say which is faster` : words;
}

function count(value: number): FigureCell {
  return { text: formatCount(value), value };
}
