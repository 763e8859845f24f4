import { settledWithin } from "./deadline.ts";
import type { DriverSession, DriverSink, Subscription } from "./driver.ts";
import { writtenTopics } from "./failure/written-topics.ts";
import type { Waits } from "./observe/waits.ts";
import type { ResolvedConsumerOptions } from "./options.ts";
import { refuseWhatItCannot } from "./session-needs.ts";
import { doubtedUnit, startPositionAt } from "./start-position.ts";
import { connectPatiently } from "./startup.ts";

export interface JoinParts {
  /** Gets what the driver hands over. */
  readonly sink: DriverSink;
  readonly startAt: Subscription["startAt"];
  /** Resolves when nobody waits for the connection any more. */
  readonly over: Promise<void>;
  readonly isOver: () => boolean;
  readonly joined: (session: DriverSession) => void;
  readonly failed: (error: unknown) => void;
}

/** Joins the group through the driver, and leaves it again. */
export class GroupConnection {
  readonly #options: ResolvedConsumerOptions;
  readonly #waits: Waits;
  readonly #overdue: Promise<void>;
  readonly #abort: AbortController = new AbortController();
  #needsTransactions = false;
  #session: DriverSession | undefined;
  #joining: Promise<void> = Promise.resolve();
  #isJoining = false;
  #isGivenUp = false;

  /** `overdue` resolves when the closing has taken longer than anybody wants to wait. */
  constructor(options: ResolvedConsumerOptions, waits: Waits, overdue: Promise<void>) {
    this.#options = options;
    this.#waits = waits;
    this.#overdue = overdue;
  }

  /** Undefined before the group was joined. */
  get session(): DriverSession | undefined {
    return this.#session;
  }

  /** Aborted when nothing is waited for any more. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Nobody waits for the join. A client whose connections are ended in the middle of it may report that as a failure. */
  get isGivenUp(): boolean {
    return this.#isGivenUp;
  }

  /** From here on the start refuses a driver without transactions. */
  requireTransactions(): void {
    this.#needsTransactions = true;
  }

  join(parts: JoinParts): void {
    this.#joining = this.#join(parts);
  }

  /** Gives a join up that is under way. Resolves with false if the driver has not answered in time: then {@link abandon}. */
  stopJoining(closeMs: number): Promise<boolean> {
    this.#isGivenUp = this.#isJoining;
    this.#abort.abort();
    return settledWithin(this.#joining, closeMs, this.#options.clock, this.#overdue);
  }

  /** Nobody waits for the join any more. A session that still comes about must not stay in the group. */
  abandon(closeMs: number): void {
    const { logger, driver } = this.#options;
    void this.#joining.then(() => this.#session?.close(closeMs));
    logger.warn({ driver: driver.name }, "the driver was still connecting when the consumer stopped");
  }

  /** Resolves with false if the driver did not close in time. */
  leave(closeMs: number): Promise<boolean> {
    return settledWithin(this.#session?.close(closeMs) ?? Promise.resolve(), closeMs, this.#options.clock, this.#overdue);
  }

  async #join({ sink, startAt, over, isOver, joined, failed }: JoinParts): Promise<void> {
    const { driver, groupId, topics, logger, failure, clock } = this.#options;
    const { signal } = this.#abort;
    const doubt = doubtedUnit(this.#options.from);
    if (doubt !== null) {
      logger.warn({ groupId }, doubt);
    }
    const subscription: Subscription = {
      groupId,
      topics,
      from: startPositionAt(this.#options.from, clock.wallMs()),
      isFromGiven: this.#options.isFromGiven,
      logger,
      signal,
      lostRange: failure.lostRange,
      writesTo: writtenTopics(failure),
      ...(startAt === undefined ? {} : { startAt }),
    };
    this.#isJoining = true;
    const waiting = this.#waits.open({ what: `the ${driver.name} driver, which joins the group ${groupId},` });
    try {
      const connect = (): Promise<DriverSession> => driver.connect(subscription, sink);
      const session = await connectPatiently({ ...this.#options, connect, waiting, over });
      this.#session = session ?? undefined;
      if (session === null || isOver()) {
        return; // nobody waits for the session any more: the consumer's stop closes it, and no timer may start
      }
      refuseWhatItCannot(session, this.#options, this.#needsTransactions);
      joined(session);
    } catch (error) {
      // A driver that gives up because nobody waits for it does what it was asked to do.
      if (!signal.aborted) {
        failed(error);
      }
    } finally {
      this.#isJoining = false;
      waiting.end();
    }
  }
}
