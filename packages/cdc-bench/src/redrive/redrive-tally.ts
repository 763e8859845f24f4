import type { KafkaRecord } from "@cdckit/decode";
import type { LeaveReason, RedriveDecision, RefusalReason } from "./redrive-plan.ts";

/** A dead letter that was refused, by its place in the dead-letter topic. */
export interface Refusal {
  readonly partition: number;
  readonly offset: bigint;
  readonly reason: RefusalReason;
}

/** More are counted, and not named. */
const maxNamedRefusals = 100;

/** What became of the dead letters. Counted when it is certain: what was sent, when it is acknowledged. */
export class RedriveTally {
  readonly redrivenByTopic: Map<string, number> = new Map();
  readonly refusals: Refusal[] = [];
  redriven = 0;
  refused = 0;
  notSelected = 0;
  notDeadLetters = 0;
  /** Offsets that retention took before they were redriven. */
  gone = 0;
  /** Offsets in front of the end of which nothing came, so few that they may be transaction markers. */
  unseen = 0;

  get records(): number {
    return this.redriven + this.refused + this.notSelected + this.notDeadLetters;
  }

  count(decision: RedriveDecision, { partition, offset }: KafkaRecord): void {
    if (decision.kind === "send") {
      this.redriven++;
      this.redrivenByTopic.set(decision.record.topic, (this.redrivenByTopic.get(decision.record.topic) ?? 0) + 1);
    } else if (isRefusal(decision.reason)) {
      this.refused++;
      if (this.refusals.length < maxNamedRefusals) {
        this.refusals.push({ partition, offset, reason: decision.reason });
      }
    } else if (decision.reason === "not-selected") {
      this.notSelected++;
    } else {
      this.notDeadLetters++;
    }
  }
}

function isRefusal(reason: LeaveReason): reason is RefusalReason {
  return reason !== "not-selected" && reason !== "not-a-dead-letter";
}
