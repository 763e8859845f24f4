import type { CdcEvent } from "@cdckit/decode";
import type { Counters } from "../observe/counters.ts";
import type { EventHandler } from "../routing/handlers.ts";
import { pendingOf } from "../user-code/user-value.ts";
import { BatchStage, type BatchStageParts } from "./batch-stage.ts";
import { type BatchEntry, eventsOf } from "./in-flight-record.ts";

export interface HandlerStageParts extends Omit<BatchStageParts, "apply" | "sink"> {
  /** The handler is about to be called with these entries. */
  readonly starts: (entries: readonly BatchEntry[]) => void;
}

/** The stage of a batch handler: one call for each batch, and none for records without events for it. */
export function handlerStage(handle: EventHandler<readonly CdcEvent[]>, counters: Counters, parts: HandlerStageParts): BatchStage {
  return new BatchStage({
    ...parts,
    sink: null,
    apply: (entries) => {
      const events = eventsOf(entries);
      if (events.length === 0) {
        return undefined;
      }
      parts.starts(entries);
      const pending = pendingOf(handle(events));
      counters.handled += events.length;
      return pending?.then(nothing, (error: unknown) => {
        counters.handled -= events.length;
        throw error;
      });
    },
  });
}

function nothing(): void {}
