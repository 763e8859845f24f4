import type { Subscription } from "@cdckit/consumer";
import { RepeatedLines } from "@cdckit/driver";

const deleted = "topics were deleted";
const otherProducer = "another producer writes for a partition";

/** Why kafkajs has to join again before its next fetch: partitions that are held must be given up. */
export class DueJoin {
  readonly #subscription: Pick<Subscription, "groupId" | "logger">;
  /** Another program with the same transactional ids is fenced off by each join, and fences off this member with its next transaction. */
  readonly #fences: RepeatedLines = new RepeatedLines();
  #why: string | null = null;

  constructor(subscription: Pick<Subscription, "groupId" | "logger">) {
    this.#subscription = subscription;
  }

  /** kafkajs joins without them. */
  topicsDeleted(): void {
    this.#why = deleted;
  }

  /** The transactional id of a partition is another producer's, of a former owner: the group knows whose it is. */
  fenced(): void {
    this.#why ??= otherProducer;
    const { groupId, logger } = this.#subscription;
    const leftOut = this.#fences.leftOutBefore(otherProducer);
    if (leftOut !== null) {
      const fields = { groupId, ...(leftOut === 0 ? {} : { leftOut }) };
      logger.warn(fields, `${otherProducer} that this member holds, or its transaction was too old: the member joins its group again`);
    }
  }

  /** The group was joined. A partition that was fenced while it was given up is over. */
  joined(): void {
    this.#why = this.#why === otherProducer ? null : this.#why;
  }

  /** The reason, once; null if kafkajs need not join. */
  take(): string | null {
    const why = this.#why;
    this.#why = null;
    return why;
  }
}
