import { boundedCell, type Cell, notRun } from "./figures.ts";
import type { PeerFormat } from "./pass.ts";
import type { PeerSizes } from "./sizes.ts";
import { peerFormats } from "./topics.ts";
import { measureColumns } from "../suites/columns.ts";
import { measureMixes } from "../suites/mixes.ts";
import type { CaseOutcome } from "./other-cases.ts";

/** Two of eleven columns read beside all of them, decoding alone: the suite `columns`. */
export async function measureColumnsCase({ decodeRounds, decodeRoundMs }: PeerSizes): Promise<CaseOutcome> {
  const cases = await measureColumns({ rounds: decodeRounds, roundMs: decodeRoundMs });
  const cells = peerFormats.map((format): Cell => {
    const found = cases.find(({ name }) => name === format);
    if (found === undefined) {
      return notRun("not chosen");
    }
    const { ratio, target } = found;
    return {
      text: `${ratio.median.toFixed(2)}x [${ratio.min.toFixed(2)} to ${ratio.max.toFixed(2)}]`,
      verdict: target === null ? "no target" : ratio.median >= target ? "held" : "missed",
    };
  });
  const wanted = peerFormats.map((format) => `${cases.find(({ name }) => name === format)?.target}x`).join(" / ");
  return { rows: [{ figure: "2 of 11 columns read against all of them, decoding alone", wanted, cells }], result: cases };
}

const inTurn = "creates, updates and deletes in turn";
const maxSlowdown = 1.1;

/** Creates, updates and deletes in turn beside creates alone, a byte: two mixes of the suite `mixes`. */
export async function measureOperations({ operationsRounds, decodeRoundMs }: PeerSizes, signal: AbortSignal): Promise<CaseOutcome> {
  const encodings: readonly PeerFormat[] = peerFormats;
  const { rows } = await measureMixes({
    rounds: operationsRounds,
    roundMs: decodeRoundMs,
    signal,
    only: `^(creates|${inTurn})$`,
    encodings,
  });
  const cells = peerFormats.map((format): Cell => {
    const ratio = rows.find(({ mix, encoding }) => mix === inTurn && encoding === format)?.ratioPerByte ?? null;
    return ratio === null
      ? notRun("not chosen")
      : boundedCell(`${(Math.abs(ratio - 1) * 100).toFixed(0)}% ${ratio < 1 ? "faster" : "slower"}`, ratio, maxSlowdown);
  });
  const figure = `${inTurn} against creates alone, a byte, decoding alone`;
  return { rows: [{ figure, wanted: "at most 10% slower", cells }], result: rows };
}
