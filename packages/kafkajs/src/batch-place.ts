import type { Batch } from "kafkajs";
import type { Held } from "./assignments.ts";

/** The batch has the offset of its fetch, but kafkajs' types leave it out. */
type BatchWithFetchedOffset = Batch & { readonly fetchedOffset?: string };

/** Whether there is a gap between the end of the last batch and this one. */
export function isLeap({ expected }: Held, first: bigint | null): boolean {
  return first !== null && expected !== null && first > expected;
}

/** Whether the batch was fetched at the end of the last one. */
export function isNext({ fetchedOffset }: BatchWithFetchedOffset, { expected }: Held): boolean {
  return expected === null || fetchedOffset === undefined || BigInt(fetchedOffset) === expected;
}
