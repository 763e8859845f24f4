import type { OutgoingRecord } from "@cdckit/consumer";
import { DriverError, type MakeDriverError } from "./errors.ts";
import { neededToWrite, type RefusedResource } from "./missing-right.ts";
import { topicsOf, topicsText } from "./place.ts";

/** What {@link WriteFailures} needs of a driver: how its client's errors are read. */
export interface WriteFailureParts {
  /** Makes the driver's own error. */
  readonly makeError: MakeDriverError;
  /** What an error of the client says. */
  readonly reasonOf: (error: unknown) => string;
  /** What the brokers refuse the user, if that is the failure; null if it is another one. */
  readonly refusedIn: (error: unknown) => RefusedResource | null;
  /** Whether no broker was there to answer: the same records may be written once one is. */
  readonly isUnreachable: (error: unknown) => boolean;
  /** Whether another member writes for the partition now. */
  readonly isFenced: (error: unknown) => boolean;
}

/** Why records could not be written, as errors of the driver's own class. They name the topics, and the right that is missing. */
export class WriteFailures {
  readonly #parts: WriteFailureParts;

  constructor(parts: WriteFailureParts) {
    this.#parts = parts;
  }

  /** The brokers have not answered in time. */
  lateSend(deadlineMs: number): DriverError<string> {
    const { makeError } = this.#parts;
    const cause = makeError("brokers-unreachable", `no answer within ${deadlineMs} ms`);
    return makeError("send-failed", `no answer within ${deadlineMs} ms; it is not known whether the records were written`, { cause });
  }

  /** The brokers have not answered in time. */
  lateTransaction(records: readonly OutgoingRecord[], deadlineMs: number): DriverError<string> {
    const { makeError } = this.#parts;
    const cause = makeError("brokers-unreachable", `no answer within ${deadlineMs} ms`);
    const detail = `the transaction that writes to ${topicsText(records)} was not answered within ${deadlineMs} ms; it is not known whether it was carried out`;
    return makeError("transaction-failed", detail, { cause });
  }

  /** The commit of a transaction has failed in a manner that leaves its outcome open. */
  doubtfulCommit(error: unknown): DriverError<string> {
    const { makeError, reasonOf } = this.#parts;
    const detail = `the commit failed, and it is not known whether it was carried out: ${reasonOf(error)}`;
    return makeError("transaction-failed", detail, { cause: this.#causeOf(error) });
  }

  /** A missing right or `send-failed`, whatever the error is. If no broker was there to answer, its cause is `brokers-unreachable`. */
  ofSend(error: unknown, records: readonly OutgoingRecord[]): DriverError<string> {
    const { makeError, reasonOf } = this.#parts;
    const isOwn = error instanceof DriverError;
    if (isOwn && error.code === "not-authorized") {
      return error; // it names the topic and the right
    }
    const reason = isOwn ? error.message.replace(/^\[[a-z-]+\] /, "") : reasonOf(error);
    const detail = `writing to ${topicsText(records)} failed: ${reason}`;
    return this.#refused(error, detail, records, null) ?? makeError("send-failed", detail, { cause: this.#causeOf(error) });
  }

  /**
   * An error of the driver as it is; otherwise `fenced`, a missing right or `transaction-failed`. If no broker was there to answer, its cause is
   * `brokers-unreachable`.
   */
  ofTransaction(error: unknown, records: readonly OutgoingRecord[], groupId: string): DriverError<string> {
    if (error instanceof DriverError) {
      return error;
    }
    const { makeError, reasonOf, isFenced } = this.#parts;
    const topics = topicsText(records);
    if (isFenced(error)) {
      return makeError("fenced", `another member writes for this partition now; nothing was written to ${topics}`, { cause: error });
    }
    const detail = `the transaction that writes to ${topics} failed and was aborted: ${reasonOf(error)}`;
    return this.#refused(error, detail, records, groupId) ?? makeError("transaction-failed", detail, { cause: this.#causeOf(error) });
  }

  /** The same write may succeed when a broker is there again: whoever retries it sees that by the cause. */
  #causeOf(error: unknown): unknown {
    const { makeError, reasonOf, isUnreachable } = this.#parts;
    const isAway = !(error instanceof DriverError) && isUnreachable(error);
    return isAway ? makeError("brokers-unreachable", reasonOf(error), { cause: error }) : error;
  }

  #refused(error: unknown, detail: string, records: readonly OutgoingRecord[], groupId: string | null): DriverError<string> | null {
    const { makeError, refusedIn } = this.#parts;
    const refused = refusedIn(error);
    if (refused === null) {
      return null;
    }
    const needed = neededToWrite(refused, topicsOf(records), groupId);
    return makeError("not-authorized", `${detail.replace(/\.*\s*$/, "")}. ${needed}`, { cause: error });
  }
}
