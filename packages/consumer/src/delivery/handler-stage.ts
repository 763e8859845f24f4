import type { Counters } from "../observe/counters.ts";
import { pendingOf } from "../user-code/user-value.ts";
import { BatchStage, type BatchStageParts } from "./batch-stage.ts";
import { eventsOf } from "./in-flight-record.ts";
import type { BatchHandler } from "./route-events.ts";

/** The stage of a batch handler: one call for each batch, and none for records without events for it. */
export function handlerStage(handle: BatchHandler, counters: Counters, parts: Omit<BatchStageParts, "apply" | "sink">): BatchStage {
  return new BatchStage({
    ...parts,
    sink: null,
    apply: (entries) => {
      const events = eventsOf(entries);
      const { length } = events; // a handler may take the events out of its array
      if (length === 0) {
        return undefined;
      }
      const handled = (): void => {
        counters.handled += length;
        parts.handles(entries.at(-1)?.record.offset ?? -1n);
      };
      const pending = pendingOf(handle(events));
      return pending === null ? handled() : pending.then(handled);
    },
  });
}
