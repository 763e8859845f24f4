import { setImmediate } from "node:timers/promises";
import { BenchError } from "../bench-error.ts";
import { type RateSummary, summarizeRates } from "../measure/rounds.ts";
import { type Codec, isReadingCodec, type ReadingCodec } from "./codec.ts";
import { areSameValues } from "./same-values.ts";
import { type Allocation, allocationOf, medianAllocation } from "./allocation.ts";

/** One direction of a codec over all values once. */
export interface DirectionMeasure {
  /** Milliseconds for all values; the median stands for the rounds. */
  readonly ms: RateSummary;
  /** What one pass over all values allocates and collects. */
  readonly allocation: Allocation;
}

export interface CodecMeasure {
  readonly codec: string;
  /** Of all values together. */
  readonly sizeBytes: number;
  /** Null for a codec that only reads. */
  readonly write: DirectionMeasure | null;
  readonly read: DirectionMeasure;
}

export interface CodecTrial<T> {
  readonly codecs: readonly (Codec<T> | ReadingCodec<T>)[];
  readonly values: readonly T[];
  readonly rounds: number;
  /** Passes are repeated for so long in each round. */
  readonly minMs: number;
  /** Ends the measurement, also in the middle of a pass. Rounds that are not over do not count. */
  readonly interrupt: AbortSignal;
  /** Called before each codec's turn. Round -1: its values are written and read once, to compare them. Round 0 is not counted. */
  readonly onProgress: (codec: string, round: number) => void;
}

/** Work that takes longer lets the event loop have a turn, in which progress is drawn and an interrupt is heard. */
const turnAfterMs = 100;
/** How often the clock is asked. A power of two. */
const valuesBetweenLooks = 64;

/** What is asked in the middle of a pass. */
class Turns {
  readonly #interrupt: AbortSignal;
  #lastMs = performance.now();

  constructor(interrupt: AbortSignal) {
    this.#interrupt = interrupt;
  }

  isDue(index: number): boolean {
    return index % valuesBetweenLooks === valuesBetweenLooks - 1 && performance.now() - this.#lastMs > turnAfterMs;
  }

  /** @throws if the measurement is over */
  async take(): Promise<void> {
    await setImmediate();
    this.#interrupt.throwIfAborted();
    this.#lastMs = performance.now();
  }
}

/**
 * Measures codecs in turn, and the codec that goes first changes with each round: what slows the machine down for a while slows all of them
 * down. The first round is not counted. A codec that does not give back what it was given is an error, because its figures mean nothing.
 */
export async function measureCodecs<T>(trial: CodecTrial<T>): Promise<readonly CodecMeasure[]> {
  const contestants: Contestant<T>[] = [];
  const turns = new Turns(trial.interrupt);
  try {
    await addContestants(contestants, trial, turns);
    for (let round = 0; round <= trial.rounds; round++) {
      for (let turn = 0; turn < contestants.length; turn++) {
        const contestant = contestants[(round + turn) % contestants.length] as Contestant<T>; // the index is below the length
        trial.onProgress(contestant.name, round);
        await contestant.play(round > 0, trial.minMs, turns);
        await turns.take();
      }
    }
  } catch (error) {
    if (!trial.interrupt.aborted) {
      throw error;
    }
  }
  return contestants.flatMap((contestant) => contestant.result());
}

async function addContestants<T>(contestants: Contestant<T>[], { codecs, values, onProgress }: CodecTrial<T>, turns: Turns): Promise<void> {
  const written = new Map<string, readonly Uint8Array[]>();
  for (const codec of codecs) {
    onProgress(codec.name, -1);
    const bytes = isReadingCodec(codec) ? written.get(codec.reads) : await writeAll(codec, values, turns);
    if (bytes === undefined) {
      throw new Error(`${codec.name} reads what another codec writes, and that codec is not before it`);
    }
    written.set(codec.name, bytes);
    await turns.take(); // a list is one value: to write it can take a second, and so can each of the others
    const read = await readAll(codec, bytes, turns);
    await turns.take();
    if (!(await areAllSame(read, values, turns))) {
      throw new BenchError("usage", `${codec.name} does not give back the values that were written, so it cannot be compared.`);
    }
    contestants.push(new Contestant(codec, values, bytes));
    await turns.take();
  }
}

/** One after the other, those of a list too, with turns for the event loop: all at once are seconds in which an interrupt is not heard. */
async function areAllSame(read: readonly unknown[], values: readonly unknown[], turns: Turns): Promise<boolean> {
  for (const [index, value] of values.entries()) {
    const other = read[index];
    const isSame = Array.isArray(value) && Array.isArray(other) ? await areAllSame(other, value, turns) : areSameValues(other, value);
    if (!isSame) {
      return false;
    }
    if (turns.isDue(index)) {
      await turns.take();
    }
  }
  return read.length === values.length;
}

class Contestant<T> {
  readonly #codec: Codec<T> | ReadingCodec<T>;
  readonly #values: readonly T[];
  readonly #bytes: readonly Uint8Array[];
  readonly #writeMs: number[] = [];
  readonly #readMs: number[] = [];
  readonly #writeAllocations: Allocation[] = [];
  readonly #readAllocations: Allocation[] = [];

  constructor(codec: Codec<T> | ReadingCodec<T>, values: readonly T[], bytes: readonly Uint8Array[]) {
    this.#codec = codec;
    this.#values = values;
    this.#bytes = bytes;
  }

  get name(): string {
    return this.#codec.name;
  }

  async play(isCounted: boolean, minMs: number, turns: Turns): Promise<void> {
    const codec = this.#codec;
    const read = (): Promise<unknown> => readAll(codec, this.#bytes, turns);
    const write = isReadingCodec(codec) ? null : (): Promise<unknown> => writeAll(codec, this.#values, turns);
    const writeMs = write === null ? 0 : await passMs(write, minMs);
    await turns.take();
    const readMs = await passMs(read, minMs);
    await turns.take();
    if (!isCounted) {
      return;
    }
    // A pass of its own: the profiler's cost is in no time.
    const writeAllocation = write === null ? null : await allocationOf(write);
    await turns.take();
    const readAllocation = await allocationOf(read);
    // Together, after all that may be interrupted.
    this.#readMs.push(readMs);
    this.#readAllocations.push(readAllocation);
    if (writeAllocation !== null) {
      this.#writeMs.push(writeMs);
      this.#writeAllocations.push(writeAllocation);
    }
  }

  /** Nothing if no round was counted. */
  result(): readonly CodecMeasure[] {
    const read = directionOf(this.#readMs, this.#readAllocations);
    const write = directionOf(this.#writeMs, this.#writeAllocations);
    const sizeBytes = this.#bytes.reduce((sum, { byteLength }) => sum + byteLength, 0);
    return read === null ? [] : [{ codec: this.name, sizeBytes, write, read }];
  }
}

function directionOf(ms: readonly number[], allocations: readonly Allocation[]): DirectionMeasure | null {
  const allocation = medianAllocation(allocations);
  return allocation === null ? null : { ms: summarizeRates(ms), allocation };
}

/** How long one pass takes: passes are repeated until the clock's own cost no longer matters. */
async function passMs(pass: () => Promise<unknown>, minMs: number): Promise<number> {
  const startMs = performance.now();
  let passes = 0;
  let elapsedMs = 0;
  do {
    await pass();
    passes++;
    elapsedMs = performance.now() - startMs;
  } while (elapsedMs < minMs);
  return elapsedMs / passes;
}

// A promise is awaited only if there is one: a synchronous codec pays for no promise a value.
async function writeAll<T>(codec: Codec<T>, values: readonly T[], turns: Turns): Promise<readonly Uint8Array[]> {
  const all: Uint8Array[] = [];
  for (const value of values) {
    const bytes = codec.serialize(value);
    all.push(bytes instanceof Promise ? await bytes : bytes);
    if (turns.isDue(all.length)) {
      await turns.take();
    }
  }
  return all;
}

async function readAll<T>(codec: Codec<T> | ReadingCodec<T>, all: readonly Uint8Array[], turns: Turns): Promise<readonly T[]> {
  const values: T[] = [];
  for (const bytes of all) {
    const value = codec.deserialize(bytes);
    values.push(value instanceof Promise ? await value : value);
    if (turns.isDue(values.length)) {
      await turns.take();
    }
  }
  return values;
}
