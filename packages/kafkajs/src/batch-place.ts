import type { Batch } from "kafkajs";
import type { Held } from "./assignments.ts";

/** The batch knows the offset that was asked for; kafkajs' types do not say so. */
type BatchWithFetchedOffset = Batch & { readonly fetchedOffset?: string };

/** Whether something lies between where the last batch ended and this one. */
export function isLeap({ expected }: Held, first: bigint | null): boolean {
  return first !== null && expected !== null && first > expected;
}

/** Whether the batch was fetched where the last one ended. */
export function isNext({ fetchedOffset }: BatchWithFetchedOffset, { expected }: Held): boolean {
  return expected === null || fetchedOffset === undefined || BigInt(fetchedOffset) === expected;
}
