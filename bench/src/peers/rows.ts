import { boundedCell, type Cell, type ConsumeFigures, notRun, ratioCell, ratios, type Row, spreadOf } from "./figures.ts";
import type { PeerFormat } from "./pass.ts";
import { javaPerformance, kafkajsByHand } from "./sides.ts";
import { type PeerCompression, peerFormats } from "./topics.ts";

type Targets = Readonly<Record<PeerFormat, number>>;

const targets = {
  byHand: { "json-with-schema": 4, json: 2.3, "confluent-avro": 4 },
  byHandCompressed: { "json-with-schema": 3, json: 2, "confluent-avro": 3 },
  undecoded: { "json-with-schema": 1.3, json: 1.2, "confluent-avro": 1.2 },
  bestPeer: { "json-with-schema": 3, json: 2, "confluent-avro": 3 },
} as const satisfies Record<string, Targets>;

const maxResidentMiB = 200;

/** Our driver for kafkajs, however it fetches: the fastest counts. */
const isOurKafkaJs: Choice = ({ side }) => side.startsWith("cdckit, kafkajs");

/** The rows of the table that come of reading topics. */
export function consumeRows(all: readonly ConsumeFigures[]): readonly Row[] {
  const compressions = [...new Set(all.filter(({ isLong }) => !isLong).map(({ compression }) => compression))];
  const rowsOfCompressions = compressions.flatMap((compression) => {
    const isPlain = compression === "none";
    const name = isPlain ? "uncompressed" : compression;
    const byHand: Targets | null = isPlain
      ? targets.byHand
      : compression === "lz4" || compression === "zstd"
        ? targets.byHandCompressed
        : null;
    const rows = [
      row(`kafkajs driver against kafkajs by hand, ${name}`, byHand, (format) =>
        against(all, { format, compression, ours: isOurKafkaJs, theirs: only(kafkajsByHand) }),
      ),
      row(`fastest of our drivers against the fastest peer in Node, ${name}`, isPlain ? targets.bestPeer : null, (format) =>
        against(all, { format, compression, ours: ofKind("ours"), theirs: ofKind("peer") }),
      ),
      row(`kafkajs driver against ${javaPerformance}, undecoded, ${name}`, isPlain ? targets.undecoded : null, (format) =>
        against(all, { format, compression, ours: isOurKafkaJs, theirs: only(javaPerformance) }),
      ),
      row(`fastest of our drivers against kcat, undecoded, ${name}`, null, (format) =>
        against(all, { format, compression, ours: ofKind("ours"), theirs: only("kcat") }),
      ),
    ];
    return isPlain ? [...rows, residentRow(all)] : rows;
  });
  return all.some(({ isLong }) => isLong) ? [...rowsOfCompressions, ...longRows()] : rowsOfCompressions;

  function longRows(): readonly Row[] {
    const of = { compression: "none", isLong: true, ours: isOurKafkaJs } as const;
    return [kafkajsByHand, javaPerformance].map((name) =>
      row(`kafkajs driver against ${name}, uncompressed, long topics`, null, (format) =>
        against(all, { ...of, format, theirs: only(name) }),
      ),
    );
  }

  function row(figure: string, wanted: Targets | null, pick: (format: PeerFormat) => Picked): Row {
    const wantedText = wanted === null ? "-" : peerFormats.map((format) => `${wanted[format]}x`).join(" / ");
    return { figure, wanted: wantedText, cells: peerFormats.map((format) => cellOf(pick(format), wanted?.[format] ?? null)) };
  }
}

type Choice = (figures: ConsumeFigures) => boolean;

function only(side: string): Choice {
  return (figures) => figures.side === side;
}

function ofKind(kind: ConsumeFigures["kind"]): Choice {
  return (figures) => figures.kind === kind;
}

type Picked = { readonly ours: ConsumeFigures; readonly theirs: ConsumeFigures; readonly names: string } | { readonly missing: string };

interface Comparison {
  readonly format: PeerFormat;
  readonly compression: PeerCompression;
  readonly isLong?: boolean;
  readonly ours: Choice;
  readonly theirs: Choice;
}

/** The fastest of each side that was measured. */
function against(all: readonly ConsumeFigures[], { format, compression, isLong = false, ours, theirs }: Comparison): Picked {
  const here = all.filter((one) => one.format === format && one.compression === compression && one.isLong === isLong);
  const [left, right] = [fastest(here.filter(ours)), fastest(here.filter(theirs))];
  if (left === undefined || right === undefined) {
    const why = here.filter((one) => (left === undefined ? ours : theirs)(one)).map(({ side, notRun: reason }) => `${side}: ${reason}`);
    return { missing: why.join("; ") || "not chosen" };
  }
  const isChoice = here.filter(ours).length > 1 || here.filter(theirs).length > 1;
  return { ours: left, theirs: right, names: isChoice ? `: ${left.side} against ${right.side}` : "" };
}

function fastest(sides: readonly ConsumeFigures[]): ConsumeFigures | undefined {
  const measured = sides.filter(({ perSecond }) => perSecond.length > 0);
  return measured.toSorted((a, b) => spreadOf(b.perSecond).median - spreadOf(a.perSecond).median)[0];
}

function cellOf(picked: Picked, atLeast: number | null): Cell {
  if ("missing" in picked) {
    return notRun(picked.missing);
  }
  const values = ratios(picked.ours.perSecond, picked.theirs.perSecond);
  const winner = spreadOf(values).median < 1 ? `${picked.names}; **${picked.theirs.side} is faster**` : picked.names;
  return ratioCell(values, atLeast, winner);
}

/** The peak of a whole process that reads as fast as it can. */
function residentRow(all: readonly ConsumeFigures[]): Row {
  const cells = peerFormats.map((format): Cell => {
    const here = all.filter((one) => isOurKafkaJs(one) && one.format === format && one.compression === "none" && !one.isLong);
    const chosen = fastest(here);
    if (chosen === undefined) {
      return notRun(here.find(({ notRun: why }) => why !== null)?.notRun ?? "not chosen");
    }
    const { median, min, max } = spreadOf(chosen.residentMiB);
    return boundedCell(
      `${median.toFixed(0)} MiB [${min.toFixed(0)} to ${max.toFixed(0)}]: ${chosen.side}`,
      median,
      maxResidentMiB / 1.048576,
    );
  });
  return { figure: "resident memory at full rate, kafkajs driver, uncompressed", wanted: `at most ${maxResidentMiB} MB`, cells };
}
