import { DecodeError } from "../errors.ts";
import type { ResolvedLimits } from "../options.ts";
import type { Origin } from "./origin.ts";

/** What an event costs beside its values, in nanoseconds or so, its garbage counted in. */
const eventCost = 1_500;
/** A short record may hold as many events as one of this length. */
const minBytes = 1_048_576;
/** So few events cost less than any record may. */
const fewEvents = 1_000;

/**
 * Refuses a record of more events than its length allows (`limits.maxCostPerByte`), before they are made: for envelopes that pack many
 * into one record.
 */
export function checkEventCount(count: number, { valueBytes, scope }: Origin): void {
  if (count > fewEvents) {
    checkEventCost(count, valueBytes?.length ?? 0, scope.limits);
  }
}

/** The same for events of so many bytes, which a record may have held packed. */
export function checkEventCost(count: number, byteLength: number, { maxCostPerByte }: ResolvedLimits): void {
  if (count * eventCost > maxCostPerByte * Math.max(byteLength, minBytes)) {
    throw new DecodeError(
      "limit-exceeded",
      `expected a record whose events cost at most ${maxCostPerByte} ns for each of its bytes, found ${count} events in ${byteLength} bytes; ` +
        "raise limits.maxCostPerByte if this record may",
    );
  }
}
