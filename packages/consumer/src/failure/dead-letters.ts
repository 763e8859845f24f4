import type { Clock } from "../clock.ts";
import type { OutgoingRecord, PartitionAssignment } from "../driver.ts";
import type { Fence } from "../delivery/fence.ts";
import { ConsumerError } from "../errors.ts";
import { publish } from "../observe/channels.ts";
import type { Counters } from "../observe/counters.ts";
import type { Logger } from "../observe/logger.ts";
import type { OpenWait, Waits } from "../observe/waits.ts";
import { PoisonBreaker } from "./breaker.ts";
import { classifyAtSink } from "./classify.ts";
import { deadLetterRecord, type SetAsideReason } from "./dead-letter-record.ts";
import { deadLetterErrorOf, haltErrorOf } from "./failure.ts";
import type { ResolvedFailureOptions } from "./failure-options.ts";
import { DeadLetterWriter } from "./dead-letter-writer.ts";
import { ParkedKeys } from "./parked-keys.ts";
import { codeOf } from "../user-code/user-value.ts";
import { coordinatesOf, placeText, type RecordPlace } from "./record-place.ts";
import { backOffMs } from "./retry-policy.ts";

export interface DeadLetterParts {
  readonly topic: string;
  readonly groupId: string;
  readonly options: ResolvedFailureOptions;
  readonly clock: Clock;
  readonly random: () => number;
  readonly counters: Counters;
  readonly logger: Logger;
  readonly waits: Waits;
  /** Resolves when every replica has the records. */
  readonly send: (records: readonly OutgoingRecord[]) => Promise<void>;
}

/** Writes the records that are set aside, and refuses when there are too many of them. */
export class DeadLetters {
  readonly parkedKeys: ParkedKeys;
  readonly #breaker: PoisonBreaker;
  readonly #parts: DeadLetterParts;
  readonly #writer: DeadLetterWriter;

  constructor(parts: DeadLetterParts) {
    this.#parts = parts;
    this.#writer = new DeadLetterWriter(parts.send);
    this.parkedKeys = new ParkedKeys(parts.options.maxParkedKeys);
    this.#breaker = new PoisonBreaker(parts.options.breaker);
  }

  /** The partitions are not held any more. */
  release(assignments: readonly PartitionAssignment[]): void {
    this.#writer.release(assignments);
    this.parkedKeys.release(assignments);
  }

  /**
   * Resolves with true when the dead letter is acknowledged, and with false if the record was not ours any more before: the fence was closed before
   * the letter was sent, or its partition was given up. Rejects with the error that halts the consumer.
   */
  async setAside(place: RecordPlace, reason: SetAsideReason, fence: Fence): Promise<boolean> {
    const { options, counters, logger, topic, groupId, clock, waits } = this.#parts;
    const at = coordinatesOf(place);
    if (reason.kind === "failed") {
      this.#refuseTooMany(place, reason);
    }
    const record = deadLetterRecord(place, reason, { topic, groupId, nowMs: clock.wallMs() });
    const wait = waits.open({ what: `the dead-letter topic ${topic}`, place: placeText(at) }, place.assignment);
    if (!(await this.#send(record, place, fence, wait).finally(() => wait.end()))) {
      return false;
    }
    // If the partition went while the letter was sent, its keys are forgotten already, and nobody would forget this one.
    if (options.poison === "park-key" && !fence.isClosed) {
      this.parkedKeys.park(place);
    }
    counters.deadLettered++;
    logger.warn({ ...at, deadLetterTopic: topic, reason: reason.kind, ...whyOf(reason) }, "a record became a dead letter");
    publish("dead-letter", () => ({ groupId, at, why: reason.kind }));
    return true;
  }

  #refuseTooMany(place: RecordPlace, { failure }: Extract<SetAsideReason, { kind: "failed" }>): void {
    const { options } = this.#parts;
    const at = coordinatesOf(place);
    const tooMany = this.#breaker.setAside(place.ordinal);
    if (tooMany !== null) {
      throw new ConsumerError(
        "failures-systemic",
        `${tooMany}: that looks like a systemic failure, and not like one of single records; the cause is the last failure, at ${placeText(at)}`,
        { cause: haltErrorOf(failure), at },
      );
    }
    if (options.poison === "park-key" && this.parkedKeys.wouldPassLimit(place)) {
      throw new ConsumerError(
        "failures-systemic",
        `${this.parkedKeys.count} keys are parked, and failure.maxParkedKeys allows no more; the cause is the record at ${placeText(at)}`,
        { cause: haltErrorOf(failure), at },
      );
    }
  }

  async #send(record: OutgoingRecord, place: RecordPlace, fence: Fence, wait: OpenWait): Promise<boolean> {
    const { options, random, topic } = this.#parts;
    let isAlone = false;
    for (let failures = 0, outages = 0; !fence.isClosed; ) {
      if (fence.mustWait) {
        await fence.leased();
        continue;
      }
      const outcome = await this.#writer.write(record, place.assignment, fence, isAlone);
      if (outcome === "written") {
        return true;
      }
      if (outcome === "fenced") {
        continue;
      }
      wait.failed(outcome.error);
      isAlone = true; // another letter may be to blame
      if (!outcome.wasAlone) {
        continue;
      }
      const isOutage = classifyAtSink(outcome.error) === "outage"; // a broker that starts again takes longer than a few attempts
      const count = isOutage ? ++outages : ++failures;
      if (!isOutage && count >= options.retry.attempts) {
        throw new ConsumerError(
          "dead-letter-failed",
          `the record at ${placeText(coordinatesOf(place))} could not be written to ${topic} in ${failures} attempts; it was not committed`,
          { cause: outcome.error, at: coordinatesOf(place) },
        );
      }
      await fence.pause(backOffMs(options.retry, count, random));
    }
    return false;
  }
}

/** Why a record is set aside, as fields of its log line: `code` is that of the letter, and what was thrown is the cause of `err`. */
function whyOf(reason: SetAsideReason): Readonly<Record<string, unknown>> {
  if (reason.kind === "parked") {
    return { parkedBehind: reason.behind };
  }
  const { failure, attempts } = reason;
  const err = deadLetterErrorOf(failure);
  return { stage: failure.stage, ...(failure.sink === null ? {} : { sink: failure.sink }), code: codeOf(err), attempts, err };
}
