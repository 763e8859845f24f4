import { Worker } from "node:worker_threads";
import { programFile } from "../../package-root.ts";
import { type SoakWindow, SoakSeries } from "./soak-window.ts";
import type { FromSoakWorker, SoakWorkerData, ToSoakWorker } from "./worker-messages.ts";

/** The consumer of one format, in its thread. */
export interface SoakThread {
  readonly windows: readonly SoakWindow[];
  /** The last window that came. */
  readonly latest: SoakWindow | null;
  /** Events since the start, at a set rate and until figures count. */
  readonly handled: number;
  /** What the consumer waits for; null if it does not. */
  readonly waiting: string | null;
  /** Resolves when it has handled its first event. */
  readonly started: Promise<void>;
  /** Rejects with what it failed with. */
  readonly ended: Promise<Extract<FromSoakWorker, { readonly kind: "ended" }>>;
  /** What comes from now on counts. */
  begin(): void;
  stop(): void;
}

export function startSoakThread(data: SoakWorkerData, onWaiting: (text: string | null) => void): SoakThread {
  return new Thread(new Worker(programFile("soak-worker"), { workerData: data }), onWaiting);
}

class Thread implements SoakThread {
  readonly #worker: Worker;
  readonly #series = new SoakSeries();
  readonly started: Promise<void>;
  readonly ended: SoakThread["ended"];
  #start: () => void = () => {};
  #elapsedMs = 0;
  latest: SoakWindow | null = null;
  handled = 0;
  waiting: string | null = null;

  constructor(worker: Worker, onWaiting: (text: string | null) => void) {
    this.#worker = worker;
    this.started = new Promise((resolve) => {
      this.#start = resolve;
    });
    this.ended = new Promise((resolve, reject) => {
      worker.on("message", (message: FromSoakWorker) => {
        if (message.kind === "started") {
          this.#start();
        } else if (message.kind === "handled") {
          this.handled = message.events;
        } else if (message.kind === "window") {
          this.#add(message.window);
        } else if (message.kind === "waiting") {
          this.waiting = message.text;
          onWaiting(message.text);
        } else if (message.kind === "ended") {
          resolve(message);
        }
      });
      worker.once("error", reject);
      worker.once("exit", (code) => reject(new Error(`the thread of a consumer ended with ${code}`)));
    });
    this.ended.catch(() => {}); // whoever waits for it is told
  }

  get windows(): readonly SoakWindow[] {
    return this.#series.windows;
  }

  begin(): void {
    this.#tell("begin");
  }

  stop(): void {
    this.#tell("stop");
  }

  #tell(message: ToSoakWorker): void {
    this.#worker.postMessage(message);
  }

  #add(window: Omit<SoakWindow, "fromMs">): void {
    this.latest = { fromMs: this.#elapsedMs, ...window };
    this.#elapsedMs += window.lengthMs;
    this.#series.add(this.latest);
  }
}
