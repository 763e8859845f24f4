import { ConfluentDriverError } from "./errors.ts";
import { type ClientError, codes } from "./low-level-client.ts";

/** librdkafka's errors for a record batch whose checksum, compression or format it cannot read. */
const unreadable: ReadonlySet<number> = new Set([codes.badMessage, codes.badCompression, codes.notImplemented]);

/** After so many errors the damage did not happen on the way. */
const errorsUntilCertain = 3;
/** Errors that are older belong to another batch. librdkafka fetches again at least every second. */
const withinMs = 10_000;

/**
 * Counts the errors of batches that cannot be read. librdkafka fetches such a batch again and again, at the same offset and without an end, and
 * reads nothing of its partition meanwhile (seen with 2.15.1). Its error does not say which partition that is, and is lost if records of
 * other partitions come in the same call; the next one is not, as soon as these partitions are read to their ends.
 */
export class UnreadableBatches {
  #errorsAtMs: readonly number[] = [];

  /** Null if the error is of another kind, or if it may pass. If not, why the session cannot go on. */
  take(error: ClientError, nowMs: number): ConfluentDriverError | null {
    if (!unreadable.has(error.code)) {
      return null;
    }
    this.#errorsAtMs = [...this.#errorsAtMs.filter((atMs) => nowMs - atMs < withinMs), nowMs];
    return this.#errorsAtMs.length < errorsUntilCertain
      ? null
      : new ConfluentDriverError(
          "batch-unreadable",
          `a record batch cannot be read: ${error.message}. It was fetched ${errorsUntilCertain} times. librdkafka does not say which batch it is: ` +
            `the partition that does not advance has it, at the group's offset. ${adviceFor(error)}`,
          { cause: error },
        );
  }
}

function adviceFor({ code }: ClientError): string {
  return code === codes.notImplemented
    ? "This librdkafka was built without the compression of the batch: where it is compiled, zstd needs the headers of libzstd (Debian: libzstd-dev)"
    : "If it stays so, restore that partition from a replica";
}
