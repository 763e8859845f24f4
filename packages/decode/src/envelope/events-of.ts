import type { CdcEvent } from "../event.ts";

/**
 * The list of a record's events. No literal, because V8 might make all later lists in the old generation, and each would keep its events there:
 * see `Shapes` in `../encoding/codegen.ts`. V8 does not count the lists of rest parameters, which take as long as literals.
 */
export function eventsOf(...events: readonly CdcEvent[]): readonly CdcEvent[] {
  return events;
}
