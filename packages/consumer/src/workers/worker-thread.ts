import { Worker } from "node:worker_threads";
import { systemClock } from "../clock.ts";
import { ConsumerError } from "../errors.ts";
import type { Health } from "../observe/health.ts";
import type { Logger } from "../observe/logger.ts";
import { toError } from "../user-code/user-value.ts";
import { toCarriedError } from "./carried-error.ts";
import type { FromWorker, ToWorker, WorkerSetup } from "./messages.ts";
import { type PassedInterval, Silence } from "./silence.ts";
import type { WorkerResourceLimits } from "./workers-options.ts";

export interface WorkerThreadParts {
  readonly setup: WorkerSetup;
  readonly resourceLimits: WorkerResourceLimits;
  readonly logger: Logger;
  /** `health.stuckAfterMs`. */
  readonly stuckAfterMs: number;
  /** How long its module may take to close what it has opened, from when its consumer has stopped. */
  readonly closeMs: () => number;
  /** Its health is another one, or it has stopped. */
  readonly changed: () => void;
  /** It cannot go on. Called once at most. */
  readonly failed: (error: Error) => void;
}

/** How long a thread may live on when its module is closed. What keeps it alive then has been forgotten: nobody waits for a timer of an hour. */
const leftOpenMs = 1_000;

const leaveOut = "its program lies beside @cdckit/consumer: leave that package out of the bundle (esbuild: --external:@cdckit/consumer)";

/** The compiled program lies beside the compiled module. Asked when a thread starts: a bundle to CommonJS has no address of its own. */
function programUrl(): URL {
  const url: string | undefined = import.meta.url; // in so many words: what compiles modules to CommonJS, as Jest does, replaces just these
  if (url === undefined) {
    throw new Error(leaveOut);
  }
  return new URL("./worker-program.js", url);
}

/** One thread, and the member of the group on it, as the thread that has started it sees them. */
export class WorkerThread {
  readonly #parts: WorkerThreadParts;
  readonly #worker: Worker;
  readonly #silence: Silence;
  /** Resolves when the thread is gone. */
  readonly ended: Promise<void>;
  #health: Health | null = null;
  /** `run()` has settled on the thread, or the thread is gone. */
  #isStopped = false;
  /** The functions of `onStopped` have ended. */
  #isModuleClosed = false;
  #isEnded = false;
  #hasFailed = false;
  #cancelEnd: () => void = () => {};

  constructor(parts: WorkerThreadParts) {
    this.#parts = parts;
    this.#silence = new Silence(parts.stuckAfterMs);
    this.#worker = new Worker(programUrl(), { workerData: parts.setup, resourceLimits: parts.resourceLimits, name: this.name });
    this.#worker.on("message", (message: FromWorker | string | number | null | undefined) => {
      if (typeof message === "object" && message !== null) {
        this.#received(message);
      } // else the module has posted it, which has the same port
    });
    this.#worker.on("messageerror", (error) => this.#fail("sent what cannot be read", error));
    this.#worker.on("error", (error) => this.#fail(whereOf(error), error));
    this.ended = new Promise((resolve) => {
      this.#worker.once("exit", (code) => {
        this.#ended(code);
        resolve();
      });
    });
  }

  get name(): string {
    return `worker ${this.#parts.setup.number}`;
  }

  /** After its deadline: what of it is still there, in words. */
  get #whyItLives(): string {
    if (this.#isLoading) {
      return "it was still loading its module";
    }
    if (this.#isModuleClosed) {
      return "its module keeps something open: close it in onStopped";
    }
    return this.#isStopped
      ? "a function of its module's onStopped has not ended"
      : "its consumer did not stop in time: a handler may block its event loop, or the machine gives the thread too little CPU time";
  }

  /** Its module has made no consumer yet, and may have logged. From the first report on, reports come from time to time. */
  get #isLoading(): boolean {
    return this.#health === null && !this.#isStopped;
  }

  get health(): Health | null {
    return this.#health;
  }

  /** Why its health is old, or not there yet, or why the thread outlives its consumer; null if none of this is so. */
  get notice(): string | null {
    if (!this.#isStopped) {
      return this.#silence.reasonIn(this.#health?.phase ?? null);
    }
    return this.#isModuleClosed || this.#isEnded ? null : "it waits for a function of its module's onStopped";
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Nothing more is being handled: what is left is the last commit, the leave, and the end of the thread. */
  get isDrained(): boolean {
    return this.#isStopped || this.#health?.phase === "closing" || this.#health?.phase === "stopped";
  }

  tell(message: ToWorker): void {
    this.#worker.postMessage(message);
  }

  /**
   * Notes that one more interval has passed, and ends the thread if it has said nothing for too long. A thread that loads its module has all the
   * time that it takes: the module may wait for a database.
   */
  look(passed: PassedInterval): void {
    if (this.#isStopped) {
      return;
    }
    this.#silence.passed(passed);
    if (this.#health !== null && this.#silence.isTooLong(this.#health.phase)) {
      this.#fail(this.#silence.textOf(this.#health.phase));
      this.terminate();
    }
  }

  /** Ends the thread if it is still there, and logs why it had to. */
  end(): void {
    if (!this.#isEnded) {
      const { logger, setup } = this.#parts;
      logger.warn({ worker: setup.number }, `${this.name} was ended, because ${this.#whyItLives}`);
      this.terminate();
    }
  }

  /** Ends the thread at once, whatever it does. A thread that was still loading its module had nothing to lose. */
  terminate(): void {
    this.#isStopped ||= this.#isLoading;
    void this.#worker.terminate();
  }

  #received(message: FromWorker): void {
    this.#silence.heard();
    const { logger, setup, changed } = this.#parts;
    switch (message.kind) {
      case "health":
        this.#health = message.health;
        changed();
        return;
      case "log":
        logger[message.level]({ worker: setup.number, ...message.fields }, message.message);
        return;
      case "stopped":
        this.#health = message.health ?? this.#health;
        this.#isStopped = true;
        if (message.error !== null) {
          this.#failWith(toCarriedError(message.error));
        }
        this.#endAfter(this.#parts.closeMs()); // its module has this time for itself, however early its consumer has stopped
        changed();
        return;
      case "module-closed":
        this.#isModuleClosed = true;
        this.#endAfter(leftOpenMs);
        return;
    }
  }

  #endAfter(delayMs: number): void {
    this.#cancelEnd();
    this.#cancelEnd = systemClock.after(delayMs, () => this.end());
  }

  #ended(exitCode: number): void {
    if (!this.#isStopped) {
      this.#fail(`ended with exit code ${exitCode} before its consumer had stopped`);
    }
    this.#cancelEnd();
    this.#isStopped = true;
    this.#isEnded = true;
    this.#health = this.#health === null ? null : { ...this.#health, phase: "stopped", live: false, ready: false, assigned: [] };
    this.#parts.changed();
  }

  #fail(what: string, cause?: unknown): void {
    const why = cause === undefined ? "" : `: ${toError(cause).message}`;
    this.#failWith(
      new ConsumerError("worker-failed", `${this.name} of ${this.#parts.setup.count} ${what}${why}`, {
        ...(cause === undefined ? {} : { cause }),
      }),
    );
  }

  /** The first failure counts: the end of the thread follows from it. */
  #failWith(error: Error): void {
    if (!this.#hasFailed) {
      this.#hasFailed = true;
      this.#parts.failed(error);
    }
  }
}

/** Of an error that no consumer has reported. A bundler that does not know of the program leaves it out. */
function whereOf(error: unknown): string {
  return toError(error).message.includes("worker-program.js") ? `cannot be started: ${leaveOut}` : "failed outside of its consumer";
}
