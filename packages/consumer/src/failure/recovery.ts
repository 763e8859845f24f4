import type { Clock } from "../clock.ts";
import type { Fence } from "../delivery/fence.ts";
import { publish } from "../observe/channels.ts";
import type { Counters } from "../observe/counters.ts";
import type { Logger } from "../observe/logger.ts";
import { classify, classifyAtSink, type FailureKind } from "./classify.ts";
import type { DeadLetters } from "./dead-letters.ts";
import { coordinatesOf, type Failure, haltErrorOf, type RecordPlace } from "./failure.ts";
import type { ResolvedFailureOptions } from "./failure-options.ts";
import { place as placeText } from "./halt.ts";
import { courseAfter, type Tries } from "./retry-policy.ts";

export interface RecoveryParts {
  readonly groupId: string;
  readonly options: ResolvedFailureOptions;
  readonly clock: Clock;
  readonly random: () => number;
  readonly counters: Counters;
  readonly logger: Logger;
  /** Null where a record is never set aside. */
  readonly deadLetters: DeadLetters | null;
}

/** What becomes of a failed record; where it is tried again, `why` says what it waits for. */
export type Remedy =
  | { readonly kind: "again"; readonly delayMs: number; readonly why: string }
  | { readonly kind: "set-aside" }
  | { readonly kind: "halt"; readonly error: Error };

/** Decides about failures, and carries out what is not the caller's own: it keeps no record of its own. */
export class Recovery {
  readonly #parts: RecoveryParts;

  constructor(parts: RecoveryParts) {
    this.#parts = parts;
  }

  /** Some key of some partition is parked. Asked for every record. */
  get hasParkedKeys(): boolean {
    const { deadLetters } = this.#parts;
    return deadLetters !== null && deadLetters.parkedKeys.count > 0;
  }

  /** The offset behind which the record is parked, or undefined. */
  parkedBehind(place: RecordPlace): bigint | undefined {
    return this.#parts.deadLetters?.parkedKeys.behind(place);
  }

  /** What becomes of the record; counts the failed attempt in `tries`. */
  judge(failure: Failure, tries: Tries): Remedy {
    const { options, clock, random, counters, logger } = this.#parts;
    if (failure.stage === "read") {
      return { kind: "halt", error: haltErrorOf(failure) };
    }
    const nowMs = clock.nowMs();
    const kind = failure.sink === null ? classify(failure.error, options.isRetriable) : classifyAtSink(failure.error, options.isRetriable);
    count(tries, kind, nowMs);
    const course = courseAfter(kind, tries, nowMs, options, random);
    if (course.kind === "halt") {
      return { kind: "halt", error: haltErrorOf(failure) };
    }
    if (course.kind === "set-aside") {
      return course;
    }
    counters.retries++;
    const at = coordinatesOf(failure.place);
    const cause = haltErrorOf(failure).message;
    const attempt = tries.failures + tries.outages;
    const why = `${placeText(at)} failed ${attempt} times and is ${kind === "outage" ? "waited for" : "tried again"}: ${cause}`;
    logger.warn({ ...at, attempt, delayMs: course.delayMs, kind, err: failure.error }, "a record failed and is tried again");
    publish("retry", () => ({ groupId: this.#parts.groupId, at, attempt, delayMs: course.delayMs }));
    return { kind: "again", delayMs: course.delayMs, why };
  }

  /** The record went well after it had failed. */
  recovered(): void {
    this.#parts.deadLetters?.breaker.handled();
  }

  /** As {@link DeadLetters.setAside}, for a record that failed. */
  async setAside(failure: Failure, tries: Tries, fence: Fence): Promise<boolean> {
    const { deadLetters } = this.#parts;
    if (deadLetters === null) {
      throw haltErrorOf(failure);
    }
    return deadLetters.setAside(failure.place, { kind: "failed", failure, attempts: tries.failures }, fence);
  }

  /** As {@link DeadLetters.setAside}, for a record whose key is parked. */
  async park(place: RecordPlace, behind: bigint, fence: Fence): Promise<boolean> {
    const { deadLetters } = this.#parts;
    return deadLetters !== null && deadLetters.setAside(place, { kind: "parked", behind }, fence);
  }
}

/** An outage uses up none of the record's attempts. */
function count(tries: Tries, kind: FailureKind, nowMs: number): void {
  if (kind === "outage") {
    tries.outages++;
    return;
  }
  tries.firstFailedMs = tries.failures === 0 ? nowMs : tries.firstFailedMs;
  tries.failures++;
}
