import { type BrokerQuestions, lostRangeError, TopicCheck, type TopicCheckParts } from "@cdckit/driver";
import type { Held, HeldPartitions } from "./assignments.ts";
import { makeError } from "./errors.ts";
import { recreatedOf } from "./recreated-topic.ts";

export interface TopicRecheckParts extends TopicCheckParts<Held> {
  readonly brokers: BrokerQuestions;
  readonly groupId: string;
  readonly assignments: HeldPartitions;
  /** Called if a topic was recreated on brokers without topic ids. */
  readonly failed: (error: Error) => void;
}

/** Checks the topics as all drivers do, and the topic of a partition again after a fetch has thrown: kafkajs keeps its positions then. */
export class TopicRecheck extends TopicCheck<Held> {
  readonly #parts: TopicRecheckParts;

  constructor(parts: TopicRecheckParts) {
    super(parts);
    this.#parts = parts;
  }

  /**
   * Whether the topic is still the one that the partition was read from. If not, the assignment is over, or the session has failed. False also
   * if a fetch has thrown and the brokers did not answer the check after it. The batch is dropped then, and kafkajs fetches it again.
   */
  async isSame(held: Held): Promise<boolean> {
    if (held.failedFetches !== held.checkedFetches) {
      return await this.#isSameAfterFailure(held);
    }
    // If the brokers do not answer, the batch is handed over nevertheless: nothing suggests another topic.
    await this.look();
    return !held.isOver;
  }

  async #isSameAfterFailure(held: Held): Promise<boolean> {
    const { brokers, groupId, failed } = this.#parts;
    const { topic, topicId } = held.assignment;
    const { failedFetches } = held;
    const ids = await this.lookAgain();
    // An answer without the topic says nothing: the broker may not know the new topic yet.
    if (held.isOver || ids === null || (topicId !== null && !ids.has(topic))) {
      return false;
    }
    const lost = topicId === null ? await recreatedOf(brokers, held).catch(() => undefined) : null;
    if (held.isOver || lost === undefined) {
      return false;
    }
    if (lost !== null) {
      failed(lostRangeError(makeError, lost, groupId));
      return false;
    }
    held.checkedFetches = failedFetches;
    return true;
  }
}
