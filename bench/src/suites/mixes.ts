import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type Mix, mixes } from "../cases/mixes.ts";
import { environment } from "../environment.ts";
import type { Encoding } from "../varied-corpus.ts";

/** What V8 needs to learn all shapes of a mix, of processor time. */
const warmUpMs = 1_500;

/** Creates, updates and deletes in turn may take this much longer than creates alone, a byte. */
const maxSlowdown = 1.1;
const bounded = "creates, updates and deletes in turn";

interface ChildResult {
  readonly passesNs: readonly number[];
  readonly bytesPerMessage: number;
}

interface MixFigures {
  readonly mix: string;
  readonly encoding: Encoding;
  readonly bytesPerMessage: number;
  /** A message, one figure a round. */
  readonly roundsNs: readonly number[];
}

/** What decoding costs where one record differs from the next: each mix in processes of its own, all of them in turn, round after round. */
export function runMixes({
  rounds,
  roundMs,
  only,
}: {
  readonly rounds: number;
  readonly roundMs: number;
  readonly only?: string;
}): Promise<{ text: string; result: object; held: boolean }> {
  const before = environment();
  const chosen = mixes.filter(({ name }) => only === undefined || new RegExp(only).test(name));
  const jobs = chosen.flatMap((mix) => mix.encodings.map((encoding) => ({ mix, encoding })));
  const results = jobs.map((): ChildResult[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, { mix, encoding }] of jobs.entries()) {
      results[i]?.push(childResult(mix, encoding, roundMs));
    }
  }
  const figures = jobs.map(({ mix, encoding }, i) => figuresOf(mix, encoding, results[i] ?? []));
  const rows = figures.map((one) => ({ ...one, ...ratioOf(one, figures) }));
  const held = rows.every(
    ({ mix, encoding, ratioPerByte }) => mix !== bounded || encoding === "maxwell" || !((ratioPerByte ?? 0) > maxSlowdown),
  );
  const lines = rows.map(
    ({ mix, encoding, roundsNs, bytesPerMessage, beside, ratioPerMessage, ratioPerByte }) =>
      `${encoding}: ${mix}: ${median(roundsNs).toFixed(0)} ns a message of ${bytesPerMessage.toFixed(0)} bytes` +
      (ratioPerByte === null ? "" : `; beside ${beside} ${ratioPerMessage?.toFixed(2)}x a message, ${ratioPerByte.toFixed(2)}x a byte`),
  );
  return Promise.resolve({
    text: ["mixes, processor time of decoding, medians of rounds", ...lines].join("\n"),
    result: { environment: before, rounds, roundMs, warmUpMs, maxSlowdown, cases: rows },
    held,
  });
}

function childResult({ name }: Mix, encoding: Encoding, roundMs: number): ChildResult {
  const child = fileURLToPath(new URL("../mixes-child.js", import.meta.url));
  const args = [child, name, encoding, String(roundMs), String(warmUpMs)];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" })) as ChildResult;
}

/** A quarter of the passes stands for a round, because others disturb the machine. */
function figuresOf({ name }: Mix, encoding: Encoding, results: readonly ChildResult[]): MixFigures {
  const roundsNs = results.map(({ passesNs }) => passesNs.toSorted((a, b) => a - b)[passesNs.length >> 2] ?? Number.NaN);
  return { mix: name, encoding, bytesPerMessage: results[0]?.bytesPerMessage ?? Number.NaN, roundsNs };
}

interface MixRatio {
  readonly beside: string | null;
  readonly ratioPerMessage: number | null;
  readonly ratioPerByte: number | null;
}

/** Beside the mix that it is compared with, round against round. */
function ratioOf({ mix, encoding, bytesPerMessage, roundsNs }: MixFigures, all: readonly MixFigures[]): MixRatio {
  const { beside } = mixes.find(({ name }) => name === mix) as Mix; // figures are made of mixes
  const other = beside === mix ? undefined : all.find((one) => one.mix === beside && one.encoding === encoding);
  if (other === undefined) {
    return { beside: null, ratioPerMessage: null, ratioPerByte: null };
  }
  const ratioPerMessage = median(roundsNs.map((ns, i) => ns / (other.roundsNs[i] ?? Number.NaN)));
  return { beside, ratioPerMessage, ratioPerByte: (ratioPerMessage * other.bytesPerMessage) / bytesPerMessage };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
