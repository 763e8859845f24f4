import { fileURLToPath } from "node:url";
import { type Mix, mixes } from "../cases/mixes.ts";
import { environment } from "../environment.ts";
import { runProcess } from "../run-process.ts";
import type { Encoding } from "../varied-corpus.ts";
import { medianOf, quarterOf } from "../spread.ts";

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

export interface MixesOptions {
  readonly rounds: number;
  readonly roundMs: number;
  readonly signal: AbortSignal;
  /** A regular expression over the names of mixes. */
  readonly only?: string;
  readonly encodings?: readonly Encoding[];
  /** No further round begins if it would end after so many minutes. The first round always ends. */
  readonly minutes?: number;
}

/** What decoding costs where one record differs from the next: each mix in processes of its own, all of them in turn, round after round. */
export async function runMixes(options: MixesOptions): Promise<{ text: string; result: object; held: boolean }> {
  const { rows, rounds } = await measureMixes(options);
  const held = rows.every(
    ({ mix, encoding, ratioPerByte }) => mix !== bounded || encoding === "maxwell" || !((ratioPerByte ?? 0) > maxSlowdown),
  );
  const lines = rows.map(
    ({ mix, encoding, roundsNs, bytesPerMessage, beside, ratioPerMessage, ratioPerByte }) =>
      `${encoding}: ${mix}: ${medianOf(roundsNs).toFixed(0)} ns a message of ${bytesPerMessage.toFixed(0)} bytes` +
      (ratioPerByte === null ? "" : `; beside ${beside} ${ratioPerMessage?.toFixed(2)}x a message, ${ratioPerByte.toFixed(2)}x a byte`),
  );
  return {
    text: [`mixes, processor time of decoding, medians of ${rounds} rounds`, ...lines].join("\n"),
    result: { environment: environment(), rounds, roundMs: options.roundMs, maxSlowdown, cases: rows },
    held,
  };
}

export type MixRow = MixFigures & MixRatio;

export async function measureMixes({
  rounds,
  roundMs,
  signal,
  only,
  encodings,
  minutes = Number.POSITIVE_INFINITY,
}: MixesOptions): Promise<{
  readonly rows: readonly MixRow[];
  readonly rounds: number;
}> {
  const chosen = mixes.filter(({ name }) => only === undefined || new RegExp(only).test(name));
  // By encoding, and each second round backwards: what is compared runs within seconds, and a machine that grows slower meanwhile favours neither.
  const jobs = chosen
    .flatMap((mix) => mix.encodings.filter((encoding) => encodings?.includes(encoding) ?? true).map((encoding) => ({ mix, encoding })))
    .toSorted((a, b) => a.encoding.localeCompare(b.encoding));
  const results = jobs.map((): ChildResult[] => []);
  const order = [...jobs.entries()];
  const endsAt = performance.now() + minutes * 60_000;
  let [done, longestMs] = [0, 0];
  while (done < rounds && (done === 0 || performance.now() + longestMs <= endsAt)) {
    const startedAt = performance.now();
    done++;
    for (const [i, { mix, encoding }] of done % 2 === 1 ? order : order.toReversed()) {
      process.stderr.write(`mixes, round ${done} of ${rounds} at most: ${encoding}, ${mix.name}\n`);
      results[i]?.push(await childResult(mix, encoding, { roundMs, signal }));
    }
    longestMs = Math.max(longestMs, performance.now() - startedAt);
  }
  const figures = jobs.map(({ mix, encoding }, i) => figuresOf(mix, encoding, results[i] ?? []));
  return { rows: figures.map((one) => ({ ...one, ...ratioOf(one, figures) })), rounds: done };
}

async function childResult(
  { name }: Mix,
  encoding: Encoding,
  { roundMs, signal }: Pick<MixesOptions, "roundMs" | "signal">,
): Promise<ChildResult> {
  const child = fileURLToPath(new URL("../mixes-child.js", import.meta.url));
  const args = [child, name, encoding, String(roundMs)];
  const { stdout } = await runProcess(process.execPath, args, { signal, deadlineSeconds: 120 });
  return JSON.parse(stdout) as ChildResult;
}

function figuresOf({ name }: Mix, encoding: Encoding, results: readonly ChildResult[]): MixFigures {
  const roundsNs = results.map(({ passesNs }) => quarterOf(passesNs));
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
  const ratioPerMessage = medianOf(roundsNs.map((ns, i) => ns / (other.roundsNs[i] ?? Number.NaN)));
  return { beside, ratioPerMessage, ratioPerByte: (ratioPerMessage * other.bytesPerMessage) / bytesPerMessage };
}
