import { setTimeout as delay } from "node:timers/promises";
import { causesOf, coordinatorNotFound, loginUnfinished } from "./explain-failure.ts";

export interface RestartParts {
  /** Starts kafkajs again. It has crashed, so that nothing of it runs. */
  readonly start: () => Promise<void>;
  readonly failed: (error: Error) => void;
  /** Aborted when the session is closed. */
  readonly over: AbortSignal;
}

/** As long as kafkajs waits before it starts again by itself. */
const pauseMs = 300;

/** Before the group was joined for the first time, what fails so often is taken for a mistake of the settings. */
const maxFirstRestarts = 10;

/**
 * Starts kafkajs again after a crash that it calls final, although what failed passes by itself: a connection that broke while it asked for
 * the group's coordinator, or one whose login was begun and not ended.
 */
export class Restart {
  readonly #parts: RestartParts;
  #hasJoined = false;
  #count = 0;

  constructor(parts: RestartParts) {
    this.#parts = parts;
  }

  joined(): void {
    this.#hasJoined = true;
    this.#count = 0;
  }

  /** Whether kafkajs is started again after a pause. If it is not, the error is final. */
  after(error: Error): boolean {
    const passes = causesOf(error).some(({ name, type }) => name === coordinatorNotFound || type === loginUnfinished);
    if (!passes || (!this.#hasJoined && this.#count >= maxFirstRestarts)) {
      return false;
    }
    this.#count++;
    void this.#startLater();
    return true;
  }

  async #startLater(): Promise<void> {
    const { start, failed, over } = this.#parts;
    try {
      await delay(pauseMs, undefined, { signal: over });
      await start();
    } catch (error) {
      if (!over.aborted) {
        failed(error as Error);
      }
    }
  }
}
