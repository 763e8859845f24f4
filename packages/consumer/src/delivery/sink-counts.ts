import type { CdcEvent } from "@cdckit/decode";
import type { Counters } from "../observe/counters.ts";
import type { SinkShares } from "./sink-stage.ts";

const tableKinds: readonly CdcEvent["kind"][] = ["change", "row", "truncate", "tombstone"];

/**
 * Counts the events of a record, and counts those that no sink takes as filtered. Returns how many of them some sink takes. Used if there
 * are no handlers: then only sinks decide what is taken.
 */
export function countTaken(events: readonly CdcEvent[], shares: SinkShares, counters: Counters): number {
  counters.events += events.length;
  if (shares.some(({ length }) => length === events.length)) {
    return events.length;
  }
  let taken = 0;
  // Each share has its events in the record's order.
  const nexts = shares.map(() => 0);
  for (const event of events) {
    let isTaken = false;
    for (const [i, share] of shares.entries()) {
      const next = nexts[i] ?? 0;
      if (share[next] === event) {
        nexts[i] = next + 1;
        isTaken = true;
      }
    }
    if (isTaken) {
      taken++;
    } else {
      counters.filter(event, tableKinds.includes(event.kind) ? "table-without-handler" : "control-event-without-handler");
    }
  }
  return taken;
}
