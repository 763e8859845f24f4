import { BenchError } from "../../bench-error.ts";
import type { Codec } from "../../codec/codec.ts";
import type { Row } from "../../codec/data-sets.ts";
import { areSameValues } from "../../codec/same-values.ts";
import { createDurationHistogram, recordDuration } from "../../measure/duration-histogram.ts";
import { type Coping, copingOf, withFieldValue } from "./evolution.ts";
import { type ThreadPhase, phases, stateFields, type Trial, type TrialOutcome } from "./thread-protocol.ts";
import { firstLine } from "./plug-in.ts";
import type { VersionedCodec } from "./roundtrip-codecs.ts";
import type { Transport } from "./transport.ts";

/** What a thread tells the thread that watches it: cheap enough for every part of every round. */
export interface ThreadState {
  enter(phase: ThreadPhase): void;
  roundDone(): void;
  readonly isStopped: boolean;
}

export function sharedThreadState(buffer: SharedArrayBuffer): ThreadState {
  const fields = new Int32Array(buffer);
  return {
    enter: (phase) => void Atomics.store(fields, stateFields.phase, phases.indexOf(phase)),
    roundDone: () => void Atomics.add(fields, stateFields.rounds, 1),
    get isStopped() {
      return Atomics.load(fields, stateFields.stop) !== 0;
    },
  };
}

/** What is played: with whom, over what, with which rows. */
export interface TrialParts {
  readonly codec: VersionedCodec;
  readonly transport: Transport;
  readonly rows: readonly Row[];
  /** The field that rows of the new schema have more. */
  readonly field: string;
  readonly state: ThreadState;
}

/** Plays the rounds of a trial: as many loops as are to be in flight share them. */
export async function playTrial(trial: Trial, parts: TrialParts): Promise<TrialOutcome> {
  const play = new Play(trial, parts);
  const startMs = performance.now();
  await Promise.all(Array.from({ length: trial.inFlight }, () => play.loop(startMs)));
  return play.outcome(performance.now() - startMs);
}

interface Ended<T> {
  readonly result: T;
  readonly endMs: number;
}

/** What of the values is looked at: comparing costs more than some codecs do, so it happens after the rounds. */
const firstChecked = 128;
const checkEvery = 64;
const maxChecked = 2_048;

class Play {
  readonly #trial: Trial;
  readonly #parts: TrialParts;
  readonly #rows: readonly Row[];
  readonly #writer: Codec<Row>;
  readonly #reader: Codec<Row>;
  readonly #latency = createDurationHistogram();
  readonly #kept: (readonly [written: Row, read: Row])[] = [];
  #started = 0;
  #done = 0;
  #values = 0;
  #bytes = 0;
  #serializeMs = 0;
  #sendMs = 0;
  #receiveMs = 0;
  #deserializeMs = 0;
  #failures = 0;
  #failure: string | null = null;

  constructor(trial: Trial, parts: TrialParts) {
    this.#trial = trial;
    this.#parts = parts;
    const { rows, field, codec } = parts;
    this.#rows = trial.writer === "new" ? rows.map((row) => withFieldValue(row, field)) : rows;
    this.#writer = codec.versions[trial.writer];
    this.#reader = codec.versions[trial.reader];
  }

  async loop(startMs: number): Promise<void> {
    const { rounds, durationMs, batch } = this.#trial;
    while (!this.#parts.state.isStopped) {
      const isOver = durationMs !== null && performance.now() - startMs >= durationMs;
      if (isOver || (rounds !== null && this.#started >= rounds)) {
        return;
      }
      const first = this.#started++ * batch;
      await this.#round(Array.from({ length: batch }, (_, i) => this.#rows[(first + i) % this.#rows.length] as Row)); // below the length
      this.#parts.state.roundDone();
    }
  }

  async #round(rows: readonly Row[]): Promise<void> {
    const { transport, state } = this.#parts;
    const startMs = performance.now();
    state.enter("serialize");
    // The end of each half is read within it: other rounds in flight run before this one goes on.
    const { result: payloads, endMs: serializedMs } = await this.#write(rows);
    state.enter("exchange");
    let sentMs = serializedMs;
    const delivered = await transport.exchange(payloads, () => {
      sentMs = performance.now();
    });
    const deliveredMs = performance.now();
    state.enter("deserialize");
    const { result: read, endMs } = await this.#read(delivered);
    state.enter("idle");
    this.#count(payloads, delivered);
    this.#serializeMs += serializedMs - startMs;
    this.#sendMs += sentMs - serializedMs;
    this.#receiveMs += deliveredMs - sentMs;
    if (read !== null) {
      this.#deserializeMs += endMs - deliveredMs;
      recordDuration(this.#latency, (endMs - startMs) * 1e6);
      this.#keep(rows, read);
    }
  }

  async #write(rows: readonly Row[]): Promise<Ended<readonly Uint8Array[]>> {
    const payloads: Uint8Array[] = [];
    try {
      for (const row of rows) {
        const bytes = this.#writer.serialize(row);
        payloads.push(bytes instanceof Promise ? await bytes : bytes);
      }
      return { result: payloads, endMs: performance.now() };
    } catch (error) {
      throw failedError(this.#parts.codec.name, "serialize", error);
    }
  }

  /** Null if the codec could not read them, and that is what the trial is to find out. */
  async #read(delivered: readonly Uint8Array[]): Promise<Ended<readonly Row[] | null>> {
    const rows: Row[] = [];
    try {
      for (const bytes of delivered) {
        const row = this.#reader.deserialize(bytes);
        rows.push(row instanceof Promise ? await row : row);
      }
      return { result: rows, endMs: performance.now() };
    } catch (error) {
      if (!this.#trial.isTolerant) {
        throw failedError(this.#parts.codec.name, "deserialize", error);
      }
      this.#failures++;
      this.#failure ??= firstLine(error);
      return { result: null, endMs: performance.now() };
    }
  }

  #count(payloads: readonly Uint8Array[], delivered: readonly Uint8Array[]): void {
    this.#done++;
    this.#values += payloads.length;
    for (const [i, payload] of payloads.entries()) {
      this.#bytes += payload.byteLength;
      const back = delivered[i];
      if (back === undefined || Buffer.compare(back, payload) !== 0) {
        throw new BenchError("connection", "what came back is not what was sent: does another program write to the same place?");
      }
    }
  }

  #keep(written: readonly Row[], read: readonly Row[]): void {
    for (const [i, row] of written.entries()) {
      const number = this.#values - written.length + i;
      const value = read[i];
      if (value !== undefined && (number < firstChecked || number % checkEvery === 0) && this.#kept.length < maxChecked) {
        this.#kept.push([row, value]);
      }
    }
  }

  outcome(elapsedMs: number): TrialOutcome {
    return {
      rounds: this.#done,
      values: this.#values,
      bytes: this.#bytes,
      elapsedMs,
      latency: this.#latency,
      serializeMs: this.#serializeMs,
      sendMs: this.#sendMs,
      receiveMs: this.#receiveMs,
      deserializeMs: this.#deserializeMs,
      failures: this.#failures,
      failure: this.#failure,
      copings: this.#copings(),
    };
  }

  #copings(): TrialOutcome["copings"] {
    const { field, codec } = this.#parts;
    const { reader, isTolerant } = this.#trial;
    const counts: Partial<Record<Coping, number>> = {};
    for (const [written, read] of this.#kept) {
      const coping = isTolerant ? copingOf(written, read, field, reader) : areSameValues(written, read) ? "same" : "wrong";
      if (coping === "wrong" && !isTolerant) {
        throw liesError(codec.name);
      }
      counts[coping] = (counts[coping] ?? 0) + 1;
    }
    return counts;
  }
}

export function liesError(codec: string): BenchError {
  return new BenchError("usage", `${codec} does not give back the values that were written, so it cannot be compared.`);
}

function failedError(codec: string, phase: "serialize" | "deserialize", cause: unknown): BenchError {
  return new BenchError("usage", `the codec ${codec} failed in ${phase}(): ${firstLine(cause)}.`, { cause });
}

/** Each codec must give back each row before anything is measured. */
export async function checkCodecs(
  codecs: readonly VersionedCodec[],
  rows: readonly Row[],
  state: Pick<ThreadState, "enter">,
  onCodec: (index: number) => void,
): Promise<void> {
  for (const [index, { name, versions }] of codecs.entries()) {
    onCodec(index);
    for (const row of rows) {
      const read = await throughMemory(name, versions.old, row, state);
      if (!areSameValues(read, row)) {
        throw liesError(name);
      }
    }
  }
  state.enter("idle");
}

async function throughMemory(name: string, codec: Codec<Row>, row: Row, state: Pick<ThreadState, "enter">): Promise<Row> {
  let phase: "serialize" | "deserialize" = "serialize";
  try {
    state.enter(phase);
    const bytes: unknown = await codec.serialize(row);
    if (!(bytes instanceof Uint8Array)) {
      throw new TypeError("it gave no bytes (Uint8Array)");
    }
    phase = "deserialize";
    state.enter(phase);
    return await codec.deserialize(bytes);
  } catch (error) {
    throw failedError(name, phase, error);
  }
}
