import type { CdcEvent } from "@cdckit/decode";
import type { OffsetCommit, OutgoingRecord } from "../driver.ts";
import type { Sink } from "../sink.ts";
import { outgoingRecords } from "../user-code/guarded-sink.ts";

/** What `pipe` was given: the records that the events become. */
export type PipeFunction<Event> = (events: readonly Event[]) => readonly OutgoingRecord[] | PromiseLike<readonly OutgoingRecord[]>;

/** The sink that is Kafka itself: its checkpoint is the group's commit, which moves in the transaction that writes the records. */
export function pipeSink(
  makeRecords: PipeFunction<CdcEvent>,
  transact: (records: readonly OutgoingRecord[], offsets: readonly OffsetCommit[]) => Promise<void>,
): Sink {
  return {
    name: "pipe",
    claim: async () => [],
    apply: async ({ assignment, events, nextOffset }) => {
      const records = events.length === 0 ? [] : outgoingRecords(await makeRecords(events));
      await transact(records, [{ assignment, offset: nextOffset }]);
    },
    close: async () => {},
  };
}
