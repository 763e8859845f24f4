import type { Clock } from "../clock.ts";
import type { DriverSession, OffsetCommit } from "../driver.ts";
import { publish } from "../observe/channels.ts";
import type { Logger } from "../observe/logger.ts";
import type { OpenWait, Waits } from "../observe/waits.ts";
import { toError } from "../user-code/user-value.ts";
import { type Lease, leaseOverError } from "./lease.ts";
import type { PartitionLedgers } from "./partition-ledgers.ts";

export interface CommitterParts {
  readonly ledgers: PartitionLedgers;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly groupId: string;
  readonly waits: Waits;
  readonly lease: Lease;
  /** Brings the ledgers up to what is handled at this moment, even in the middle of a batch. */
  readonly checkpoint: () => void;
  /** Halts the consumer. */
  readonly fail: (error: Error) => void;
}

/**
 * Commits what is handled, at an interval and when asked to. Only one commit is under way at a time. Two at once could overtake each other:
 * offsets 5 and 9 are sent, the broker takes 9 first, and the group is back at 5.
 */
export class Committer {
  readonly #parts: CommitterParts;
  #session: DriverSession | undefined;
  #cancelTick: () => void = () => {};
  #inProgress: Promise<void> = Promise.resolve();
  #waiting = false;
  /** Open from the start of a commit until one succeeds, or until nothing is left to commit. */
  #wait: OpenWait | null = null;

  constructor(parts: CommitterParts) {
    this.#parts = parts;
  }

  start(session: DriverSession, intervalMs: number): void {
    this.#session = session;
    this.#tickEvery(intervalMs);
  }

  /** Ends the commits at an interval. {@link commit} still works. */
  stop(): void {
    this.#cancelTick();
  }

  /** Commits everything that is handled now. Never rejects: a failed commit is logged, and the next commit includes it. */
  commit(): Promise<void> {
    // What throws here is a mistake of our own. No commit would follow it, and nobody would hear of that.
    const next = this.#inProgress.then(() => this.#commitNow()).catch((error: unknown) => this.#parts.fail(toError(error)));
    this.#inProgress = next;
    return next;
  }

  /** Does work that commits these offsets itself, while no other commit is under way. Rejects as the work does. */
  commitWith(offsets: readonly OffsetCommit[], work: (session: DriverSession) => Promise<void>): Promise<void> {
    const done = this.#inProgress.then(async () => {
      if (this.#parts.lease.isOver) {
        throw leaseOverError();
      }
      if (this.#session === undefined) {
        throw new TypeError("expected a session of the driver, found none");
      }
      await work(this.#session);
      this.#parts.ledgers.markCommitted(offsets);
    });
    this.#inProgress = done.catch(ignore); // the caller gets the error
    return done;
  }

  #tickEvery(intervalMs: number): void {
    this.#cancelTick = this.#parts.clock.after(intervalMs, () => {
      this.#tickEvery(intervalMs);
      this.#tick();
    });
  }

  #tick(): void {
    if (this.#waiting) {
      return;
    }
    this.#waiting = true;
    void this.commit().then(() => {
      this.#waiting = false;
    });
  }

  async #commitNow(): Promise<void> {
    if (this.#parts.lease.isOver) {
      return; // the partitions may belong to another member; the next commit comes after the group has acknowledged this one
    }
    this.#parts.checkpoint();
    const offsets = this.#parts.ledgers.uncommitted();
    if (offsets.length === 0) {
      this.#endWait(); // what a failed commit held may belong to another member by now: no later commit would end the wait
    }
    if (offsets.length === 0 || this.#session === undefined) {
      return;
    }
    const { clock, groupId, waits, logger } = this.#parts;
    const startedMs = clock.nowMs();
    const wait = (this.#wait ??= waits.open({ what: `a commit of the group ${groupId}` }));
    let failure: Error | null = null;
    try {
      await this.#session.commit(offsets);
      this.#parts.ledgers.markCommitted(offsets);
      this.#endWait();
    } catch (error) {
      failure = toError(error);
      wait.failed(failure);
      logger.debug({ err: failure, partitions: offsets.length }, "offsets could not be committed; the next commit includes them");
    }
    publish("commit", () => ({ groupId, offsets, durationMs: clock.nowMs() - startedMs, error: failure }));
  }

  #endWait(): void {
    this.#wait?.end();
    this.#wait = null;
  }
}

function ignore(): void {}
