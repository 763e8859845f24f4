import type { DurationSummary } from "../../measure/duration-histogram.ts";
import { isUndecided, ratioInterval, type RatioInterval, variationOf } from "../../measure/ratio.ts";
import type { StageMeasure } from "../../measure/reading.ts";
import { medianOf, type RateSummary, summarizeRates } from "../../measure/rounds.ts";
import type { SizeSummary } from "../../measure/size-tally.ts";
import { formatLabel } from "../../report/format-label.ts";
import type { PlayedRound, ReaderKind } from "./contestant.ts";
import type { PlayedContestant } from "./run-rounds.ts";

/** What one reader made of one topic. */
export interface ComparedReader {
  readonly topic: string;
  readonly reader: string;
  readonly kind: ReaderKind;
  /** What cdckit detected; null if this reader does not say. */
  readonly format: string | null;
  /** Records in one round. */
  readonly records: number;
  readonly errorRecords: number;
  readonly bytesPerRecord: number;
  /** Records a second. */
  readonly rate: RateSummary;
  /** Standard deviation of the rates, as a part of their mean. */
  readonly variation: number;
  /** Median of the rounds. */
  readonly elapsedMs: number;
  readonly gcShare: number;
  readonly eventLoopUtilization: number;
  /** Of cdckit's round with the median rate. */
  readonly sizes: SizeSummary | null;
  readonly decode: DurationSummary | null;
  readonly stages: StageMeasure | null;
}

/** Two readers, the faster one first. */
export interface ComparedPair {
  /** Formats are compared with one reader, readers on one topic. */
  readonly dimension: "format" | "reader";
  readonly faster: ReaderName;
  readonly slower: ReaderName;
  /** Rate of the faster by rate of the slower. */
  readonly ratio: RatioInterval;
  /** The interval contains 1: which of the two is faster is not known. */
  readonly isUndecided: boolean;
}

export interface ReaderName {
  readonly topic: string;
  readonly reader: string;
}

export interface Comparison {
  readonly readers: readonly ComparedReader[];
  readonly pairs: readonly ComparedPair[];
}

/** The figures of everybody who ended at least one round, the fastest of each dimension against the others. */
export function compareRounds(played: readonly PlayedContestant[]): Comparison {
  const counted = played.filter(({ rounds }) => rounds.length > 0);
  return { readers: counted.map(comparedReader), pairs: [...formatPairs(counted), ...readerPairs(counted)] };
}

function comparedReader({ contestant: { topic, reader, kind }, rounds }: PlayedContestant): ComparedReader {
  const rates = rounds.map(rateOf);
  const median = medianRound(rounds);
  const reading = median.reading;
  const formats = reading?.formats.filter(({ format }) => format !== "tombstone") ?? [];
  return {
    topic,
    reader,
    kind,
    format: formats.length === 0 ? null : formats.map(({ format }) => formatLabel(format)).join(", "),
    records: median.records,
    errorRecords: Math.max(...rounds.map(({ errorRecords }) => errorRecords)),
    bytesPerRecord: median.records === 0 ? 0 : median.bytes / median.records,
    rate: summarizeRates(rates),
    variation: variationOf(rates),
    elapsedMs: medianOf(rounds.map(({ elapsedMs }) => elapsedMs)),
    gcShare: medianOf(rounds.map(({ load, elapsedMs }) => (elapsedMs === 0 ? 0 : Math.min(1, load.gcMs / elapsedMs)))),
    eventLoopUtilization: medianOf(rounds.map(({ load }) => load.eventLoopUtilization)),
    sizes: formats.length === 1 ? (formats[0]?.sizes ?? null) : null,
    decode: formats.length === 1 ? (formats[0]?.decode ?? null) : null,
    stages: reading?.stages ?? null,
  };
}

/** cdckit on each topic. */
function formatPairs(played: readonly PlayedContestant[]): readonly ComparedPair[] {
  const ours = played.filter(({ contestant }) => contestant.kind === "cdckit");
  const readers = [...new Set(ours.map(({ contestant }) => contestant.reader))];
  return readers.flatMap((reader) =>
    againstFastest(
      "format",
      ours.filter(({ contestant }) => contestant.reader === reader),
    ),
  );
}

/** Everybody who decodes, topic by topic. A pipeline is no decoder alone, so the two are not compared. */
function readerPairs(played: readonly PlayedContestant[]): readonly ComparedPair[] {
  const topics = [...new Set(played.map(({ contestant }) => contestant.topic))];
  return topics.flatMap((topic) => {
    const here = played.filter(({ contestant }) => contestant.topic === topic && contestant.kind !== "no-decode");
    const alone = here.filter(({ contestant }) => contestant.reader.endsWith("decode alone"));
    return againstFastest("reader", alone.length > 1 ? alone : here.filter((each) => !alone.includes(each)));
  });
}

function againstFastest(dimension: ComparedPair["dimension"], played: readonly PlayedContestant[]): readonly ComparedPair[] {
  const [fastest, ...others] = played.toSorted((a, b) => medianOf(b.rounds.map(rateOf)) - medianOf(a.rounds.map(rateOf)));
  return fastest === undefined ? [] : others.map((other) => pairOf(dimension, fastest, other));
}

/** Who was faster by the mean of the rounds, which may differ from the medians if the two are close. */
function pairOf(dimension: ComparedPair["dimension"], a: PlayedContestant, b: PlayedContestant): ComparedPair {
  const ratio = ratioInterval(a.rounds.map(rateOf), b.rounds.map(rateOf));
  if (ratio.ratio < 1) {
    return pairOf(dimension, b, a);
  }
  return { dimension, faster: nameOf(a), slower: nameOf(b), ratio, isUndecided: isUndecided(ratio) };
}

function nameOf({ contestant: { topic, reader } }: PlayedContestant): ReaderName {
  return { topic, reader };
}

function rateOf({ records, elapsedMs }: PlayedRound): number {
  return elapsedMs <= 0 ? 0 : (records / elapsedMs) * 1e3;
}

function medianRound(rounds: readonly PlayedRound[]): PlayedRound {
  const median = medianOf(rounds.map(rateOf));
  const byDistance = rounds.toSorted((a, b) => Math.abs(rateOf(a) - median) - Math.abs(rateOf(b) - median));
  return byDistance[0]!; // there is at least one
}
