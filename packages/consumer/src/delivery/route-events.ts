import type { CdcEvent } from "@cdckit/decode";
import type { Counters } from "../observe/counters.ts";
import type { EventHandler } from "../routing/handlers.ts";
import { ConsumerError } from "../errors.ts";
import { placeText } from "../failure/record-place.ts";
import { slotOf } from "../routing/match-watch.ts";
import type { FilterReason, Router } from "../routing/router.ts";
import { tablePath } from "../routing/table-pattern.ts";
import type { HandlerCall } from "./record-lanes.ts";

export type BatchHandler = EventHandler<readonly CdcEvent[]>;

/** Where the events of one record go. */
export interface RoutedEvents {
  /** To handlers of one event, in order. */
  readonly calls: readonly HandlerCall[];
  /** To handlers of batches. */
  readonly batches: ReadonlyMap<BatchHandler, CdcEvent[]>;
}

/** Most records have no event for one, and a map is the largest of what is made for a record. */
const noBatches: RoutedEvents["batches"] = new Map();

/** Throws if `strict` is set, and no handler and no sink takes one of the events. */
export function refuseUnhandled(
  { strict, router }: { readonly strict: boolean; readonly router: Router },
  events: readonly CdcEvent[],
  shares: readonly (readonly CdcEvent[])[],
): void {
  if (!strict) {
    return;
  }
  const taken = new Set(shares.flat());
  for (const event of events) {
    const target = router.targetOf(event);
    if (typeof target === "string" && !taken.has(event)) {
      throw unhandledEvent(event, target);
    }
  }
}

export function unhandledEvent(event: CdcEvent, reason: FilterReason): ConsumerError {
  const { topic, partition, offset } = event.record;
  const at = { topic, partition, offset };
  const slot = slotOf(event) ?? event.kind;
  const table = "table" in event && typeof event.table === "object" && event.table !== null ? ` of ${tablePath(event.table)}` : "";
  return new ConsumerError(
    "unhandled-event",
    `expected a handler or a sink for every event, because strict is set, found none for the ${slot}${table} at ${placeText(at)} (${reason}); add one, or leave strict out; the record was not committed`,
    { at },
  );
}

/**
 * Sorts the events of a record by where they go, and counts those that go nowhere. If an event cannot be asked (a part that is read late
 * may not decode), it goes to a handler that throws the same error. So this counts as a failure of the record, like any other.
 */
export function routeEvents(events: readonly CdcEvent[], router: Router, counters: Counters): RoutedEvents {
  const calls: HandlerCall[] = [];
  let batches: Map<BatchHandler, CdcEvent[]> | null = null;
  for (const event of events) {
    let target: ReturnType<Router["targetOf"]>;
    try {
      target = router.targetOf(event);
    } catch (error) {
      const rethrow = (): never => {
        throw error;
      };
      return { calls: [{ handle: rethrow, event }], batches: noBatches };
    }
    counters.events++;
    if (typeof target === "string") {
      counters.filter(event, target);
    } else if (target.kind === "each") {
      calls.push({ handle: target.handle, event });
    } else {
      batches ??= new Map<BatchHandler, CdcEvent[]>();
      const others = batches.get(target.handle);
      if (others === undefined) {
        batches.set(target.handle, [event]);
      } else {
        others.push(event);
      }
    }
  }
  return { calls, batches: batches ?? noBatches };
}
