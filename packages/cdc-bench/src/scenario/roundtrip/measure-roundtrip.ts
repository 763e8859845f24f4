import { BenchError } from "../../bench-error.ts";
import type { CodecMeasure } from "../../codec/measure-codecs.ts";
import { createDurationHistogram, percentileCurve, summarizeDurations } from "../../measure/duration-histogram.ts";
import { summarizeRates } from "../../measure/rounds.ts";
import type { Observer } from "../../observe/observer.ts";
import type { Coping, SchemaVersion } from "./evolution.ts";
import type { TripThread } from "./trip-thread.ts";
import type { ThreadAnswer, ThreadRequest, Trial, TrialOutcome } from "./thread-protocol.ts";
import { copes, type EvolutionHalf, type EvolutionMeasure, type RoundtripMeasure, type RoundtripMode } from "./roundtrip-result.ts";

export interface RoundtripPlan {
  readonly compressions: readonly string[];
  readonly inFlight: number;
  readonly batch: number;
  readonly rounds: number | null;
  readonly durationMs: number | null;
  readonly warmupRounds: number;
  /** Each codec's rounds are played in so many parts, with another order of codecs in each. */
  readonly blocks: number;
  readonly evolves: boolean;
  readonly memoryRounds: number;
  readonly memoryMinMs: number;
}

export interface RoundtripFigures {
  readonly memory: readonly CodecMeasure[];
  readonly roundtrips: readonly RoundtripMeasure[];
  readonly evolution: readonly EvolutionMeasure[];
}

/** A run on threads that are ready. What was measured before the interrupt is given back. */
export class RoundtripRun {
  readonly #threads: readonly TripThread[];
  readonly #plan: RoundtripPlan;
  readonly #interrupt: AbortSignal;
  readonly #observer: Observer;

  constructor(threads: readonly TripThread[], plan: RoundtripPlan, interrupt: AbortSignal, observer: Observer) {
    this.#threads = threads;
    this.#plan = plan;
    this.#interrupt = interrupt;
    this.#observer = observer;
  }

  async measure(): Promise<RoundtripFigures> {
    const memory = await this.#inMemory();
    const roundtrips: RoundtripMeasure[] = [];
    for (const compression of this.#plan.compressions) {
      roundtrips.push(...(await this.#mode("one at a time", 1, compression)));
      if (this.#plan.inFlight > 1) {
        roundtrips.push(...(await this.#mode("pipelined", this.#plan.inFlight, compression)));
      }
    }
    const evolution = this.#plan.evolves ? await this.#evolution() : [];
    return { memory, roundtrips, evolution };
  }

  async #inMemory(): Promise<readonly CodecMeasure[]> {
    const thread = this.#threads[0];
    if (thread === undefined || this.#interrupt.aborted) {
      return [];
    }
    this.#observer.observe(() => ({ phase: "in memory" }));
    const { memoryRounds: rounds, memoryMinMs: minMs } = this.#plan;
    const answer = await this.#unlessInterrupted(thread.request({ kind: "memory", rounds, minMs }));
    return answer?.kind === "memory" ? answer.measures : [];
  }

  /** Codecs take turns, and another one goes first in each block. */
  async #mode(mode: RoundtripMode, inFlight: number, compression: string): Promise<readonly RoundtripMeasure[]> {
    const { batch, rounds, durationMs, warmupRounds, blocks } = this.#plan;
    const codecs = this.#codecs().filter(({ name }) => compression === "none" || !isCompressed(name));
    const outcomes = new Map<number, (readonly TrialOutcome[])[]>();
    const common = { compression, inFlight, batch, writer: "old", reader: "old", isTolerant: false } as const;
    for (let block = 0; block < blocks; block++) {
      for (let turn = 0; turn < codecs.length; turn++) {
        const codec = codecs[(block + turn) % codecs.length] as (typeof codecs)[number]; // below the length
        const phase = `${codec.name}, ${mode}${compression === "none" ? "" : `, ${compression}`}`;
        if (block === 0 && warmupRounds > 0) {
          await this.#play({ ...common, codec: codec.index, rounds: warmupRounds, durationMs: null }, `${phase}: warming up`);
        }
        const part = rounds === null ? null : partOf(rounds, blocks, block);
        const played = await this.#play(
          { ...common, codec: codec.index, rounds: part, durationMs: durationMs === null ? null : durationMs / blocks },
          phase,
        );
        const known = outcomes.get(codec.index) ?? [];
        outcomes.set(codec.index, known);
        if (played !== null) {
          known.push(played);
        }
      }
    }
    return codecs.flatMap(({ index, name }) => {
      const parts = (outcomes.get(index) ?? []).filter((threads) => threads.some((outcome) => outcome.rounds > 0));
      return parts.length === 0 ? [] : [this.#measureOf({ codec: name, mode, compression, inFlight, batch }, parts)];
    });
  }

  #measureOf(
    what: Pick<RoundtripMeasure, "codec" | "mode" | "compression" | "inFlight" | "batch">,
    blocks: readonly (readonly TrialOutcome[])[],
  ): RoundtripMeasure {
    const all = blocks.flat();
    const histogram = createDurationHistogram();
    for (const { latency } of all) {
      histogram.add(latency);
    }
    const rounds = sum(all, ({ rounds: done }) => done);
    const values = sum(all, ({ values: carried }) => carried);
    const meanNs = (of: (outcome: TrialOutcome) => number): number => (rounds === 0 ? 0 : (sum(all, of) * 1e6) / rounds);
    const slowest = blocks.map((threads) => Math.max(...threads.map(({ elapsedMs }) => elapsedMs)));
    return {
      ...what,
      threads: this.#threads.length,
      rounds,
      values,
      payloadBytes: values === 0 ? 0 : sum(all, ({ bytes }) => bytes) / values,
      elapsedMs: slowest.reduce((total, elapsedMs) => total + elapsedMs, 0),
      valuesPerSecond: summarizeRates(
        blocks.map((threads, i) => (sum(threads, ({ values: carried }) => carried) * 1e3) / (slowest[i] ?? 1)),
      ),
      latency: summarizeDurations(histogram),
      curve: percentileCurve(histogram),
      stages: {
        serializeNs: meanNs(({ serializeMs }) => serializeMs),
        sendNs: meanNs(({ sendMs }) => sendMs),
        receiveNs: meanNs(({ receiveMs }) => receiveMs),
        deserializeNs: meanNs(({ deserializeMs }) => deserializeMs),
      },
    };
  }

  /** A field is added at half of the rounds, while the reader has the schema without it, or already the one with it. */
  async #evolution(): Promise<readonly EvolutionMeasure[]> {
    const measures: EvolutionMeasure[] = [];
    const rounds = Math.max(2, this.#plan.rounds ?? 100);
    for (const { index, name } of this.#codecs()) {
      for (const reader of ["old", "new"] as const) {
        const before = await this.#half(index, name, reader, "old", Math.ceil(rounds / 2));
        const after = await this.#half(index, name, reader, "new", Math.floor(rounds / 2));
        // Of no rounds, as when Ctrl-C comes first, nothing is known.
        if (before !== null && after !== null && before.rounds > 0 && after.rounds > 0) {
          measures.push({ codec: name, reader, before, after, copes: copes(before, after) });
        }
      }
    }
    return measures;
  }

  async #half(codec: number, name: string, reader: SchemaVersion, writer: SchemaVersion, rounds: number): Promise<EvolutionHalf | null> {
    const trial = {
      codec,
      compression: "none",
      inFlight: 1,
      batch: this.#plan.batch,
      rounds,
      durationMs: null,
      writer,
      reader,
      isTolerant: true,
    };
    const played = await this.#play(trial, `${name}, ${writer} writer, ${reader} reader`);
    if (played === null) {
      return null;
    }
    const histogram = createDurationHistogram();
    const copings: Partial<Record<Coping, number>> = {};
    for (const outcome of played) {
      histogram.add(outcome.latency);
      for (const [coping, count] of Object.entries(outcome.copings) as [Coping, number][]) {
        copings[coping] = (copings[coping] ?? 0) + count;
      }
    }
    const values = sum(played, (outcome) => outcome.values);
    return {
      writer,
      rounds: sum(played, (outcome) => outcome.rounds),
      failures: sum(played, (outcome) => outcome.failures),
      failure: played.find((outcome) => outcome.failure !== null)?.failure ?? null,
      copings,
      p50Ns: summarizeDurations(histogram).p50Ns,
      payloadBytes: values === 0 ? 0 : sum(played, ({ bytes }) => bytes) / values,
    };
  }

  /** What each thread did; null after an interrupt that left nothing to count. */
  async #play(trial: Trial, phase: string): Promise<readonly TrialOutcome[] | null> {
    if (this.#interrupt.aborted) {
      return null;
    }
    const startMs = performance.now();
    const before = this.#rounds();
    const total = trial.rounds === null ? undefined : trial.rounds * this.#threads.length;
    const showing = setInterval(() => {
      const done = this.#rounds() - before;
      const perSecond = (done * 1e3) / (performance.now() - startMs);
      this.#observer.observe(() => ({ phase, done, unit: "rounds", perSecond, ...(total !== undefined && { total }) }));
    }, 100);
    try {
      const answers = await this.#unlessInterrupted(
        Promise.all(this.#threads.map((thread) => thread.request({ kind: "play", trial } satisfies ThreadRequest))),
      );
      return answers === null ? null : answers.map(outcomeOf);
    } finally {
      clearInterval(showing);
    }
  }

  /** After an interrupt threads have a moment to end what is in flight; what they have not ended by then is lost. */
  async #unlessInterrupted<T>(work: Promise<T>): Promise<T | null> {
    const interrupt = this.#interrupt;
    let stop = (): void => {};
    const interrupted = new Promise<null>((resolve) => {
      stop = () => {
        this.#threads.forEach((thread) => thread.stop());
        setTimeout(() => resolve(null), graceMs).unref();
      };
    });
    interrupt.addEventListener("abort", stop);
    if (interrupt.aborted) {
      stop();
    }
    work.catch(() => {}); // it may fail after the race is over
    try {
      return await Promise.race([work, interrupted]);
    } finally {
      interrupt.removeEventListener("abort", stop);
    }
  }

  #codecs(): readonly { readonly index: number; readonly name: string }[] {
    return (this.#threads[0]?.codecs ?? []).map((name, index) => ({ index, name }));
  }

  #rounds(): number {
    return sum(this.#threads, ({ rounds }) => rounds);
  }
}

/** How long rounds in flight may take to end after an interrupt. */
const graceMs = 1_000;

/** So many rounds of all belong to this block. */
function partOf(rounds: number, blocks: number, block: number): number {
  return Math.floor(((block + 1) * rounds) / blocks) - Math.floor((block * rounds) / blocks);
}

/** Bytes that are compressed once do not become smaller a second time. */
function isCompressed(codec: string): boolean {
  return /, (gzip|brotli|zstd)/.test(codec);
}

function outcomeOf(answer: ThreadAnswer): TrialOutcome {
  if (answer.kind !== "played") {
    throw new BenchError("usage", `a thread answered ${answer.kind} to rounds that it was to play`);
  }
  return answer.outcome;
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}
