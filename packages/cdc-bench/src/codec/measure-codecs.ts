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
  readonly interrupt: AbortSignal;
  readonly onProgress: (codec: string, round: number) => void;
}

/**
 * Measures codecs in turn, and the codec that goes first changes with each round: what slows the machine down for a while slows all of them
 * down. The first round is not counted. A codec that does not give back what it was given is an error, because its figures mean nothing.
 */
export async function measureCodecs<T>(trial: CodecTrial<T>): Promise<readonly CodecMeasure[]> {
  const contestants = await contestantsOf(trial);
  for (let round = 0; round <= trial.rounds; round++) {
    for (let turn = 0; turn < contestants.length; turn++) {
      if (trial.interrupt.aborted) {
        return contestants.flatMap((contestant) => contestant.result());
      }
      const contestant = contestants[(round + turn) % contestants.length] as Contestant<T>; // the index is below the length
      trial.onProgress(contestant.name, round);
      await contestant.play(round > 0, trial.minMs);
      await setImmediate(); // an interrupt is heard here: the work itself is synchronous
    }
  }
  return contestants.flatMap((contestant) => contestant.result());
}

async function contestantsOf<T>({ codecs, values }: CodecTrial<T>): Promise<readonly Contestant<T>[]> {
  const written = new Map<string, readonly Uint8Array[]>();
  const contestants: Contestant<T>[] = [];
  for (const codec of codecs) {
    const bytes = isReadingCodec(codec) ? written.get(codec.reads) : await writeAll(codec, values);
    if (bytes === undefined) {
      throw new Error(`${codec.name} reads what another codec writes, and that codec is not before it`);
    }
    written.set(codec.name, bytes);
    const read = await readAll(codec, bytes);
    if (!areSameValues(read, values)) {
      throw new BenchError("usage", `${codec.name} does not give back the values that were written, so it cannot be compared.`);
    }
    contestants.push(new Contestant(codec, values, bytes));
    await setImmediate();
  }
  return contestants;
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

  async play(isCounted: boolean, minMs: number): Promise<void> {
    const codec = this.#codec;
    const read = (): Promise<unknown> => readAll(codec, this.#bytes);
    const write = isReadingCodec(codec) ? null : (): Promise<unknown> => writeAll(codec, this.#values);
    const writeMs = write === null ? 0 : await passMs(write, minMs);
    const readMs = await passMs(read, minMs);
    if (!isCounted) {
      return;
    }
    this.#writeMs.push(writeMs);
    this.#readMs.push(readMs);
    // A pass of its own: the profiler's cost is in no time.
    if (write !== null) {
      this.#writeAllocations.push(await allocationOf(write));
    }
    this.#readAllocations.push(await allocationOf(read));
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
async function writeAll<T>(codec: Codec<T>, values: readonly T[]): Promise<readonly Uint8Array[]> {
  const all: Uint8Array[] = [];
  for (const value of values) {
    const bytes = codec.serialize(value);
    all.push(bytes instanceof Promise ? await bytes : bytes);
  }
  return all;
}

async function readAll<T>(codec: Codec<T> | ReadingCodec<T>, all: readonly Uint8Array[]): Promise<readonly T[]> {
  const values: T[] = [];
  for (const bytes of all) {
    const value = codec.deserialize(bytes);
    values.push(value instanceof Promise ? await value : value);
  }
  return values;
}
