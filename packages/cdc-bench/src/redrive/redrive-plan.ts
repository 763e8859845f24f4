import { deadLetterOf, type DeadLetterOrigin, type OutgoingRecord, redriveOf } from "@cdckit/consumer";
import type { KafkaRecord } from "@cdckit/decode";
import { asksOfFailure, matches, type RedriveFilter } from "./redrive-filter.ts";

/** How often a record has been redriven: it goes with the record, so that one that comes back every time is seen. */
export const redrivenHeader = "cdckit.redriven";

export type LeaveReason = "not-selected" | "not-a-dead-letter" | RefusalReason;

export type RefusalReason =
  /** It came back too often. */
  | "redriven-too-often"
  /** It would go to the topic that it is read from. */
  | "own-topic"
  /** Its topic is not there any more. */
  | "topic-missing"
  /** Its topic has fewer partitions by now. */
  | "partition-missing"
  /** An earlier dead letter of its key was refused: order is kept. */
  | "behind-a-refused-one";

/** What becomes of one record of a dead-letter topic. */
export type RedriveDecision =
  | { readonly kind: "send"; readonly record: OutgoingRecord; readonly origin: DeadLetterOrigin }
  | { readonly kind: "leave"; readonly reason: LeaveReason };

export interface RedrivePlanOptions {
  readonly filter: RedriveFilter;
  /** Where everything goes; null: where it came from. */
  readonly to: string | null;
  readonly maxRedrives: number;
  readonly deadLetterTopic: string;
  /** How many partitions a topic has; undefined if it is not there. */
  readonly partitionsOf: (topic: string) => number | undefined;
}

/** Decides for one record after the other. Asked in the order of each partition. */
export class RedrivePlan {
  readonly #options: RedrivePlanOptions;
  /** With a filter by code or time: the failed records that it selects, by where they came from. */
  readonly #selected = new Set<string>();
  /** Keys of which a dead letter was refused. */
  readonly #refused = new Set<string>();

  constructor(options: RedrivePlanOptions) {
    this.#options = options;
  }

  decide(dead: KafkaRecord): RedriveDecision {
    const origin = deadLetterOf(dead);
    const original = redriveOf(dead);
    if (origin === null || original === null) {
      return { kind: "leave", reason: "not-a-dead-letter" };
    }
    if (!this.#selects(dead, origin)) {
      return { kind: "leave", reason: "not-selected" };
    }
    const redriven = timesRedriven(dead) + 1;
    const reason = this.#refusal(dead, origin, redriven);
    if (reason !== null) {
      this.#refuse(dead, origin);
      return { kind: "leave", reason };
    }
    return { kind: "send", record: this.#outgoing(original, redriven), origin };
  }

  /** A parked record did not fail itself: it is selected together with the record that it was parked behind. */
  #selects(dead: KafkaRecord, origin: DeadLetterOrigin): boolean {
    const { filter } = this.#options;
    if (!asksOfFailure(filter)) {
      return matches(filter, dead, origin);
    }
    if (origin.parkedBehind !== null) {
      return this.#selected.has(placeText(origin, origin.parkedBehind));
    }
    const isSelected = matches(filter, dead, origin);
    if (isSelected && origin.offset !== null) {
      this.#selected.add(placeText(origin, origin.offset));
    }
    return isSelected;
  }

  #refusal(dead: KafkaRecord, origin: DeadLetterOrigin, redriven: number): RefusalReason | null {
    const { to, maxRedrives, deadLetterTopic, partitionsOf } = this.#options;
    const target = to ?? origin.topic;
    if (target === deadLetterTopic) {
      return "own-topic";
    }
    if (partitionsOf(target) === undefined) {
      return "topic-missing";
    }
    // Brokers take the records beside it that they can place, and every run would write those again.
    if (to === null && !this.#hasPartition(origin)) {
      return "partition-missing";
    }
    if (redriven > maxRedrives) {
      return "redriven-too-often";
    }
    return dead.key !== null && this.#refused.has(keyText(dead.key, origin)) ? "behind-a-refused-one" : null;
  }

  #hasPartition({ topic, partition = null }: { readonly topic: string; readonly partition?: number | null }): boolean {
    return partition === null || partition < (this.#options.partitionsOf(topic) ?? 0);
  }

  #refuse({ key }: KafkaRecord, origin: DeadLetterOrigin): void {
    if (key !== null) {
      this.#refused.add(keyText(key, origin));
    }
  }

  #outgoing(original: OutgoingRecord, redriven: number): OutgoingRecord {
    const { to } = this.#options;
    const others = original.headers.filter(([name]) => name !== redrivenHeader); // a dead letter that failed itself keeps that of its record
    const headers = [...others, [redrivenHeader, Buffer.from(String(redriven))] as const];
    if (to === null || (to === original.topic && this.#hasPartition(original))) {
      return { ...original, headers };
    }
    const { partition: _, ...anywhere } = original; // a topic may have other partitions: the key chooses
    return { ...anywhere, topic: to, headers };
  }
}

function timesRedriven({ headers }: KafkaRecord): number {
  const bytes = headers.findLast(([name]) => name === redrivenHeader)?.[1];
  const text = Buffer.from(bytes ?? []).toString();
  return /^\d{1,9}$/.test(text) ? Number(text) : 0;
}

function placeText({ topic, partition, groupId }: DeadLetterOrigin, offset: bigint): string {
  return `${groupId}/${topic}/${partition}/${offset}`;
}

/** One character a byte: different keys are different texts. */
function keyText(key: Uint8Array, { topic, partition }: DeadLetterOrigin): string {
  return `${topic}/${partition}/${Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString("latin1")}`;
}
