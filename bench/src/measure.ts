import { type Spread, spreadOf } from "./spread.ts";

/** One of the things that are measured against each other. */
export interface Contender {
  readonly name: string;
  /** Does the work once over the whole corpus and returns something that depends on all of it. */
  readonly pass: () => number | Promise<number>;
  readonly messages: number;
}

export interface Measured {
  readonly name: string;
  /** Nanoseconds per message, one figure a round. */
  readonly roundsNs: readonly number[];
  readonly medianNs: number;
  readonly minNs: number;
  readonly maxNs: number;
}

export interface MeasureOptions {
  readonly rounds: number;
  readonly warmUpRounds: number;
  /** Shortest time that one round of one contender may take, in milliseconds: passes are repeated until it is reached. */
  readonly roundMs: number;
}

/** What passes returned; printed in the end, so that the compiler cannot leave out work whose result nobody uses. */
let consumed = 0;

/** Runs the contenders in turn, round after round, so that whatever disturbs the machine disturbs them alike. */
export async function measure(contenders: readonly Contender[], options: MeasureOptions): Promise<readonly Measured[]> {
  const repeats: number[] = [];
  for (const contender of contenders) {
    repeats.push(await repeatsFor(contender, options));
  }
  const rounds: number[][] = contenders.map(() => []);
  for (let round = -options.warmUpRounds; round < options.rounds; round++) {
    for (const [i, contender] of contenders.entries()) {
      const elapsedNs = await timeNs(contender, repeats[i] as number);
      if (round >= 0) {
        rounds[i]?.push(elapsedNs / ((repeats[i] as number) * contender.messages));
      }
    }
  }
  return contenders.map(({ name }, i) => summarise(name, rounds[i] ?? []));
}

export function consumedTotal(): number {
  return consumed;
}

async function repeatsFor(contender: Contender, { roundMs }: MeasureOptions): Promise<number> {
  await timeNs(contender, 1);
  const onceNs = await timeNs(contender, 1);
  return Math.max(1, Math.ceil((roundMs * 1e6) / onceNs));
}

async function timeNs(contender: Contender, repeats: number): Promise<number> {
  const start = process.hrtime.bigint();
  for (let i = 0; i < repeats; i++) {
    const read = contender.pass();
    consumed += typeof read === "number" ? read : await read; // a result that is no promise is not awaited
  }
  return Number(process.hrtime.bigint() - start);
}

function summarise(name: string, roundsNs: readonly number[]): Measured {
  const { median: medianNs, min: minNs, max: maxNs } = spreadOf(roundsNs);
  return { name, roundsNs, medianNs, minNs, maxNs };
}

/** How many times longer `peer` took than `ours`, round against round. */
export function ratioOf(peer: Measured, ours: Measured): Spread {
  return spreadOf(peer.roundsNs.map((ns, i) => ns / (ours.roundsNs[i] ?? Number.NaN)));
}
