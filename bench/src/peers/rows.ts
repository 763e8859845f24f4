import { type Comparison, comparisons } from "./comparisons.ts";
import { boundedCell, type Cell, type ConsumeFigures, notRun, ratioCell, ratios, type Row } from "./figures.ts";
import { spreadOf } from "../spread.ts";
import type { PeerFormat } from "./pass.ts";
import { ourKafkaJs } from "./sides.ts";
import { type PeerCompression, peerFormats } from "./topics.ts";

const maxResidentMiB = 200 / 1.048576; // 200 MB

/** The rows of the table that come of reading topics: by compression, and long topics last. */
export function consumeRows(all: readonly ConsumeFigures[]): readonly Row[] {
  return [false, true].flatMap((isLong) => {
    const here = all.filter((one) => one.isLong === isLong);
    const compressions = [...new Set(here.map(({ compression }) => compression))];
    return compressions.flatMap((compression) =>
      rowsOf(
        here.filter((one) => one.compression === compression),
        compression,
        isLong,
      ),
    );
  });
}

/** What topics of one length and compression give. */
function rowsOf(here: readonly ConsumeFigures[], compression: PeerCompression, isLong: boolean): readonly Row[] {
  const topics = `${compression === "none" ? "uncompressed" : compression}${isLong ? ", long topics" : ""}`;
  const rows = comparisons
    .filter((one) => one.isLong === isLong)
    .map(({ name, wanted, ...comparison }): Row => {
      const targets = wanted[compression];
      return {
        figure: `${name}, ${topics}`,
        wanted: targets === undefined ? "-" : peerFormats.map((format) => `${targets[format]}x`).join(" / "),
        cells: peerFormats.map((format) => cellOf(against(ofFormat(here, format), comparison), targets?.[format] ?? null)),
      };
    });
  return isLong ? rows : [...rows, residentRow(here, topics)];
}

type Picked = { readonly ours: ConsumeFigures; readonly theirs: ConsumeFigures; readonly names: string } | { readonly missing: string };

/** The fastest of each side that was measured in each of its rounds: one that ended in an error has not held anything. */
function against(all: readonly ConsumeFigures[], comparison: Pick<Comparison, "ours" | "theirs">): Picked {
  const chosen = (choice: Comparison["ours"]): readonly ConsumeFigures[] => all.filter(({ side, kind }) => choice({ name: side, kind }));
  const [ours, theirs] = [chosen(comparison.ours), chosen(comparison.theirs)];
  const [left, right] = [fastest(ours), fastest(theirs)];
  if (left === undefined || right === undefined) {
    return { missing: whyNot(left === undefined ? ours : theirs) };
  }
  const isChoice = ours.length > 1 || theirs.length > 1;
  return { ours: left, theirs: right, names: isChoice ? `: ${left.side} against ${right.side}` : "" };
}

function ofFormat(all: readonly ConsumeFigures[], format: PeerFormat): readonly ConsumeFigures[] {
  return all.filter((one) => one.format === format);
}

function fastest(sides: readonly ConsumeFigures[]): ConsumeFigures | undefined {
  const measured = sides.filter(({ perSecond, notRun: reason }) => perSecond.length > 0 && reason === null);
  return measured.toSorted((a, b) => spreadOf(b.perSecond).median - spreadOf(a.perSecond).median)[0];
}

function whyNot(sides: readonly ConsumeFigures[]): string {
  return sides.map(({ side, notRun: reason }) => `${side}: ${reason}`).join("; ") || "not chosen";
}

function cellOf(picked: Picked, atLeast: number | null): Cell {
  if ("missing" in picked) {
    return notRun(picked.missing);
  }
  const values = ratios(picked.ours.perSecond, picked.theirs.perSecond);
  const winner = spreadOf(values).median < 1 ? `${picked.names}; **${picked.theirs.side} is faster**` : picked.names;
  return ratioCell(values, atLeast, winner);
}

/** The peak of a whole process that reads as fast as it can. The bound is one of a peak: each round has to keep it. */
function residentRow(here: readonly ConsumeFigures[], topics: string): Row {
  const cells = peerFormats.map((format): Cell => {
    const ours = ofFormat(here, format).filter(({ side }) => side === ourKafkaJs);
    const measured = fastest(ours);
    if (measured === undefined) {
      return notRun(whyNot(ours));
    }
    const { median, min, max } = spreadOf(measured.residentMiB);
    return boundedCell(`${median.toFixed(0)} MiB [${min.toFixed(0)} to ${max.toFixed(0)}]`, max, maxResidentMiB);
  });
  return { figure: `resident memory at full rate, kafkajs driver, ${topics}`, wanted: "at most 200 MB", cells };
}
