import type { Subscription } from "@cdckit/consumer";
import { placeText } from "./partition-waits.ts";
import { placeOf } from "./place.ts";
import type { Start } from "./starts.ts";

/**
 * Logs which partitions go on at the group's commit, if the user gave `from`: whoever has changed it to read records again sees nothing come,
 * and no error. Each partition is named once, however often the group is joined.
 */
export class CommitNotice {
  readonly #subscription: Pick<Subscription, "from" | "isFromGiven" | "startAt" | "logger">;
  readonly #named = new Set<string>();

  constructor(subscription: Pick<Subscription, "from" | "isFromGiven" | "startAt" | "logger">) {
    this.#subscription = subscription;
  }

  /** Partitions start. Those without a commit start as `from` says, and there is nothing to say. */
  started(starts: readonly Start[]): void {
    const { from, isFromGiven = true, startAt, logger } = this.#subscription;
    if (!isFromGiven || startAt !== undefined) {
      return;
    }
    const partitions: string[] = [];
    for (const { assignment, committed } of starts) {
      const place = placeOf(assignment.topic, assignment.partition);
      if (committed !== null && !this.#named.has(place)) {
        this.#named.add(place);
        partitions.push(placeText([assignment]));
      }
    }
    if (partitions.length > 0) {
      logger.info(
        { partitions, from: typeof from === "string" ? from : Object.keys(from)[0] },
        "the group has committed these partitions, so they go on there and the option from has no effect; to read again, take a new groupId or seek()",
      );
    }
  }
}
