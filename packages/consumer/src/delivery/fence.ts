import type { Clock } from "../clock.ts";
import { Latch } from "../latch.ts";
import type { Lease } from "./lease.ts";

/**
 * Whether work on a partition may still have effects. A fence that was closed stays closed, and every wait at it ends. While it is open,
 * the lease says whether anything may start at this moment.
 */
export class Fence {
  readonly lease: Lease;
  readonly #clock: Clock;
  readonly #closed = new Latch();

  constructor(clock: Clock, lease: Lease) {
    this.#clock = clock;
    this.lease = lease;
  }

  get isClosed(): boolean {
    return this.#closed.isOpen;
  }

  /**
   * Nothing may start before {@link leased}: the partition may belong to another member. Ask after every wait, because a wait may be long.
   */
  get mustWait(): boolean {
    return !this.isClosed && this.lease.isOver;
  }

  /** Resolves when the group has acknowledged this member, or when the fence is closed. */
  leased(): Promise<void> {
    return this.orClosed(this.lease.renewed());
  }

  close(): void {
    this.#closed.open();
  }

  /** Resolves after this delay, or when the fence is closed. */
  pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.isClosed) {
        resolve();
        return;
      }
      const end = (): void => {
        cancel();
        takeBack();
        resolve();
      };
      const cancel = this.#clock.after(delayMs, end);
      const takeBack = this.#closed.onOpen(end);
    });
  }

  /** Resolves when `work` does, or when the fence is closed. Rejects as `work` does. */
  orClosed(work: PromiseLike<unknown>): Promise<void> {
    return this.#closed.orOpened(work);
  }
}
