import { bindMethods } from "../bind-methods.ts";
import { maxTimerMs, systemClock } from "../clock.ts";
import { ConsumerError } from "../errors.ts";
import { Latch } from "../latch.ts";
import { advance, initialState, type LifecycleEvent, type LifecycleState, type Phase } from "../lifecycle.ts";
import { metricsOf } from "../observe/prometheus.ts";
import { refuseLate } from "../one-start.ts";
import { onAbort, type RunOptions, signalOf } from "../run-options.ts";
import { onStopSignals } from "../stop-signals.ts";
import { toError } from "../user-code/user-value.ts";
import { joinedHealth, type ThreadReport, type WorkersHealth } from "./joined-health.ts";
import type { RunnableConsumer } from "./runnable-consumer.ts";
import { WorkerThread } from "./worker-thread.ts";
import { type ResolvedWorkersOptions, resolveWorkersOptions, type WorkersOptions } from "./workers-options.ts";

/**
 * The members of a group on several threads, as one consumer. It runs until all have stopped. If one fails, the others stop, and `run()`
 * rejects with the error of that one. Signals drain all of them. What it logs and measures is what they log and measure.
 */
export interface WorkersConsumer extends RunnableConsumer {
  /** Starts the threads and consumes until all have stopped. An abort of its signal is a `stop()`. */
  run(options?: RunOptions): Promise<void>;
  /** `stop()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
  /** How the threads are, at once: joined, and each by itself. Never throws. */
  health(): WorkersHealth;
}

/** How often threads report, and are looked at. Four reports fit into the time after which a silent thread has failed. */
const lookEveryMs = 1_000;
const looksPerSilence = 4;
/** A thread keeps its deadlines itself. It is not waited for much longer than they last. */
const graceMs = 1_000;
/** As in a consumer: its close gets so long after nothing is waited for any more. */
const forcedCloseMs = 1_000;
const notStarted: ThreadReport = { health: null, notice: null };

/** Nothing is started before `run()`. Throws a `ConsumerError` that names a wrong option. */
export function createWorkersConsumer(options: WorkersOptions): WorkersConsumer {
  return new ThreadedConsumer(resolveWorkersOptions(options));
}

class ThreadedConsumer implements WorkersConsumer {
  readonly #options: ResolvedWorkersOptions;
  readonly #lookEveryMs: number;
  readonly #threads: WorkerThread[] = [];
  readonly #stopped: Latch = new Latch();
  #state: LifecycleState = initialState;
  #abortReason: unknown;
  #cancelLook: () => void = () => {};
  #cancelDeadline: () => void = () => {};
  readonly #joinMetrics: () => void;

  constructor(options: ResolvedWorkersOptions) {
    this.#options = options;
    this.#lookEveryMs = Math.min(lookEveryMs, Math.ceil(options.health.stuckAfterMs / looksPerSilence));
    this.#joinMetrics = metricsOf(options.telemetry.prometheus, options.groupId, () => this.health(), systemClock);
    bindMethods(this);
  }

  async run(options?: RunOptions): Promise<void> {
    refuseLate(this.#state, this.#threads.length > 0);
    const signal = this.#admit(options);
    const unlisten = onStopSignals(this.#options.signals, systemClock, {
      first: () => void this.stop(),
      again: () => this.#force("a second stop signal came"),
    });
    const forgetSignal = onAbort(signal, (reason) => this.#aborted(reason));
    try {
      this.#dispatch({ type: "start" });
      await this.#stopped.opened;
    } finally {
      forgetSignal();
      unlisten();
    }
    if (this.#state.error !== null) {
      throw this.#state.error;
    }
  }

  /** What `run()` is refused for halts the consumer, as one without workers. */
  #admit(options: RunOptions | undefined): AbortSignal | undefined {
    try {
      this.#joinMetrics();
      return signalOf("run()", options);
    } catch (error) {
      this.#dispatch({ type: "fail", error: toError(error) });
      throw error;
    }
  }

  /** Async, so that who waits for run() hears of its end first. */
  async stop(): Promise<void> {
    this.#dispatch({ type: "stop" });
    await this.#stopped.opened;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  health(): WorkersHealth {
    const threads = Array.from({ length: this.#options.workers }, (_, index) => this.#threads[index] ?? notStarted);
    return joinedHealth(this.#state, threads, this.#options.userFunctions.reasons);
  }

  #aborted(reason: unknown): void {
    this.#abortReason ??= reason;
    this.#options.logger.info({ err: reason }, "the signal was aborted: the consumer stops");
    void this.stop();
  }

  #dispatch(event: LifecycleEvent): void {
    const before = this.#state.phase;
    this.#state = advance(this.#state, event);
    if (this.#state.phase !== before) {
      this.#options.logger.debug({ from: before, to: this.#state.phase }, "phase of the consumer with workers");
      this.#enter(this.#state.phase);
    }
  }

  #enter(phase: Phase): void {
    const { shutdownTimeoutMs } = this.#options;
    switch (phase) {
      case "idle":
      case "running":
        return;
      case "connecting":
        this.#start();
        return;
      case "draining":
        this.#tell("stop");
        this.#after(shutdownTimeoutMs + graceMs, () => this.#force(`the stop took longer than ${shutdownTimeoutMs} ms`));
        this.#changed();
        return;
      case "closing":
        this.#tell("stop");
        this.#endAllAfter(this.#closeMs());
        void this.#close();
        return;
      case "stopped":
        this.#cancelLook();
        this.#cancelDeadline();
        this.#stopped.open();
        return;
    }
  }

  #start(): void {
    try {
      for (let number = 1; number <= this.#options.workers; number++) {
        this.#threads.push(this.#startThread(number));
      }
    } catch (cause) {
      const failure = new ConsumerError("worker-failed", `a worker thread cannot be started: ${toError(cause).message}`, { cause });
      this.#dispatch({ type: "fail", error: failure });
    }
    this.#lookLater();
  }

  #startThread(number: number): WorkerThread {
    const { workers: count, module, crossing: options, levels, resourceLimits, logger, health } = this.#options;
    return new WorkerThread({
      setup: { module, number, count, options, levels, reportEveryMs: this.#lookEveryMs },
      resourceLimits,
      logger,
      stuckAfterMs: health.stuckAfterMs,
      closeMs: () => Math.min(this.#closeMs(), maxTimerMs),
      changed: () => this.#changed(),
      failed: (error) => this.#dispatch({ type: "fail", error }),
    });
  }

  #changed(): void {
    if (this.#threads.some(({ health }) => health?.phase === "running")) {
      this.#dispatch({ type: "connected" });
    }
    // The module of one has stopped its consumer. The others do not go on with a thread less.
    if (this.#threads.some(({ isStopped }) => isStopped)) {
      this.#dispatch({ type: "stop" });
    }
    if (this.#threads.every(({ isDrained }) => isDrained)) {
      this.#dispatch({ type: "drained" });
    }
  }

  #lookLater(): void {
    const intervalMs = this.#lookEveryMs;
    const dueMs = systemClock.nowMs() + intervalMs;
    this.#cancelLook = systemClock.after(intervalMs, () => {
      const passed = { intervalMs, lateMs: systemClock.nowMs() - dueMs };
      this.#threads.forEach((thread) => thread.look(passed));
      if (this.#state.phase !== "stopped") {
        this.#lookLater();
      }
    });
  }

  /** Stops waiting for what is in flight: each member as it does by itself, and a thread that does not answer by its end. */
  #force(why: string): void {
    this.#tell("force");
    if (this.#state.phase === "closing") {
      this.#endAllAfter(forcedCloseMs); // what was in flight is handled, or is an error already
      return;
    }
    const busy = this.#threads.filter(({ isDrained }) => !isDrained).map(({ name }) => name);
    const names = busy.length === 0 ? "" : ` (still at work: ${busy.join(", ")})`;
    this.#dispatch({
      type: "force",
      error: new ConsumerError("work-abandoned", `${why}${names}: what was not handled and committed by then comes again after a restart`, {
        cause: this.#abortReason,
      }),
    });
  }

  #closeMs(): number {
    const { shutdownTimeoutMs } = this.#options;
    return this.#state.error === null ? shutdownTimeoutMs : Math.min(forcedCloseMs, shutdownTimeoutMs);
  }

  async #close(): Promise<void> {
    await Promise.all(this.#threads.map(({ ended }) => ended));
    this.#dispatch({ type: "closed" });
  }

  /** Each thread closes its consumer within `closeMs`, and then what its module has opened. A thread that has stopped has its own deadline. */
  #endAllAfter(closeMs: number): void {
    this.#after(2 * closeMs + graceMs, () => this.#endAll());
  }

  #endAll(): void {
    this.#threads.forEach((thread) => thread.end());
  }

  #tell(message: "stop" | "force"): void {
    this.#threads.filter(({ isStopped }) => !isStopped).forEach((thread) => thread.tell(message));
  }

  #after(delayMs: number, call: () => void): void {
    this.#cancelDeadline();
    this.#cancelDeadline = systemClock.after(Math.min(delayMs, maxTimerMs), call);
  }
}
