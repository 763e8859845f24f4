import type { CdcEvent } from "@cdckit/decode";
import type { OffsetCommit, OutgoingRecord } from "../driver.ts";
import type { Sink } from "../sink.ts";
import { outgoingRecords } from "../user-code/guarded-sink.ts";
import { toError } from "../user-code/user-value.ts";

/** The function that `pipe` takes: it makes records of events. */
export type PipeFunction<Event> = (events: readonly Event[]) => readonly OutgoingRecord[] | PromiseLike<readonly OutgoingRecord[]>;

/** The sink that is Kafka itself. Its checkpoint is the group's commit, which moves in the transaction that writes the records. */
export function pipeSink(
  makeRecords: PipeFunction<CdcEvent>,
  transact: (records: readonly OutgoingRecord[], offsets: readonly OffsetCommit[]) => Promise<void>,
): Sink {
  return {
    name: "pipe",
    claim: async () => [],
    apply: async ({ assignment, events, nextOffset }) => {
      const records = events.length === 0 ? [] : outgoingRecords(await makeRecords(events));
      await transact(records, [{ assignment, offset: nextOffset }]).catch(blameNoRecord);
    },
    close: async () => {},
  };
}

/** A transaction that fails does not say which record is to blame. It is retried or halts the consumer, and makes no dead letters. */
function blameNoRecord(error: unknown): never {
  const cause = toError(error);
  const { code } = cause as { readonly code?: unknown };
  if (code === "fenced" || code === "unavailable") {
    throw cause; // the cause says who is to blame
  }
  const text = "[transaction-failed] the records were not written, and their offsets not committed; the cause says why";
  throw Object.assign(new Error(text, { cause }), { code: "transaction-failed", retriable: true });
}
