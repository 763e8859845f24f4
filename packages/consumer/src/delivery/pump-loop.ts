import type { PartitionLife } from "./partition-life.ts";
import type { Turns } from "./turns.ts";

/**
 * Repeats a step until it has nothing more to do. A step may call a handler, and the handler may end the partition or cause another call
 * of the loop: the loop is never entered twice. It pauses when timers and sockets need the event loop, and when the group has to acknowledge this member first.
 */
export class PumpLoop {
  readonly #life: PartitionLife;
  readonly #turns: Turns;
  /** Does one thing. False if there was nothing to do. */
  readonly #advance: () => boolean;
  /** Enters the loop again after a pause. */
  readonly #again: () => void;
  #state: "idle" | "running" | "paused" = "idle";

  constructor(life: PartitionLife, turns: Turns, advance: () => boolean, again: () => void) {
    this.#life = life;
    this.#turns = turns;
    this.#advance = advance;
    this.#again = again;
  }

  get isPaused(): boolean {
    return this.#state === "paused";
  }

  /** Repeats the step. False if the loop is running already, or pauses: then it continues by itself. Throws what a step throws. */
  run(): boolean {
    if (this.#state !== "idle") {
      return false;
    }
    const { fence } = this.#life;
    if (fence.mustWait) {
      this.#pause(fence.leased());
      return false;
    }
    let pause: Promise<void> | null = null;
    this.#state = "running";
    try {
      while (!this.#life.isFenced && pause === null) {
        pause = this.#turns.restWhereDue(fence);
        if (pause === null && !this.#advance()) {
          break;
        }
      }
    } finally {
      this.#state = "idle";
    }
    if (pause !== null) {
      this.#pause(pause);
    }
    return true;
  }

  #pause(until: Promise<void>): void {
    this.#state = "paused";
    void until.then(() => {
      this.#state = "idle";
      this.#again();
    });
  }
}
