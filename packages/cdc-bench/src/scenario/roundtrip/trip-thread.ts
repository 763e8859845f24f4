import { Worker } from "node:worker_threads";
import { BenchError } from "../../bench-error.ts";
import { programFile } from "../../package-root.ts";
import { type ThreadAnswer, type ThreadPhase, type ThreadRequest, type ThreadSetup, phases, stateFields } from "./thread-protocol.ts";

/** How often a thread is looked at, and how long it may take to end by itself. */
const lookEveryMs = 100;
const closeDeadlineMs = 8_000;
/** What a thread is doing when it is told to end may go on for so long. */
const busyDeadlineMs = 5_000;
/** Loading codecs and joining a group take longer than a round. */
const startTimeoutMs = 60_000;

export interface TripThreadOptions {
  readonly setup: Omit<ThreadSetup, "state">;
  /** A thread that finishes no round for so long is ended: a codec or a server hangs. */
  readonly timeoutMs: number;
  /** What the other side is called in errors, such as `Redis at 127.0.0.1:6379`. */
  readonly peer: string;
}

/** One thread that plays round trips. A codec that hangs hangs the thread, and the thread can be ended. */
export class TripThread {
  codecs: readonly string[] = [];
  readonly #options: TripThreadOptions;
  readonly #state = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT * Object.keys(stateFields).length);
  readonly #fields = new Int32Array(this.#state);
  readonly #worker: Worker;
  #settle: { resolve(answer: ThreadAnswer): void; reject(error: Error): void } | undefined;
  /** Settles with what was asked last; never rejects. */
  #asked: Promise<unknown> = Promise.resolve();
  #isEnded = false;

  constructor(options: TripThreadOptions) {
    this.#options = options;
    const workerData: ThreadSetup = { ...options.setup, state: this.#state };
    // stdout is for results: what a plug-in prints goes to stderr.
    this.#worker = new Worker(programFile("thread-worker"), { workerData, stdout: true });
    this.#worker.stdout.on("data", (chunk: Buffer) => process.stderr.write(chunk));
    this.#worker.on("message", (answer: ThreadAnswer) => this.#answered(answer));
    this.#worker.on("error", (error) => this.#fail(error));
    this.#worker.on("exit", () => {
      this.#isEnded = true;
      this.#fail(new BenchError("usage", `the thread of the codec ${this.#codecName()} ended by itself: does the codec end the process?`));
    });
  }

  get rounds(): number {
    return Atomics.load(this.#fields, stateFields.rounds);
  }

  /** Loads codecs, checks them and connects. */
  async start(): Promise<void> {
    const answer = await this.#watched(() => {});
    if (answer.kind === "ready") {
      this.codecs = answer.codecs;
    }
  }

  request(request: ThreadRequest): Promise<ThreadAnswer> {
    return this.#watched(() => this.#worker.postMessage(request));
  }

  /** Lets the rounds that are in flight end, and starts no more. */
  stop(): void {
    Atomics.store(this.#fields, stateFields.stop, 1);
  }

  /** Ends the connection and the thread. Never rejects. */
  async close(): Promise<void> {
    this.stop();
    // A thread that is ended while it joins a group stays its member until the brokers notice.
    await Promise.race([this.#asked, waitMs(busyDeadlineMs)]);
    if (!this.#isEnded && this.#settle === undefined) {
      const closed = this.request({ kind: "close" }).catch(() => undefined);
      await Promise.race([closed, waitMs(closeDeadlineMs)]);
    }
    await this.terminate();
  }

  async terminate(): Promise<void> {
    this.#isEnded = true;
    await this.#worker.terminate();
  }

  /** What the thread answers, unless it finishes nothing for too long. */
  #watched(ask: () => void): Promise<ThreadAnswer> {
    if (this.#isEnded) {
      return Promise.reject(new BenchError("usage", "the thread has ended"));
    }
    const asked = new Promise<ThreadAnswer>((resolve, reject) => {
      let seen = this.#progress();
      let seenMs = performance.now();
      const looking = setInterval(() => {
        const now = this.#progress();
        if (now !== seen) {
          [seen, seenMs] = [now, performance.now()];
        } else if (performance.now() - seenMs > this.#limitMs()) {
          this.#fail(this.#hangs());
          void this.terminate();
        }
      }, lookEveryMs);
      this.#settle = {
        resolve: (answer) => {
          clearInterval(looking);
          resolve(answer);
        },
        reject: (error) => {
          clearInterval(looking);
          reject(error);
        },
      };
      ask();
    });
    this.#asked = asked.catch(() => {});
    return asked;
  }

  #limitMs(): number {
    const { timeoutMs } = this.#options;
    const isStarting = this.codecs.length === 0 && !["serialize", "deserialize"].includes(this.#phase());
    return isStarting ? Math.max(timeoutMs, startTimeoutMs) : timeoutMs;
  }

  #phase(): ThreadPhase {
    return phases[Atomics.load(this.#fields, stateFields.phase)] ?? "idle";
  }

  #progress(): string {
    const isChecking = this.codecs.length === 0;
    return `${this.rounds} ${Atomics.load(this.#fields, stateFields.codec)}${isChecking ? ` ${this.#phase()}` : ""}`;
  }

  #answered(answer: ThreadAnswer): void {
    const settle = this.#settle;
    this.#settle = undefined;
    if (answer.kind === "failed") {
      const error = answer.code === "unexpected" ? new Error(answer.detail) : new BenchError(answer.code, answer.detail);
      settle?.reject(error);
    } else {
      settle?.resolve(answer);
    }
  }

  #fail(error: Error): void {
    this.#settle?.reject(error);
    this.#settle = undefined;
  }

  #hangs(): BenchError {
    const phase = this.#phase();
    const seconds = `${this.#limitMs() / 1e3} s`;
    if (phase === "idle" || phase === "exchange") {
      return new BenchError("connection", `nothing came back from ${this.#options.peer} within ${seconds} (--timeout).`);
    }
    const what = phase === "memory" ? "it" : `its ${phase}()`;
    return new BenchError("usage", `the codec ${this.#codecName()} hangs: ${what} did not end within ${seconds} (--timeout).`);
  }

  #codecName(): string {
    const index = Atomics.load(this.#fields, stateFields.codec);
    return this.codecs[index] ?? `number ${index + 1}`;
  }
}

function waitMs(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
