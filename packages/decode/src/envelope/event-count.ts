import { DecodeError } from "../errors.ts";
import type { ResolvedLimits } from "../options.ts";
import type { Origin } from "./origin.ts";

/** The cost of an event without its values, in nanoseconds or so, including garbage collection. */
const eventCost = 1_500;
/** A shorter record may hold as many events as a record of this length. */
const minBytes = 1_048_576;
/** This number of events is always allowed, because it costs less than the budget of any record. */
const fewEvents = 1_000;

/**
 * Refuses a record that holds more events than its length allows (`limits.maxCostPerByte`), before they are made. Envelopes that pack many
 * events into one record call it.
 */
export function checkEventCount(count: number, { valueBytes, scope }: Origin): void {
  if (count > fewEvents) {
    checkEventCost(count, valueBytes?.length ?? 0, scope.limits);
  }
}

/** Does the same for events whose bytes may have been compressed in the record. `byteLength` is their unpacked length. */
export function checkEventCost(count: number, byteLength: number, { maxCostPerByte }: ResolvedLimits): void {
  if (count * eventCost > maxCostPerByte * Math.max(byteLength, minBytes)) {
    throw new DecodeError(
      "limit-exceeded",
      `expected a record whose events cost at most ${maxCostPerByte} ns for each of its bytes, found ${count} events in ${byteLength} bytes; ` +
        "raise limits.maxCostPerByte if you trust the producer of this record",
    );
  }
}
