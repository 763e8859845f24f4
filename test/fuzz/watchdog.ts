import { Worker } from "node:worker_threads";

/** A message may take a second on a busy machine, but not this long. */
const maxMs = 20_000;

/** Looks from another thread whether messages still come to an end, and ends the process with the number of the one that does not. */
export class Watchdog {
  readonly #message: Int32Array;
  readonly #worker: Worker;

  /** `repeat` is the command that leads to the message, less its number. */
  constructor(repeat: string) {
    this.#message = new Int32Array(new SharedArrayBuffer(4));
    this.#worker = new Worker(new URL(import.meta.url.endsWith(".ts") ? "watching.ts" : "watching.js", import.meta.url), {
      workerData: { message: this.#message, repeat, maxMs },
    });
    this.#worker.unref();
  }

  saw(message: number): void {
    this.#message[0] = message;
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }
}
