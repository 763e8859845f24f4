import type { Clock } from "../clock.ts";
import type { PartitionAssignment } from "../driver.ts";
import type { Fence } from "../delivery/fence.ts";
import { publish } from "../observe/channels.ts";
import type { Counters } from "../observe/counters.ts";
import type { Logger } from "../observe/logger.ts";
import type { Waits, WorkInHand } from "../observe/waits.ts";
import { toError } from "../user-code/user-value.ts";
import { classify, classifyAtSink, type FailureKind } from "./classify.ts";
import type { DeadLetters } from "./dead-letters.ts";
import { type Failure, haltErrorOf } from "./failure.ts";
import type { ResolvedFailureOptions } from "./failure-options.ts";
import { coordinatesOf, placeText, type RecordPlace } from "./record-place.ts";
import { attemptsOf, decideAfter, type Tries } from "./retry-policy.ts";

export interface RecoveryParts {
  readonly groupId: string;
  readonly options: ResolvedFailureOptions;
  readonly clock: Clock;
  readonly random: () => number;
  readonly counters: Counters;
  readonly logger: Logger;
  readonly waits: Waits;
  /** Where the sink of that name writes to. */
  readonly hostOf: (sink: string) => string | undefined;
  /** Null if records are never set aside. */
  readonly deadLetters: DeadLetters | null;
}

/** What becomes of a failed record. */
type FailureDecision<Outcome> =
  | { readonly kind: "retry"; readonly delayMs: number }
  | { readonly kind: "isolate"; readonly isolate: () => Outcome }
  | { readonly kind: "set-aside" }
  | { readonly kind: "halt"; readonly error: Error };

/** Work on a record that failed, and the five ways in which it can continue. Exactly one of them is called. */
export interface FailedWork<Outcome> {
  readonly failure: Failure;
  readonly tries: Tries;
  readonly fence: Fence;
  /** Nothing of the partition starts any more: the record comes again, to the next owner of the partition. */
  readonly giveUp: () => Outcome;
  readonly retryAfter: (delayMs: number) => Outcome;
  /** Hands on each record alone, because only one of them may be to blame. Null if it was one record that failed. */
  readonly isolate: (() => Outcome) | null;
  /** No further attempt: a dead letter is to be written through {@link Recovery.setAside}, now or when it is the record's turn. */
  readonly setAside: () => Outcome;
  /** Halts the consumer with this error. */
  readonly halt: (error: Error) => Outcome;
}

/** Decides what becomes of failed work, and reports it. It keeps no record itself. */
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

  /** The offset of the earlier dead letter that the record must follow, or undefined. */
  parkedBehind(place: RecordPlace): bigint | undefined {
    return this.#parts.deadLetters?.parkedKeys.behind(place);
  }

  /**
   * Leads failed work on. The failed attempt is counted in `tries`. If another attempt follows, a wait is open until {@link recovered}.
   *
   * The fence is asked first. The work may have failed because its partition is gone. Then a dead letter would be wrong, because the next
   * owner may handle the record well; and so would a halt.
   */
  recover<Outcome>(work: FailedWork<Outcome>): Outcome {
    if (work.fence.isClosed) {
      return work.giveUp();
    }
    const decision = this.#decide(work);
    switch (decision.kind) {
      case "retry":
        return work.retryAfter(decision.delayMs);
      case "isolate":
        return decision.isolate();
      case "set-aside":
        return work.setAside();
      case "halt":
        return work.halt(decision.error);
    }
  }

  /** Never throws: the caller has a record in hand that nobody else would take. What goes wrong here halts the consumer. */
  #decide<Outcome>(work: FailedWork<Outcome>): FailureDecision<Outcome> {
    try {
      return this.#judge(work);
    } catch (error) {
      return { kind: "halt", error: toError(error) };
    }
  }

  #judge<Outcome>({ failure, tries, isolate }: FailedWork<Outcome>): FailureDecision<Outcome> {
    const { options, clock, random, counters, logger, waits } = this.#parts;
    if (failure.stage === "read") {
      return { kind: "halt", error: haltErrorOf(failure) };
    }
    const nowMs = clock.nowMs();
    const kindOf = failure.sink === null ? classify : classifyAtSink;
    // Bytes that do not decode, and a decoder that fails, are nothing that an application's errors say anything about.
    const isRetriable = failure.stage === "handle" ? options.isRetriable : undefined;
    const kind = kindOf(failure.error, isRetriable, coordinatesOf(failure.place));
    count(tries, kind, nowMs);
    const policyDecision = decideAfter(kind, tries, nowMs, options, random);
    if (policyDecision.kind !== "retry") {
      endWait(tries);
      if (policyDecision.kind === "poison" && isolate !== null) {
        return { kind: "isolate", isolate };
      }
      const isHalt = policyDecision.kind === "halt" || options.poison === "halt";
      return isHalt ? { kind: "halt", error: haltErrorOf(failure) } : { kind: "set-aside" };
    }
    counters.retries++;
    const at = coordinatesOf(failure.place);
    const { delayMs } = policyDecision;
    const attempts = attemptsOf(kind, options);
    const attempt = tries.failures + tries.outages;
    tries.wait ??= waits.open(this.workOn(failure.stage, failure.place, failure.sink), failure.place.assignment);
    // Outages use up none of the record's attempts, so they are not counted where attempts are limited.
    tries.wait.failed(failure.error, { attempt: attempts === null ? attempt : tries.failures, attempts, delayMs });
    logger.debug({ ...at, attempt, delayMs, kind, err: failure.error }, "a record failed and is retried");
    publish("retry", () => ({ groupId: this.#parts.groupId, at, attempt, delayMs }));
    return { kind: "retry", delayMs };
  }

  /** The record in the hands of a handler, a sink or the decoder, as health and logs name it. */
  workOn(stage: Failure["stage"], place: RecordPlace, sink: string | null): WorkInHand {
    const what = stage === "decode" ? "decoding" : sink === null ? "a handler" : `the sink ${JSON.stringify(sink)}`;
    const host = sink === null ? undefined : this.#parts.hostOf(sink);
    return { what, ...(host === undefined ? {} : { host }), place: placeText(coordinatesOf(place)) };
  }

  /** The record went well after it had failed. */
  recovered(tries: Tries): void {
    endWait(tries);
  }

  /** Another member has the partition, and the group has not taken it from this one yet: nothing of it moves until then. */
  awaitRevocation(assignment: PartitionAssignment): void {
    this.#parts.waits.open({ what: `the revocation of ${assignment.topic}[${assignment.partition}] by the group` }, assignment);
  }

  /** Nothing of the assignment is waited for any more. */
  endWaits(assignment: PartitionAssignment): void {
    this.#parts.waits.endOf(assignment);
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

function endWait(tries: Tries): void {
  tries.wait?.end();
  tries.wait = null;
}
