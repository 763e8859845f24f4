import type { DriverError, MakeDriverError } from "./errors.ts";
import type { Place } from "./place.ts";

/** Why nothing comes of a partition for so long: its broker holds the client to its quota (KIP-219), which no error code says. */
export function quotaError(makeError: MakeDriverError, { topic, partition }: Place, throttleMs: number): DriverError<string> {
  const what = `the quota of the client is used up: its broker sends nothing of ${topic}[${partition}], and is asked again after ${throttleMs} ms`;
  const advice =
    "A batch larger than what the quota lets pass in ten seconds never comes: raise consumer_byte_rate, or let producers write smaller batches";
  return makeError("partition-unavailable", `${what}. ${advice}`);
}
